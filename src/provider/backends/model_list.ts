/** The list of models that a server says it serves. Source: the wire reference, §2 (model list reader), §9. */
import { keyAdvice } from "../../config/endpoint.ts";
import { AgentcliError } from "../../errors.ts";
import { fetchJson, type JsonResponse, type Limits } from "../http/fetch_json.ts";
import { fieldsOf, membersOf, tokens } from "../../platform/record.ts";
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../types.ts";
import { BACKENDS } from "./backends.ts";
import { providerLabel } from "../../config/base_url.ts";

/** Bytes of a list that are read. */
const LIST_LIMIT = 8 * 1024 * 1024;
/** Characters; a longer id is no model's name. */
const ID_LIMIT = 512;
const COUNT_LIMIT = 10_000;

interface ServedModel {
  /** As the server spells it; not cleaned for a terminal. */
  id: string;
  /** Tokens that the server really provides, where the list says so. */
  contextWindow: number | null;
  /** `owned_by`. */
  owner: string | null;
  /** Present where the list reports it (llama.cpp router, llama-swap). */
  state?: "loaded" | "unloaded" | "loading";
}

export interface ModelList extends JsonResponse {
  kind: "list";
  models: ServedModel[];
}

export type ModelListResponse = ModelList | JsonResponse & { kind: "refused" };

/**
 * Reads a list in any of the forms servers give it: `{data: […]}`, `{data: null}` (Ollama without models), a bare
 * array, `{models: […]}`. Embedding models that say so, unusable ids and repeated ones are left out. Throws
 * `invalid_reply` for anything but a list, such as a 200 with `{error}` (LM Studio on unknown paths).
 */
export function readModelList(body: unknown): ServedModel[] {
  const models = new Map<string, ServedModel>();
  for (const entry of entriesOf(body)) {
    if (models.size >= COUNT_LIMIT) break;
    const model = readModel(entry);
    if (model !== null && !models.has(model.id)) models.set(model.id, model);
  }
  return [...models.values()];
}

function entriesOf(body: unknown): unknown[] {
  if (Array.isArray(body)) return body;
  const fields = fieldsOf(body);
  if (Array.isArray(fields["data"])) return fields["data"];
  if (Array.isArray(fields["models"])) return fields["models"];
  if (fields["data"] === null && fields["error"] === undefined) return [];
  throw new AgentcliError(
    "invalid_reply",
    fields["error"] === undefined ? "the answer is no list of models" : "an error came instead of a list of models",
    { hint: "check base_url: it usually ends in /v1" },
  );
}

function readModel(entry: unknown): ServedModel | null {
  const fields = typeof entry === "string" ? fieldsOf({ id: entry }) : fieldsOf(entry);
  const id = fields["id"] ?? fields["key"] ?? fields["name"];
  if (typeof id !== "string" || id.trim() === "" || id.length > ID_LIMIT) return null;
  const type = fields["type"];
  if (type === "embedding" || type === "embeddings") return null;
  const owner = fields["owned_by"];
  const state = stateOf(fieldsOf(fields["status"])["value"]);
  return {
    id,
    contextWindow: listedWindow(fields),
    owner: typeof owner === "string" && owner.length <= ID_LIMIT ? owner : null,
    ...(state === undefined ? {} : { state }),
  };
}

function stateOf(value: unknown): ServedModel["state"] {
  if (typeof value !== "string") return undefined;
  if (value === "loaded" || value === "running" || value === "ready") return "loaded";
  // Sleeping models wake up on a request: for us that is loading, so they count as not loaded.
  return value === "loading" ? "loading" : "unloaded";
}

/** The window in force, where the entry of a list says it. Trained maxima are not windows. */
function listedWindow(fields: Record<string, unknown>): number | null {
  const owner = typeof fields["owned_by"] === "string" ? fields["owned_by"].toLowerCase() : "";
  if (BACKENDS.some(({ owners, listsTrainedWindows }) => listsTrainedWindows && owners?.includes(owner))) return null;
  const meta = fieldsOf(fields["meta"]);
  return tokens(meta["n_ctx"]) ??
    tokens(fieldsOf(meta["llamaswap"])["context_length"]) ??
    tokens(fields["max_model_len"]) ??
    tokens(fields["context_length"]) ??
    tokens(fields["context_window"]);
}

