/** The table of families whose calls are recovered from text. A new one is a file in families/ and a line here. */
import type { Family } from "./family.ts";
import { DEEPSEEK } from "./families/deepseek.ts";
import { GEMMA } from "./families/gemma.ts";
import { GLM } from "./families/glm.ts";
import { HARMONY } from "./families/harmony.ts";
import { HERMES } from "./families/hermes.ts";
import { KIMI } from "./families/kimi.ts";
import { LFM } from "./families/lfm.ts";
import { LLAMA } from "./families/llama.ts";
import { LM_STUDIO } from "./families/lm_studio.ts";
import { MINIMAX } from "./families/minimax.ts";
import { MISTRAL } from "./families/mistral.ts";
import { QWEN_CODER } from "./families/qwen_coder.ts";

/** In the order they are tried where two share an opener. */
export const FAMILIES: readonly Family[] = [
  HERMES,
  QWEN_CODER,
  GLM,
  LLAMA,
  MISTRAL,
  DEEPSEEK,
  HARMONY,
  KIMI,
  MINIMAX,
  GEMMA,
  LFM,
  LM_STUDIO,
];
