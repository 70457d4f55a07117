/** The model servers that are known. What knows them loads this module where it needs it, never at start. */
import type { Backend } from "./backend.ts";
import { docker } from "./docker.ts";
import { freeToken } from "./freetoken.ts";
import { newApi, oneApi, portkey } from "./gateways.ts";
import { jan } from "./jan.ts";
import { koboldCpp } from "./kobold_cpp.ts";
import { lemonade } from "./lemonade.ts";
import { liteLlm } from "./lite_llm.ts";
import { llamaCpp } from "./llama_cpp.ts";
import { llamaSwap, llamaSwapWithPeers } from "./llama_swap.ts";
import { lmStudio } from "./lm_studio.ts";
import { localAi } from "./local_ai.ts";
import { miniSglang } from "./mini_sglang.ts";
import { mlxLm } from "./mlx_lm.ts";
import { ollama } from "./ollama.ts";
import { sglang } from "./sglang.ts";
import { tabbyApi } from "./tabby_api.ts";
import { textGenerationWebui } from "./text_generation_webui.ts";
import { transformers } from "./transformers.ts";
import { unsloth } from "./unsloth.ts";
import { vllm } from "./vllm.ts";

/**
 * In the order in which they are looked for. Gateways stand first: what they pass on from a server behind them must not
 * name them. What proves least stands last.
 */
export const BACKENDS: readonly Backend[] = [
  liteLlm,
  portkey,
  oneApi,
  newApi,
  llamaSwapWithPeers,
  llamaSwap,
  llamaCpp,
  ollama,
  lmStudio,
  vllm,
  miniSglang,
  freeToken,
  sglang,
  tabbyApi,
  koboldCpp,
  unsloth,
  textGenerationWebui,
  mlxLm,
  transformers,
  docker,
  lemonade,
  jan,
  localAi,
];

/** The backend of this id; undefined for null and for one that is not known (any more). */
export function backendOf(id: string | null): Backend | undefined {
  return BACKENDS.find((backend) => backend.id === id);
}