/** Fetches the list or the refusal. Throws like {@link fetchJson}, and `invalid_reply` for a success without a list. */
export async function fetchModelList(
  client: HttpClient,
  endpoint: Endpoint,
  limits: Limits,
): Promise<ModelListResponse> {
  return listFrom(await fetchJson(client, endpoint, { path: "/models", limitBytes: LIST_LIMIT, ...limits }));
}

/** Reads the list or the refusal. Throws `invalid_reply` for a success without a list. */
export function listFrom(answer: JsonResponse): ModelListResponse {
  if (answer.status !== 200) return { ...answer, kind: "refused" };
  if (answer.json === undefined) {
    const page = /^\s*</.test(answer.text);
    throw new AgentcliError("invalid_reply", page ? "a web page came instead of a list" : "the answer is not JSON", {
      hint: "check base_url: it usually ends in /v1",
    });
  }
  return { ...answer, kind: "list", models: readModelList(answer.json) };
}

/**
 * The models of a provider. Throws `provider_unreachable`, `provider_timeout`, `auth_failed` (401, 403),
 * `provider_busy` (503: it loads), `invalid_reply` (a success that is no list), `provider_error` (anything else), each
 * naming provider and address. What the server wrote is repeated only about a key, without what may be a part of it.
 */
export async function listModels(
  client: HttpClient,
  endpoint: Endpoint,
  limits: Limits,
): Promise<ModelList> {
  const where = `${providerLabel(endpoint.provider)} (${endpoint.baseUrl}/models)`;
  const response = await fetchModelList(client, endpoint, limits).catch((error) => {
    if (!(error instanceof AgentcliError) || limits.signal?.aborted) throw error;
    // The client names provider and address itself; what is found here does not know them.
    if (error.code !== "invalid_reply" && error.code !== "provider_timeout") throw error;
    const message = `cannot list the models of ${where}: ${error.message}`;
    throw new AgentcliError(error.code, message, { hint: error.hint, cause: error });
  });
  if (response.kind === "list") return response;
  throw await refusal(response, { endpoint, where });
}

async function refusal(answer: JsonResponse, at: { endpoint: Endpoint; where: string }): Promise<AgentcliError> {
  const { status, text } = answer;
  // text-generation-webui (400) and Jan (403) refuse the name in the address, not the key.
  if (/invalid host header/i.test(text)) {
    return new AgentcliError("provider_error", `${at.where} refuses the host name of the address (HTTP ${status})`, {
      hint: "use 127.0.0.1 instead of a name in base_url",
    });
  }
  if (status === 401 || status === 403) {
    const { keyRefused, wordsInRefusal } = await import("../chat/errors.ts");
    const words = wordsInRefusal(text, at.endpoint);
    return new AgentcliError("auth_failed", `${at.where} ${keyRefused(at.endpoint, `HTTP ${status}`)}${words}`, {
      hint: keyAdvice(at.endpoint.provider, at.endpoint.keySource, { isRefused: true }),
    });
  }
  if (status === 503) {
    return new AgentcliError("provider_busy", `${at.where} is not ready (HTTP 503): a model may be loading`, {
      hint: "try again in a moment",
    });
  }
  return new AgentcliError("provider_error", `${at.where} gave no list of models (HTTP ${status})`, {
    hint: status === 404 ? "check base_url: it usually ends in /v1" : "look into the log of the server",
  });
}

/** The members of a list's answer as they came, for what backends read beyond {@link ServedModel}. */
export function rawEntries(body: unknown): Record<string, unknown>[] {
  const fields = fieldsOf(body);
  const found = Array.isArray(body) ? body : Array.isArray(fields["data"]) ? fields["data"] : fields["models"];
  return membersOf(found).slice(0, 100).map(fieldsOf);
}
