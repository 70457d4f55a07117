/**
 * How many tokens a model really has here: the window in force, never the trained maximum. One function a server.
 * Source: the wire reference, §2 (ctx column) and §3 (trap list).
 */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, fieldsOf, membersOf } from "../http/fetch_json.ts";
import type { HttpClient } from "../http/client.ts";
import { listModels, type ModelList, tokens } from "./model_list.ts";
import type { Endpoint } from "../types.ts";

/** Bytes of an answer. */
const ANSWER_LIMIT = 8 * 1024 * 1024;
/** Loaded models of a llama.cpp router that are asked one by one. */
const ROUTER_LIMIT = 8;

/** A window, and where it was read. */
export interface ContextWindow {
  tokens: number;
  /** The path of the answer that says so, for messages. */
  source: string;
}

/** What limits the asking. */
export interface WindowOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** What is known of the server already. */
export interface KnownServer extends WindowOptions {
  /** `server` of {@link import("./recognize.ts").Recognized}. */
  server: string | null;
  list: ModelList | null;
}

/** What is asked of one server. */
interface Inquiry {
  models: readonly string[];
  list: ModelList | null;
  /** The JSON at `path`; undefined when it cannot be had. */
  get(path: string, more?: { atOrigin?: boolean }): Promise<unknown>;
}

type Found = Map<string, ContextWindow>;

/**
 * The window of one model, or null when the server does not tell. Nothing here makes a server load a model. Only the
 * signal's reason is thrown.
 */
export async function findWindow(
  client: HttpClient,
  endpoint: Endpoint,
  options: KnownServer & { model: string },
): Promise<ContextWindow | null> {
  const { model } = options;
  return (await findWindows(client, endpoint, { ...options, models: [model] })).get(model) ?? null;
}

