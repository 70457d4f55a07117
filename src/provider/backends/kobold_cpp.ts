/** KoboldCpp: it serves one model, under whatever name. */
import { fieldsOf } from "../../platform/record.ts";
import { type Backend, booleanOf, windowsOf } from "./backend.ts";

const WINDOW_PATH = "/api/extra/true_max_context_length";

export const koboldCpp: Backend = {
  id: "koboldcpp",
  label: "KoboldCpp",
  ports: [5001],
  owners: ["koboldcpp"],
  probe: { path: "/api/extra/version", proves: ({ json }) => fieldsOf(json)["result"] === "KoboldCpp" },
  async window({ get }, models) {
    const window = fieldsOf(await get(WINDOW_PATH))["value"];
    return windowsOf(models, () => window, { source: WINDOW_PATH });
  },
  widen: (_, tokens) => `start koboldcpp with --contextsize ${tokens}`,
  vision: async ({ get }) => booleanOf(fieldsOf(await get("/api/extra/version"))["vision"]),
};
