/**
 * The model servers that are known, and how each gives its models a larger window or parses their tool calls. What
 * knows them loads this module where it needs it, never at start.
 */
import type { Backend } from "./backend.ts";
import { docker } from "./docker.ts";
import { freeToken } from "./freetoken.ts";
import { liteLlm, newApi, oneApi, portkey } from "./gateways.ts";
import { jan } from "./jan.ts";
import { koboldCpp } from "./kobold_cpp.ts";
import { lemonade } from "./lemonade.ts";
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

/** The backend of this id; undefined for null and for an unknown or former one. */
export function backendOf(id: string | null): Backend | undefined {
  return BACKENDS.find((backend) => backend.id === id);
}

/** Tokens: what agent work needs at least. */
const WIDE = 65_536;

/** The advice. `configured` is the window that providers.yaml claims and the server does not have; null for none. */
export function windowAdvice(server: string | null, given: { model: string; configured: number | null }): string {
  const advice = backendOf(server)?.widen?.(given.model, WIDE) ??
    "give the model a larger context window on the server";
  return given.configured === null
    ? advice
    : `${advice}; context_window: ${given.configured} in providers.yaml is more than the server gives`;
}

/** Ways in which a prompt cache is lost: reasoning is not sent back, others take it, or it is too small. */
export type CacheLoss = "reasoning" | "evicted" | "rewound";

/** Returns how to make a server keep its prompt cache, as an imperative; null for unknown. */
export function cacheAdvice(server: string | null, loss: CacheLoss): string | null {
  if (loss === "reasoning") return "set reasoning: keep for the model in providers.yaml";
  return backendOf(server)?.keepCache?.[loss] ?? null;
}

/** vLLM's names of its parsers by model, the most specific first. Source: the wire reference, §11. */
const PARSERS: readonly (readonly [RegExp, string])[] = [
  [/qwen3[-_.]?coder/i, "qwen3_coder"],
  [/qwen|qwq|hermes/i, "hermes"],
  [/llama-?[34]/i, "llama3_json"],
  [/mi[sx]tral|devstral|magistral|codestral/i, "mistral"],
  [/deepseek-?v3/i, "deepseek_v3"],
  [/glm-?(?:4\.[5-9]|[5-9])/i, "glm45"],
  [/kimi-?k2/i, "kimi_k2"],
  [/minimax-?m[2-9]/i, "minimax_m2"],
  [/gpt-?oss/i, "openai"],
  [/granite/i, "granite"],
];

/** The parser for a model id or path, by its last part; undefined when none is known. */
export function toolParserOf(model: string): string | undefined {
  const name = model.split(/[/\\]/).filter((part) => part !== "").at(-1) ?? "";
  return PARSERS.find(([pattern]) => pattern.test(name))?.[1];
}

/** Returns how to make a server parse the tool calls of a model, as an imperative; null for unknown. */
export function toolParserAdvice(server: string | null, model: string): string | null {
  return backendOf(server)?.readCalls?.(toolParserOf(model)) ?? null;
}
