/** SGLang. */
import { fieldsOf } from "../../platform/record.ts";
import type { Backend } from "./backend.ts";

export const sglang: Backend = {
  id: "sglang",
  label: "SGLang",
  ports: [30000],
  owners: ["sglang"],
  probe: { path: "/get_model_info", proves: ({ json }) => typeof fieldsOf(json)["model_path"] === "string" },
  window: "list",
  widen: (_, tokens) => `start sglang with --context-length ${tokens}`,
  sampling: { topK: "top_k", minP: "min_p", repeat: "repetition_penalty" },
  templateKwargs: true,
  keepCache: { evicted: "start sglang without --disable-radix-cache, and give its cache more memory" },
  readCalls: () => "start sglang with --tool-call-parser <name>",
};
