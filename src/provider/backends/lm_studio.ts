/** LM Studio. */
import { fieldsOf, membersOf } from "../../platform/record.ts";
import {
  type Backend,
  booleanOf,
  type Inquiry,
  listsAny,
  rowsIn,
  traitsOf,
  type Windows,
  windowsOf,
} from "./backend.ts";

export const lmStudio: Backend = {
  id: "lmstudio",
  label: "LM Studio",
  ports: [1234],
  owners: ["organization_owner"],
  probe: {
    path: "/lmstudio-greeting",
    suspected: (facts) => facts.headers.get("x-powered-by") === "Express",
    proves: ({ json }) => fieldsOf(json)["lmstudio"] === true,
  },
  window: loadedWindows,
  widen: (model, tokens) => `load the model with more context: lms load ${model} --context-length ${tokens}`,
  sampling: { topK: "top_k", repeat: "repeat_penalty" },
  vision: supportsImages,
  async traits(inquiry) {
    const newer = await newerModels(inquiry);
    if (newer.length > 0) {
      return new Map(newer.map((entry) => {
        const { vision, trained_for_tool_use: tools } = fieldsOf(entry["capabilities"]);
        const quantization = fieldsOf(entry["quantization"])["name"];
        const isLoaded = rowsIn(entry, "loaded_instances").length > 0;
        return [entry["key"], traitsOf({ bytes: entry["size_bytes"], quantization, isLoaded, tools, vision })];
      }));
    }
    return new Map((await olderModels(inquiry)).map(({ id, quantization, state, type, capabilities }) => {
      const tools = listsAny(capabilities, ["tool_use"]);
      return [id, traitsOf({ quantization, isLoaded: state === "loaded", tools, vision: type === "vlm" })];
    }));
  },
  async remark(_, run) {
    const link = fieldsOf(await run("lms", ["link", "status", "--json"]));
    const peers = link["status"] === "online" ? rowsIn(link, "peers") : [];
    if (peers.length === 0) return null;
    const running = peers.flatMap(({ deviceName, loadedModels }) => {
      const models = membersOf(loadedModels).filter((model) => typeof model === "string");
      return models.length === 0 ? [] : [`${models.join(", ")} run on ${String(deviceName)}`];
    });
    const names = peers.map(({ deviceName }) => String(deviceName)).join(", ");
    return {
      text: `LM Link: ${running.length > 0 ? running.join("; ") : `models may run on ${names}`}`,
      hint: "lms link disable",
    };
  },
  errors: {
    context: ["context the overflows"],
    model: ["no models? loaded"],
  },
};

/** The newer API; empty where the server does not have it. */
async function newerModels({ get }: Inquiry): Promise<Record<string, unknown>[]> {
  return rowsIn(await get("/api/v1/models"), "models");
}

async function olderModels({ get }: Inquiry): Promise<Record<string, unknown>[]> {
  return rowsIn(await get("/api/v0/models"), "data");
}

/** Loaded instances; `max_context_length` is what the model could have. */
async function loadedWindows(inquiry: Inquiry, models: readonly string[]): Promise<Windows> {
  const newer = await newerModels(inquiry);
  const windows = new Map<unknown, unknown>();
  for (const entry of newer) {
    for (const instance of rowsIn(entry, "loaded_instances")) {
      const window = fieldsOf(instance["config"])["context_length"];
      windows.set(instance["id"], window);
      // A model asked for by its key goes to the first of its instances.
      if (!windows.has(entry["key"])) windows.set(entry["key"], window);
    }
  }
  if (newer.length > 0) return windowsOf(models, (model) => windows.get(model), { source: "/api/v1/models" });
  for (const entry of await olderModels(inquiry)) {
    if (entry["state"] === "loaded") windows.set(entry["id"], entry["loaded_context_length"]);
  }
  return windowsOf(models, (model) => windows.get(model), { source: "/api/v0/models" });
}

/** The older API has no capabilities; its type says. */
async function supportsImages(inquiry: Inquiry, model: string): Promise<boolean | null> {
  const entry = (await newerModels(inquiry)).find((fields) =>
    fields["key"] === model || rowsIn(fields, "loaded_instances").some((instance) => instance["id"] === model)
  );
  const vision = booleanOf(fieldsOf(entry?.["capabilities"])["vision"]);
  if (vision !== null) return vision;
  const type = (await olderModels(inquiry)).find((fields) => fields["id"] === model)?.["type"];
  return type === "vlm" ? true : type === "llm" ? false : null;
}
