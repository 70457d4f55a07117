/** Ollama. Some of its models run in its maker's cloud, behind the same address. */
import type { JsonResponse } from "../http/fetch_json.ts";
import { fieldsOf } from "../../platform/record.ts";
import {
  type Backend,
  type Inquiry,
  listsAny,
  type ModelLocality,
  rowsIn,
  traitsOf,
  type Windows,
  windowsOf,
} from "./backend.ts";
import { namesCloudModel, signOfElsewhere } from "./elsewhere.ts";

export const ollama: Backend = {
  id: "ollama",
  label: "Ollama",
  ports: [11434],
  owners: ["library"],
  probe: {
    path: "/",
    // Without models the list is `data: null`, without an owner.
    suspected: (facts) => fieldsOf(facts.body)["data"] === null,
    proves: ({ text }) => text.trim() === "Ollama is running",
  },
  window: loadedWindows,
  async loadModel({ get }, model, onLoading) {
    // Its maker's servers have nothing to load.
    if (namesCloudModel(model)) return false;
    onLoading();
    const answer = await get("/api/generate", { body: JSON.stringify({ model, stream: false }) });
    return fieldsOf(answer)["done"] === true;
  },
  widen: (_, tokens) =>
    `restart Ollama with OLLAMA_CONTEXT_LENGTH=${tokens} ollama serve (or set the context length in its app)`,
  noThinking: { reasoning_effort: "none" },
  keepCache: { evicted: "start Ollama with OLLAMA_KEEP_ALIVE=60m, and OLLAMA_NUM_PARALLEL=2 for two clients" },
  async traits({ get }) {
    const [tags, running] = await Promise.all([get("/api/tags"), get("/api/ps")]);
    const loaded = new Set(rowsIn(running, "models").flatMap(namesOf).map(completeName));
    const known = rowsIn(tags, "models");
    return new Map(known.flatMap((entry) => {
      const quantization = fieldsOf(entry["details"])["quantization_level"];
      return namesOf(entry).map((name) => {
        const isLoaded = running === undefined ? undefined : loaded.has(completeName(name));
        return [name, traitsOf({ bytes: entry["size"], quantization, isLoaded })] as const;
      });
    }));
  },
  vision: async ({ get }, model) =>
    listsAny(fieldsOf(await get("/api/show", { body: JSON.stringify({ model }) }))["capabilities"], ["vision"]),
  async locality(get, model) {
    const [shown, tagged] = await Promise.all([
      get("/api/show", { body: JSON.stringify({ model }) }),
      get("/api/tags"),
    ]);
    const localities = [described(shown), listed(tagged, model)].filter((one) => one !== null);
    // A server that answers neither question and names no remote model is not Ollama, or has nothing elsewhere.
    const isOther = shown !== null && tagged !== null &&
      !rowsIn(tagged?.json, "models").some((fields) => signOfElsewhere({ fields }) !== null);
    return localities.find(({ kind }) => kind === "remote") ?? localities[0] ?? (isOther ? { kind: "here" } : null);
  },
  async remark({ get }) {
    const { disabled } = fieldsOf(fieldsOf(await get("/api/status"))["cloud"]);
    if (typeof disabled !== "boolean") return null;
    return {
      text: disabled ? "cloud models are off" : "cloud models are on (OLLAMA_NO_CLOUD=1 ollama serve turns them off)",
    };
  },
  modelName: completeName,
  errors: {
    context: ["(?:longer|greater) than the (?:model's )?(?:maximum )?context"],
    cloud_disabled: ["cloud is disabled", "remote model.*(?:disabled|unavailable)"],
    no_tools: ["does not support tools"],
    no_images: ["missing data required for image"],
  },
  fetchModel: { when: /\btry pulling it/i, command: (model) => `ollama pull ${model}` },
};

/** `:latest` may be left out, and letter case does not count. */
function completeName(model: string): string {
  const name = model.trim().toLowerCase();
  return /:[^/]*$/.test(name) ? name : `${name}:latest`;
}

/** Loaded models only: what another model would get is decided by free memory when it is loaded. */
async function loadedWindows({ get }: Inquiry, models: readonly string[]): Promise<Windows> {
  const running = rowsIn(await get("/api/ps"), "models");
  const windows = new Map<string, unknown>();
  for (const entry of running) {
    for (const name of namesOf(entry)) windows.set(completeName(name), entry["context_length"]);
  }
  return windowsOf(models, (model) => windows.get(completeName(model)), { source: "/api/ps" });
}

function namesOf(entry: Record<string, unknown>): string[] {
  return [entry["name"], entry["model"]].filter((name) => typeof name === "string");
}

/** Reads the description of a model; null for anything else. Other servers do not support the request. */
function described(answer: JsonResponse | null): ModelLocality | null {
  const fields = fieldsOf(answer?.json);
  return "details" in fields || "model_info" in fields ? localityIn(fields) : null;
}

/** Reads the list, which also says where a model runs; null where the model is not in it. */
function listed(tags: JsonResponse | null, model: string): ModelLocality | null {
  const wanted = completeName(model);
  const entry = rowsIn(tags?.json, "models")
    .find((fields) => namesOf(fields).some((name) => completeName(name) === wanted));
  return entry === undefined ? null : localityIn(entry);
}

function localityIn(fields: Record<string, unknown>): ModelLocality {
  const sign = signOfElsewhere({ fields });
  return sign === null ? { kind: "here" } : { kind: "remote", reason: sign.reason };
}
