/**
 * What servers give themselves away by. One row a server; a row is pure over facts. Source: the wire reference, §2, unless
 * a row says otherwise. What many servers imitate (`/api/tags`, a plain `/version`) proves nothing and is not here.
 */
import { fieldsOf, membersOf } from "../http/fetch_json.ts";
import type { ReceivedHeaders } from "../http/head.ts";

/** What is known of a server before it is asked anything special. */
export interface Facts {
  /** Of the base URL; the default of the scheme where none is written. */
  port: number;
  headers: ReceivedHeaders;
  /** `owned_by` of the list, lower case. */
  owners: ReadonlySet<string>;
  /** Entries of the list as they came, at most 100. */
  entries: readonly Record<string, unknown>[];
  /** The list's answer, or that of the refusal. */
  body: unknown;
  /** The status of a refused list, else null. */
  refused: number | null;
  /** The text of a refusal, else empty. */
  text: string;
}

/** An endpoint of the server's own, open without a key, that never makes it load a model. */
export interface Probe {
  /** From the origin. */
  path: string;
  /** Whether the facts speak for this server although its usual port does not. */
  suspected?(facts: Facts): boolean;
  /** Whether the answer proves it. Never by the status: LM Studio answers unknown paths with 200. */
  proves(answer: { json: unknown; text: string }): boolean;
}

/** One server. */
export interface Fingerprint {
  server: string;
  label: string;
  /** Passes requests on to servers elsewhere. */
  gateway?: true;
  /** Where it listens unless told otherwise. */
  ports: readonly number[];
  /** `owned_by` of its models, lower case. */
  owners?: readonly string[];
  /** Anything else in the list, the refusal or the headers. */
  shows?(facts: Facts): boolean;
  probe?: Probe;
}

const headerNamed = (prefix: string) => (facts: Facts) => {
  for (const name of facts.headers.keys()) {
    if (name.startsWith(prefix)) return true;
  }
  return false;
};

const serverHeader = (facts: Facts) => facts.headers.get("server") ?? "";

const everyEntry = (facts: Facts, test: (entry: Record<string, unknown>) => boolean) =>
  facts.entries.length > 0 && facts.entries.every(test);

