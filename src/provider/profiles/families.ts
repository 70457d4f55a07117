/**
 * The settings of model families: how they are sampled for code, whether what they reasoned is sent back, and how their
 * templates call both. Every row has a source; families without one get nothing.
 */

/**
 * How a model is sampled; what is absent is left to the server. A presence penalty is never set: edits repeat the file.
 */
export interface Sampling {
  temperature: number;
  topP?: number;
  /** 0: off. */
  topK?: number;
  /** 0: off. */
  minP?: number;
  repeat?: number;
}

export interface Family {
  /** For people. */
  name: string;
  /** Of the last part of a model's id, lower case. */
  matches: RegExp;
  sampling?: Sampling;
  /** Send what was reasoned back with the history; absent: no. */
  keepsReasoning?: true;
  /** Template variables with which reasoning of all turns is shown. */
  keepSwitch?: Record<string, unknown>;
  /** Request fields with which it answers at once; absent: it does not reason, or cannot be told to stop. */
  noThinking?: Record<string, unknown>;
  source: string;
}

const SWITCH = { chat_template_kwargs: { enable_thinking: false } };
const OTHER_SWITCH = { chat_template_kwargs: { thinking: false } };
const LOW_EFFORT = { reasoning_effort: "low" };
const QWEN_CODING = { temperature: 0.6, topP: 0.95, topK: 20, minP: 0 };

