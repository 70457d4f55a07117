/** Unsloth Studio: it requires a key for everything but its health check. */
import { fieldsOf } from "../../platform/record.ts";
import type { Backend } from "./backend.ts";

export const unsloth: Backend = {
  id: "unsloth",
  label: "Unsloth Studio",
  ports: [8888],
  probe: {
    path: "/api/health",
    suspected: (facts) => facts.refused !== null,
    proves: ({ json }) => fieldsOf(json)["service"] === "Unsloth UI Backend",
  },
  window: "list",
  widen: () => "load the model in Unsloth Studio with a larger context length",
};
