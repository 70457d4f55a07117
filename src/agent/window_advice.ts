/** How to give a model more room, by server. Source: wire reference, §3 and §11. */

const TOKENS = 65_536;

/** Server → the command or setting; `model` is shown as given. */
const ADVICE: Readonly<Record<string, (model: string) => string>> = {
  ollama: () =>
    `restart Ollama with OLLAMA_CONTEXT_LENGTH=${TOKENS} ollama serve (or set the context length in its app)`,
  lmstudio: (model) => `load the model with more context: lms load ${model} --context-length ${TOKENS}`,
  "llama.cpp": () => `start llama-server with -c ${TOKENS} (it is divided by --parallel)`,
  vllm: () => `start vllm with --max-model-len ${TOKENS}`,
  sglang: () => `start sglang with --context-length ${TOKENS}`,
  koboldcpp: () => `start koboldcpp with --contextsize ${TOKENS}`,
  tabbyapi: () => `set max_seq_len: ${TOKENS} in TabbyAPI's config.yml`,
  unsloth: () => "load the model in Unsloth Studio with a larger context length",
  "text-generation-webui": () => `start text-generation-webui with --ctx-size ${TOKENS}`,
};

/** The advice. `configured` is the window that providers.yaml claims and the server does not have; null for none. */
export function windowAdvice(server: string | null, given: { model: string; configured: number | null }): string {
  const advice = ADVICE[server ?? ""]?.(given.model) ?? "give the model a larger context window on the server";
  return given.configured === null
    ? advice
    : `${advice}; context_window: ${given.configured} in providers.yaml is more than the server gives`;
}