/** Gateways stand first: what they pass on from a server behind them must not name them. */
export const FINGERPRINTS: readonly Fingerprint[] = [
  {
    server: "litellm",
    label: "LiteLLM",
    gateway: true,
    ports: [4000],
    shows: headerNamed("x-litellm-"),
    probe: {
      path: "/health/liveliness",
      // A list of an owner that nobody claims: better asked, since a gateway is not local.
      suspected: (facts) => facts.refused === null && facts.entries.length > 0,
      proves: ({ text }) => text.includes("I'm alive!"),
    },
  },
  { server: "portkey", label: "Portkey", gateway: true, ports: [8787], shows: headerNamed("x-portkey-") },
  { server: "one-api", label: "One API", gateway: true, ports: [], shows: headerNamed("x-oneapi-") },
  { server: "new-api", label: "New API", gateway: true, ports: [], shows: headerNamed("x-new-api-") },
  {
    // Source: llama-swap lists models of other machines as peers, with `meta.llamaswap.peerID`.
    server: "llama-swap",
    label: "llama-swap with peers",
    gateway: true,
    ports: [],
    shows: (facts) =>
      facts.owners.has("llama-swap") &&
      facts.entries.some((entry) => {
        const swap = fieldsOf(fieldsOf(entry["meta"])["llamaswap"]);
        return swap["type"] === "peer" || typeof swap["peerID"] === "string";
      }),
  },
  { server: "llama-swap", label: "llama-swap", ports: [], owners: ["llama-swap"] },
  {
    server: "llama.cpp",
    label: "llama.cpp",
    ports: [8080, 9931],
    owners: ["llamacpp"],
    shows: (facts) => serverHeader(facts) === "llama.cpp" || listsTwice(facts.body),
  },
  {
    server: "ollama",
    label: "Ollama",
    ports: [11434],
    owners: ["library"],
    probe: {
      path: "/",
      // Without models the list is `data: null`, without an owner.
      suspected: (facts) => fieldsOf(facts.body)["data"] === null,
      proves: ({ text }) => text.trim() === "Ollama is running",
    },
  },
  {
    server: "lmstudio",
    label: "LM Studio",
    ports: [1234],
    owners: ["organization_owner"],
    probe: {
      path: "/lmstudio-greeting",
      suspected: (facts) => facts.headers.get("x-powered-by") === "Express",
      proves: ({ json }) => fieldsOf(json)["lmstudio"] === true,
    },
  },
  {
    server: "vllm",
    label: "vLLM",
    ports: [8000],
    owners: ["vllm"],
    shows: (facts) => facts.refused === 401 && fieldsOf(facts.body)["error"] === "Unauthorized",
  },
  { server: "mini-sglang", label: "mini-sglang", ports: [1919], owners: ["mini-sglang"] },
  // Source: FlashML-org/FreeToken, python/freetoken/server/api_models.py.
  { server: "freetoken", label: "FreeToken", ports: [1919], owners: ["freetoken"] },
  {
    server: "sglang",
    label: "SGLang",
    ports: [30000],
    owners: ["sglang"],
    probe: { path: "/get_model_info", proves: ({ json }) => typeof fieldsOf(json)["model_path"] === "string" },
  },
  {
    server: "tabbyapi",
    label: "TabbyAPI",
    ports: [5000],
    owners: ["tabbyapi"],
    probe: {
      path: "/.well-known/serviceinfo",
      proves: ({ json }) => fieldsOf(fieldsOf(json)["software"])["name"] === "TabbyAPI",
    },
  },
  {
    server: "koboldcpp",
    label: "KoboldCpp",
    ports: [5001],
    owners: ["koboldcpp"],
    probe: { path: "/api/extra/version", proves: ({ json }) => fieldsOf(json)["result"] === "KoboldCpp" },
  },
  {
    server: "unsloth",
    label: "Unsloth Studio",
    ports: [8888],
    probe: {
      path: "/api/health",
      suspected: (facts) => facts.refused !== null,
      proves: ({ json }) => fieldsOf(json)["service"] === "Unsloth UI Backend",
    },
  },
  {
    server: "text-generation-webui",
    label: "text-generation-webui",
    ports: [5000],
    shows: (facts) => everyEntry(facts, (entry) => entry["owned_by"] === "user" && entry["created"] === 0),
  },
  {
    server: "mlx-lm",
    label: "mlx-lm",
    ports: [8080],
    // The header is that of every server of Python's own library.
    shows: (facts) =>
      serverHeader(facts).startsWith("BaseHTTP/") && facts.owners.size === 0 && facts.refused === null &&
      everyEntry(facts, (entry) => typeof entry["created"] === "number"),
  },
  {
    // Recorded: `created` is a fraction there, and the owner is the first part of the id.
    server: "transformers",
    label: "transformers serve",
    ports: [8000],
    shows: (facts) =>
      serverHeader(facts) === "uvicorn" &&
      everyEntry(facts, (entry) => typeof entry["created"] === "number" && !Number.isInteger(entry["created"])),
  },
  { server: "docker", label: "Docker Model Runner", ports: [12434], owners: ["docker"] },
  { server: "lemonade", label: "Lemonade", ports: [13305], owners: ["lemonade"] },
  {
    server: "jan",
    label: "Jan",
    ports: [1337],
    shows: (facts) => facts.refused === 401 && facts.text.startsWith("Missing authorization header"),
  },
  {
    server: "localai",
    label: "LocalAI",
    ports: [8080],
    probe: {
      path: "/version",
      suspected: isBareList,
      proves: ({ json }) => /^v?\d+\.\d+\.\d+ \(/.test(String(fieldsOf(json)["version"])),
    },
  },
];

/** llama.cpp gives the list in its own form and in that of OpenAI, in one answer. */
function listsTwice(body: unknown): boolean {
  const fields = fieldsOf(body);
  return Array.isArray(fields["models"]) && membersOf(fields["data"]).length > 0;
}

/** LocalAI's entries hold the id and the kind, nothing else. */
function isBareList(facts: Facts): boolean {
  return everyEntry(facts, (entry) => Object.keys(entry).every((key) => key === "id" || key === "object"));
}
