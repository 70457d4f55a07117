/** vLLM. */
import { fieldsOf } from "../../platform/record.ts";
import type { Backend } from "./backend.ts";

export const vllm: Backend = {
  id: "vllm",
  label: "vLLM",
  ports: [8000],
  owners: ["vllm"],
  shows: (facts) => facts.refused === 401 && fieldsOf(facts.body)["error"] === "Unauthorized",
  window: "list",
  widen: (_, tokens) => `start vllm with --max-model-len ${tokens}`,
  sampling: { topK: "top_k", minP: "min_p", repeat: "repetition_penalty" },
  templateKwargs: true,
  reasoningCap: { fields: (tokens) => ({ thinking_token_budget: tokens }), thinkersOnly: true },
  keepCache: { evicted: "start vllm with --enable-prefix-caching, and give its cache more memory" },
  readCalls: (parser) => `start vllm with --enable-auto-tool-choice --tool-call-parser ${parser ?? "<name>"}`,
  errors: {
    context: ["maximum context length", "context length (?:of|is) only", "max_model_len"],
    no_tools: ["enable-auto-tool-choice"],
    no_images: ["not a? ?(?:multi-?modal|vision)", "at most 0 image"],
    model: ["the model .{1,200} does not exist"],
  },
};