/** The most particular first. */
const FAMILIES: readonly Family[] = [
  {
    name: "gpt-oss",
    matches: /gpt-?oss/,
    sampling: { temperature: 1, topP: 1, topK: 0, minP: 0 },
    keepsReasoning: true,
    noThinking: LOW_EFFORT,
    source: "README of openai/gpt-oss; OpenAI cookbook, how to handle the raw chain of thought",
  },
  {
    name: "Qwen3-Coder-Next",
    matches: /qwen3-?coder-?next/,
    sampling: { temperature: 1, topP: 0.95, topK: 40 },
    source: "card of Qwen/Qwen3-Coder-Next",
  },
  {
    name: "Qwen3-Coder",
    matches: /qwen3-?coder/,
    sampling: { temperature: 0.7, topP: 0.8, topK: 20, repeat: 1.05 },
    source: "card of Qwen/Qwen3-Coder-30B-A3B-Instruct",
  },
  {
    name: "Qwen3.8",
    matches: /qwen-?3\.8/,
    sampling: { temperature: 1, topP: 0.95, topK: 20, minP: 0 },
    keepsReasoning: true,
    keepSwitch: { preserve_thinking: true },
    noThinking: SWITCH,
    source: "card of Qwen/Qwen3.8-27B",
  },
  {
    name: "Qwen3.6",
    matches: /qwen-?3\.[67]/,
    sampling: QWEN_CODING,
    keepsReasoning: true,
    keepSwitch: { preserve_thinking: true },
    noThinking: SWITCH,
    source: "cards of Qwen/Qwen3.6-27B and Qwen3.6-35B-A3B: precise coding, thinking preservation",
  },
  {
    name: "Qwen3.5",
    matches: /qwen-?3\.5/,
    sampling: QWEN_CODING,
    keepsReasoning: true,
    noThinking: SWITCH,
    source: "card of Qwen/Qwen3.5-35B-A3B: precise coding",
  },
  {
    name: "Qwen3 instruct",
    matches: /qwen3(?!.*(?:-vl|-omni)).*instruct/,
    sampling: { temperature: 0.7, topP: 0.8, topK: 20, minP: 0 },
    source: "cards of Qwen/Qwen3-30B-A3B-Instruct-2507 and Qwen3-Next-80B-A3B-Instruct",
  },
  {
    name: "Qwen3",
    matches: /qwen3(?![.\d])(?!.*(?:-vl|-omni|-embedding|-reranker|guard))/,
    sampling: QWEN_CODING,
    noThinking: SWITCH,
    source: "card of Qwen/Qwen3-8B: thinking mode",
  },
  {
    name: "Gemma",
    matches: /gemma-?[34](?!\d)/,
    sampling: { temperature: 1, topP: 0.95, topK: 64 },
    source: "cards of google/gemma-3-27b-it and gemma-4-26B-A4B-it",
  },
  {
    name: "Devstral Small, Mistral Small 3.2",
    matches: /devstral-?small|mistral-?small-?3\.2/,
    sampling: { temperature: 0.15 },
    source: "cards of mistralai/Devstral-Small-2-24B-Instruct-2512 and Mistral-Small-3.2-24B-Instruct-2506",
  },
  {
    name: "Ministral 3 reasoning 8B",
    matches: /ministral-?3.*8b.*reasoning/,
    sampling: { temperature: 0.7 },
    source: "card of mistralai/Ministral-3-8B-Reasoning-2512",
  },
  {
    name: "Ministral 3 reasoning 14B",
    matches: /ministral-?3.*14b.*reasoning/,
    sampling: { temperature: 1 },
    source: "card of mistralai/Ministral-3-14B-Reasoning-2512",
  },
  {
    name: "Ministral 3 instruct",
    matches: /ministral-?3.*(?:8b|14b).*instruct/,
    sampling: { temperature: 0.05 },
    source: "cards of mistralai/Ministral-3-8B-Instruct-2512 and 14B: below 0.1",
  },
  {
    name: "DeepSeek-R1",
    matches: /deepseek-?r1|qwq/,
    source: "README of deepseek-ai/DeepSeek-R1: reasoning is no part of the history",
  },
  {
    name: "DeepSeek-V4-Flash",
    matches: /deepseek-?v4-?flash/,
    sampling: { temperature: 1, topP: 0.95 },
    keepsReasoning: true,
    noThinking: OTHER_SWITCH,
    source: "card of deepseek-ai/DeepSeek-V4-Flash; api-docs.deepseek.com/guides/thinking_mode",
  },
  {
    name: "DeepSeek",
    matches: /deepseek-?v(?:3\.[2-9]|[4-9])/,
    keepsReasoning: true,
    noThinking: OTHER_SWITCH,
    source: "api-docs.deepseek.com/guides/thinking_mode",
  },
  {
    name: "GLM-4.7",
    matches: /glm-?4\.7/,
    sampling: { temperature: 0.7, topP: 1 },
    keepsReasoning: true,
    keepSwitch: { clear_thinking: false },
    noThinking: SWITCH,
    source: "card of zai-org/GLM-4.7-Flash: Terminal Bench and SWE-bench; docs.z.ai/guides/capabilities/thinking-mode",
  },
  {
    name: "GLM",
    matches: /glm-?(?:4\.[56]|5)/,
    keepsReasoning: true,
    keepSwitch: { clear_thinking: false },
    noThinking: SWITCH,
    source: "docs.z.ai/guides/capabilities/thinking-mode: reasoning is returned with tool results since GLM-4.5",
  },
  {
    name: "Kimi K2 Thinking",
    matches: /kimi-?k2(?:-?thinking|\.[5-9])/,
    sampling: { temperature: 1 },
    keepsReasoning: true,
    noThinking: OTHER_SWITCH,
    source: "platform.kimi.ai/docs/api/models-overview",
  },
  {
    name: "Kimi K2",
    matches: /kimi-?k2/,
    sampling: { temperature: 0.6 },
    source: "README of MoonshotAI/Kimi-K2",
  },
  {
    name: "MiniMax-M2",
    matches: /minimax-?m[2-9]/,
    sampling: { temperature: 1, topP: 0.95 },
    keepsReasoning: true,
    source: "README of MiniMax-AI/MiniMax-M2: what is in <think> stays in the history",
  },
  {
    name: "Nemotron 3 Nano",
    matches: /nemotron-?3-?nano/,
    sampling: { temperature: 0.6, topP: 0.95 },
    keepsReasoning: true,
    noThinking: SWITCH,
    source: "card of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B: tool calling",
  },
  {
    name: "Nemotron 3 Super",
    matches: /nemotron-?3-?super/,
    sampling: { temperature: 1, topP: 0.95 },
    keepsReasoning: true,
    noThinking: SWITCH,
    source: "card of nvidia/NVIDIA-Nemotron-3-Super-120B-A12B",
  },
  {
    name: "Granite 4.0-H",
    matches: /granite-?4(?:\.0)?-?h/,
    sampling: { temperature: 0, topP: 1, topK: 0 },
    source: "card of ibm-granite/granite-4.0-h-small",
  },
  {
    name: "LFM2.5",
    matches: /lfm2\.5-8b-a1b/,
    sampling: { temperature: 0.2, topK: 80, repeat: 1.05 },
    keepsReasoning: true,
    source: "card of LiquidAI/LFM2.5-8B-A1B",
  },
  {
    name: "Mellum2",
    matches: /mellum-?2/,
    sampling: { temperature: 0.6, topP: 0.95, topK: 20, minP: 0 },
    source: "card of JetBrains/Mellum2-12B",
  },
];

/** Returns the family of a model by its id, a path or a name with a tag after it; undefined for none. */
export function familyOf(model: string): Family | undefined {
  const name = model.toLowerCase().split(/[/\\]/).filter((part) => part !== "").at(-1) ?? "";
  const plain = name.replaceAll(/[_: ]/g, "-");
  return FAMILIES.find(({ matches }) => matches.test(plain));
}
