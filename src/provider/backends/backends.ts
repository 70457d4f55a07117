/** The model servers that are known. What knows them loads this module where it needs it, never at start. */
import { fieldsOf, membersOf } from "../../platform/record.ts";
import { type Backend, booleanOf, type Facts, type Inquiry, serverHeader, windowsOf } from "./backend.ts";
import { llamaCpp } from "./llama_cpp.ts";
import { lmStudio } from "./lm_studio.ts";
import { ollama } from "./ollama.ts";

/**
 * In the order in which they are looked for. Gateways stand first: what they pass on from a server behind them must not
 * name them. What proves least stands last.
 */
export const BACKENDS: readonly Backend[] = [
  {
    id: "litellm",
    label: "LiteLLM",
    gateway: true,
    ports: [4000],
    shows: hasHeader("x-litellm-"),
    probe: {
      path: "/health/liveliness",
      // A list of an owner that nobody claims: better asked, since a gateway is not local.
      suspected: (facts) => facts.refused === null && facts.entries.length > 0,
      proves: ({ text }) => text.includes("I'm alive!"),
    },
    async window(inquiry, models) {
      const described = await describedByLiteLlm(inquiry);
      return windowsOf(models, (model) => described.get(model)?.["max_input_tokens"], { source: "/model/info" });
    },
    vision: async (inquiry, model) => booleanOf((await describedByLiteLlm(inquiry)).get(model)?.["supports_vision"]),
  },
  { id: "portkey", label: "Portkey", gateway: true, ports: [8787], shows: hasHeader("x-portkey-") },
  { id: "one-api", label: "One API", gateway: true, ports: [], shows: hasHeader("x-oneapi-") },
  { id: "new-api", label: "New API", gateway: true, ports: [], shows: hasHeader("x-new-api-") },
  {
    id: "llama-swap",
    label: "llama-swap with peers",
    gateway: true,
    ports: [],
    shows: listsPeers,
    window: "list",
  },
  { id: "llama-swap", label: "llama-swap", ports: [], owners: ["llama-swap"], window: "list" },
  llamaCpp,
  ollama,
  lmStudio,
  {
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
  },
  {
    id: "mini-sglang",
    label: "mini-sglang",
    ports: [1919],
    owners: ["mini-sglang"],
    // It wants a string as content, and says so.
    errors: { no_images: ["content\\b.{0,60}\\bstring"] },
  },
  // Source: FlashML-org/FreeToken, python/freetoken/server/api_models.py.
  { id: "freetoken", label: "FreeToken", ports: [1919], owners: ["freetoken"], listsTrainedWindows: true },
  {
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
  },
  {
    id: "tabbyapi",
    label: "TabbyAPI",
    ports: [5000],
    owners: ["tabbyapi"],
    probe: {
      path: "/.well-known/serviceinfo",
      proves: ({ json }) => fieldsOf(fieldsOf(json)["software"])["name"] === "TabbyAPI",
    },
    // The one loaded model; the others have no window yet.
    async window({ get }, models) {
      const card = fieldsOf(await get("/model", { atBase: true }));
      const window = fieldsOf(card["parameters"])["max_seq_len"];
      return windowsOf(models, (model) => model === card["id"] ? window : undefined, { source: "/model" });
    },
    widen: (_, tokens) => `set max_seq_len: ${tokens} in TabbyAPI's config.yml`,
    vision: async ({ get }) =>
      booleanOf(fieldsOf(fieldsOf(await get("/model", { atBase: true }))["parameters"])["use_vision"]),
  },
  // It serves one model, under whatever name.
  {
    id: "koboldcpp",
    label: "KoboldCpp",
    ports: [5001],
    owners: ["koboldcpp"],
    probe: { path: "/api/extra/version", proves: ({ json }) => fieldsOf(json)["result"] === "KoboldCpp" },
    async window({ get }, models) {
      const source = "/api/extra/true_max_context_length";
      const window = fieldsOf(await get(source))["value"];
      return windowsOf(models, () => window, { source });
    },
    widen: (_, tokens) => `start koboldcpp with --contextsize ${tokens}`,
    vision: async ({ get }) => booleanOf(fieldsOf(await get("/api/extra/version"))["vision"]),
  },
  // It wants a key for everything but its own health.
  {
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
  },
  {
    id: "text-generation-webui",
    label: "text-generation-webui",
    ports: [5000],
    shows: (facts) => everyEntry(facts, (entry) => entry["owned_by"] === "user" && entry["created"] === 0),
    widen: (_, tokens) => `start text-generation-webui with --ctx-size ${tokens}`,
  },
  {
    id: "mlx-lm",
    label: "mlx-lm",
    ports: [8080],
    // The header is that of every server of Python's own library.
    shows: (facts) =>
      serverHeader(facts).startsWith("BaseHTTP/") && facts.owners.size === 0 && facts.refused === null &&
      everyEntry(facts, (entry) => typeof entry["created"] === "number"),
    errors: { no_images: ["only (?:the )?['\"`]?text['\"`]?"] },
  },
  {
    id: "transformers",
    label: "transformers serve",
    ports: [8000],
    // Recorded: `created` is a fraction there, and the owner is the first part of the id.
    shows: (facts) =>
      serverHeader(facts) === "uvicorn" &&
      everyEntry(facts, (entry) => typeof entry["created"] === "number" && !Number.isInteger(entry["created"])),
  },
  { id: "docker", label: "Docker Model Runner", ports: [12434], owners: ["docker"] },
  { id: "lemonade", label: "Lemonade", ports: [13305], owners: ["lemonade"] },
  {
    id: "jan",
    label: "Jan",
    ports: [1337],
    shows: (facts) => facts.refused === 401 && facts.text.startsWith("Missing authorization header"),
  },
  {
    id: "localai",
    label: "LocalAI",
    ports: [8080],
    probe: {
      path: "/version",
      // The entries of its list hold the id and the kind, nothing else.
      suspected: (facts) =>
        everyEntry(facts, (entry) => Object.keys(entry).every((key) => /^(?:id|object)$/.test(key))),
      proves: ({ json }) => /^v?\d+\.\d+\.\d+ \(/.test(String(fieldsOf(json)["version"])),
    },
    errors: { loading: ["starting"] },
  },
];

/** The backend of this id; undefined for null and for one that is not known (any more). */
export function backendOf(id: string | null): Backend | undefined {
  return BACKENDS.find((backend) => backend.id === id);
}

/** The settings of the gateway's operator for each model. */
async function describedByLiteLlm({ get }: Inquiry): Promise<Map<unknown, Record<string, unknown>>> {
  const rows = membersOf(fieldsOf(await get("/model/info"))["data"]).map(fieldsOf);
  return new Map(rows.map((row) => [row["model_name"], fieldsOf(row["model_info"])]));
}

/** It may list models of other machines, which `meta.llamaswap` of their entries tells. */
function listsPeers({ owners, entries }: Facts): boolean {
  return owners.has("llama-swap") && entries.some((entry) => {
    const swap = fieldsOf(fieldsOf(entry["meta"])["llamaswap"]);
    return swap["type"] === "peer" || typeof swap["peerID"] === "string";
  });
}

/** A test for a header whose name begins with `prefix`. */
function hasHeader(prefix: string): (facts: Facts) => boolean {
  return (facts) => [...facts.headers.keys()].some((name) => name.startsWith(prefix));
}

/** Returns whether the list has entries and all of them pass. */
function everyEntry(facts: Facts, test: (entry: Record<string, unknown>) => boolean): boolean {
  return facts.entries.length > 0 && facts.entries.every(test);
}