/** The windows of several models, asked together; models whose window the server does not tell are absent. */
export async function findWindows(
  client: HttpClient,
  endpoint: Endpoint,
  options: KnownServer & { models: readonly string[] },
): Promise<Found> {
  const { models, list } = options;
  const limits: WindowOptions = {
    timeoutMs: options.timeoutMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  const server = options.server ?? "";
  if (list === null && LISTS_WINDOWS.has(server)) {
    const fresh = await attempt(limits, async () => await listModels(client, endpoint, limits));
    return listedWindows(models, fresh ?? null);
  }
  const found = listedWindows(models, list);
  const open = models.filter((model) => !found.has(model));
  const read = SOURCES.get(server);
  if (open.length === 0 || read === undefined) return found;
  const inquiry: Inquiry = {
    models: open,
    list,
    get: async (path, more = {}) => await getJson(client, endpoint, { ...limits, ...more, path }),
  };
  for (const [model, window] of await read(inquiry)) found.set(model, window);
  return found;
}

/** Whether the server tells windows at all, besides those that stand in its list: perhaps only once a model is loaded. */
export function tellsWindows(server: string | null): boolean {
  return server !== null && (LISTS_WINDOWS.has(server) || SOURCES.has(server));
}

/** Servers whose list is the place where they tell the window. */
const LISTS_WINDOWS: ReadonlySet<string> = new Set(["vllm", "sglang", "unsloth", "llama-swap"]);

/** Where the others tell it. */
const SOURCES: ReadonlyMap<string, (inquiry: Inquiry) => Promise<Found>> = new Map([
  ["ollama", ollama],
  ["llama.cpp", llamaCpp],
  ["lmstudio", lmStudio],
  ["tabbyapi", tabbyApi],
  ["koboldcpp", koboldCpp],
  ["litellm", liteLlm],
]);

function listedWindows(models: readonly string[], list: ModelList | null): Found {
  const windows = new Map(list?.models.map((model) => [model.id, model.contextWindow]));
  return pick(models, (model) => windows.get(model), "/models");
}

/** The models whose window is a plausible number of tokens. */
function pick(models: readonly string[], windowOf: (model: string) => unknown, source: string): Found {
  const found: Found = new Map();
  for (const model of models) {
    const count = tokens(windowOf(model));
    if (count !== null) found.set(model, { tokens: count, source });
  }
  return found;
}

/** Loaded models only: what another model would get is decided by free memory when it is loaded. */
async function ollama(inquiry: Inquiry): Promise<Found> {
  const running = membersOf(fieldsOf(await inquiry.get("/api/ps", { atOrigin: true }))["models"]).map(fieldsOf);
  const windows = new Map<string, unknown>();
  for (const entry of running) {
    for (const name of [entry["name"], entry["model"]]) {
      if (typeof name === "string") windows.set(ollamaName(name), entry["context_length"]);
    }
  }
  return pick(inquiry.models, (model) => windows.get(ollamaName(model)), "/api/ps");
}

/** `:latest` may be left out, and letter case does not count. */
function ollamaName(name: string): string {
  return (/:[^/]*$/.test(name) ? name : `${name}:latest`).toLowerCase();
}

/**
 * One window for all: `/props` gives the part of one slot. A router (its list has states) is asked about loaded models
 * only, by name and with `autoload=false`: without that the question itself loads the model.
 */
async function llamaCpp(inquiry: Inquiry): Promise<Found> {
  const states = new Map(inquiry.list?.models.map((model) => [model.id, model.state]));
  if ([...states.values()].every((state) => state === undefined)) {
    const window = slotWindow(await inquiry.get("/props", { atOrigin: true }));
    return pick(inquiry.models, () => window, "/props");
  }
  const windows = new Map<string, unknown>();
  for (const model of inquiry.models.filter((one) => states.get(one) === "loaded").slice(0, ROUTER_LIMIT)) {
    const path = `/props?model=${encodeURIComponent(model)}&autoload=false`;
    windows.set(model, slotWindow(await inquiry.get(path, { atOrigin: true })));
  }
  return pick(inquiry.models, (model) => windows.get(model), "/props");
}

function slotWindow(props: unknown): unknown {
  const fields = fieldsOf(props);
  // The router's own answer carries a placeholder.
  if (fields["role"] === "router") return undefined;
  return fieldsOf(fields["default_generation_settings"])["n_ctx"];
}

/** Loaded instances; `max_context_length` is what the model could have. The older API is asked when the newer is absent. */
async function lmStudio(inquiry: Inquiry): Promise<Found> {
  const newer = membersOf(fieldsOf(await inquiry.get("/api/v1/models", { atOrigin: true }))["models"]).map(fieldsOf);
  const windows = new Map<unknown, unknown>();
  for (const entry of newer) {
    for (const instance of membersOf(entry["loaded_instances"]).map(fieldsOf)) {
      const window = fieldsOf(instance["config"])["context_length"];
      windows.set(instance["id"], window);
      // A model asked for by its key goes to the first of its instances.
      if (!windows.has(entry["key"])) windows.set(entry["key"], window);
    }
  }
  if (newer.length > 0) return pick(inquiry.models, (model) => windows.get(model), "/api/v1/models");
  const older = membersOf(fieldsOf(await inquiry.get("/api/v0/models", { atOrigin: true }))["data"]).map(fieldsOf);
  for (const entry of older) {
    if (entry["state"] === "loaded") windows.set(entry["id"], entry["loaded_context_length"]);
  }
  return pick(inquiry.models, (model) => windows.get(model), "/api/v0/models");
}

/** The one loaded model; the others have no window yet. */
async function tabbyApi(inquiry: Inquiry): Promise<Found> {
  const card = fieldsOf(await inquiry.get("/model"));
  const window = fieldsOf(card["parameters"])["max_seq_len"];
  return pick(inquiry.models, (model) => model === card["id"] ? window : undefined, "/model");
}

/** It serves one model, under whatever name. */
async function koboldCpp(inquiry: Inquiry): Promise<Found> {
  const path = "/api/extra/true_max_context_length";
  const window = fieldsOf(await inquiry.get(path, { atOrigin: true }))["value"];
  return pick(inquiry.models, () => window, path);
}

/** What the operator of the gateway wrote down for the model. */
async function liteLlm(inquiry: Inquiry): Promise<Found> {
  const rows = membersOf(fieldsOf(await inquiry.get("/model/info", { atOrigin: true }))["data"]).map(fieldsOf);
  const windows = new Map(rows.map((row) => [row["model_name"], fieldsOf(row["model_info"])["max_input_tokens"]]));
  return pick(inquiry.models, (model) => windows.get(model), "/model/info");
}

async function getJson(
  client: HttpClient,
  endpoint: Endpoint,
  question: WindowOptions & { path: string; atOrigin?: boolean },
): Promise<unknown> {
  return await attempt(question, async () => {
    const answer = await fetchJson(client, endpoint, { ...question, limitBytes: ANSWER_LIMIT });
    return answer.status === 200 ? answer.json : undefined;
  });
}

/** What `work` gives, or undefined when the server is not there, slow, or unreadable. */
async function attempt<T>(options: WindowOptions, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return undefined;
  }
}

/**
 * Makes Ollama load a model, so that `/api/ps` can tell its window. Gives true when it says it did. Takes as long as
 * loading takes: seconds to minutes. Only the signal's reason is thrown.
 */
export async function preloadOllama(
  client: HttpClient,
  asked: { endpoint: Endpoint; model: string },
  options: WindowOptions,
): Promise<boolean> {
  const body = JSON.stringify({ model: asked.model, stream: false });
  const answer = await attempt(
    options,
    async () =>
      await fetchJson(client, asked.endpoint, {
        path: "/api/generate",
        atOrigin: true,
        body,
        limitBytes: 64 * 1024,
        ...options,
      }),
  );
  return answer?.status === 200 && fieldsOf(answer.json)["done"] === true;
}
