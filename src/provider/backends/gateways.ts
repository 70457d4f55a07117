/** Gateways: LiteLLM, and those known only by the headers that they add. */
import { fieldsOf } from "../../platform/record.ts";
import { type Backend, booleanOf, hasHeader, type Inquiry, rowsIn, windowsOf } from "./backend.ts";
import { GATEWAY_HEADERS } from "./elsewhere.ts";

function gateway(id: string, label: keyof typeof GATEWAY_HEADERS, { ports = [] }: { ports?: number[] } = {}): Backend {
  return { id, label, gateway: true, ports, shows: hasHeader(GATEWAY_HEADERS[label]) };
}

export const portkey = gateway("portkey", "Portkey", { ports: [8787] });
export const oneApi = gateway("one-api", "One API");
export const newApi = gateway("new-api", "New API");

export const liteLlm: Backend = {
  id: "litellm",
  label: "LiteLLM",
  gateway: true,
  ports: [4000],
  shows: hasHeader(GATEWAY_HEADERS.LiteLLM),
  probe: {
    path: "/health/liveliness",
    // A list whose owner no backend claims: better ask, since a gateway is not local.
    suspected: (facts) => facts.refused === null && facts.entries.length > 0,
    proves: ({ text }) => text.includes("I'm alive!"),
  },
  async window(inquiry, models) {
    const described = await describedModels(inquiry);
    return windowsOf(models, (model) => described.get(model)?.["max_input_tokens"], { source: "/model/info" });
  },
  vision: async (inquiry, model) => booleanOf((await describedModels(inquiry)).get(model)?.["supports_vision"]),
};

/** The settings of the gateway's operator for each model. */
async function describedModels({ get }: Inquiry): Promise<Map<unknown, Record<string, unknown>>> {
  const rows = rowsIn(await get("/model/info"), "data");
  return new Map(rows.map((row) => [row["model_name"], fieldsOf(row["model_info"])]));
}
