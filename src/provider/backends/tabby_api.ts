/** TabbyAPI. */
import { fieldsOf } from "../../platform/record.ts";
import { type Backend, booleanOf, windowsOf } from "./backend.ts";

export const tabbyApi: Backend = {
  id: "tabbyapi",
  label: "TabbyAPI",
  ports: [5000],
  owners: ["tabbyapi"],
  probe: {
    path: "/.well-known/serviceinfo",
    proves: ({ json }) => fieldsOf(fieldsOf(json)["software"])["name"] === "TabbyAPI",
  },
  /** The one loaded model; the others have no window yet. */
  async window({ get }, models) {
    const card = fieldsOf(await get("/model", { atBase: true }));
    const window = fieldsOf(card["parameters"])["max_seq_len"];
    return windowsOf(models, (model) => model === card["id"] ? window : undefined, { source: "/model" });
  },
  widen: (_, tokens) => `set max_seq_len: ${tokens} in TabbyAPI's config.yml`,
  vision: async ({ get }) =>
    booleanOf(fieldsOf(fieldsOf(await get("/model", { atBase: true }))["parameters"])["use_vision"]),
};
