/** What makes servers read the tool calls of a model. Source: the wire reference, §11 (vLLM's own names). */

/** Most particular first. */
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

/** Server → what makes it read the calls itself; `parser` is vLLM's name of one, as far as it is known. */
const ADVICE: Readonly<Record<string, (parser: string | undefined) => string>> = {
  "llama.cpp": () => "start llama-server with --jinja and the model's own chat template",
  vllm: (parser) => `start vllm with --enable-auto-tool-choice --tool-call-parser ${parser ?? "<name>"}`,
  sglang: () => "start sglang with --tool-call-parser <name>",
};

/** How to have a server read the tool calls of a model, as an imperative; null where nothing is known to help. */
export function toolParserAdvice(server: string | null, model: string): string | null {
  return ADVICE[server ?? ""]?.(toolParserOf(model)) ?? null;
}
