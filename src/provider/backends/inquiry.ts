/** Requests metadata from a server: its context window, image input, and the needs of its chat template. */
import { AgentcliError } from "../../errors.ts";
import type { HttpClient } from "../http/client.ts";
import { fetchJson, withDeadline } from "../http/fetch_json.ts";
import { fieldsOf } from "../../platform/record.ts";
import type { Endpoint } from "../types.ts";
import {
  booleanOf,
  type ContextWindow,
  type Inquiry,
  listsAny,
  type ModelFacts,
  type ModelTraits,
  type Windows,
  windowsOf,
} from "./backend.ts";
import { backendOf, BACKENDS } from "./backends.ts";
import { fetchModelList, listModels, type ModelList, rawEntries } from "./model_list.ts";
import { recognize } from "./recognize.ts";
import type { TemplateNeeds } from "./template_needs.ts";

/** Bytes of an answer; templates and licenses are in some. */
const ANSWER_LIMIT = 8 * 1024 * 1024;
/** For everything about images, in milliseconds: requested once a session, with the first image. */
const VISION_MS = 2000;
/** For everything about a template, in milliseconds: a reply is waiting to be shown. */
const TEMPLATE_MS = 1500;

/** Limits of a request. */
interface InquiryLimits {
  /** For each question. */
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Known facts about the server. */
interface KnownServer extends InquiryLimits {
  /** Id of its {@link import("./backend.ts").Backend}. */
  server: string | null;
  list: ModelList | null;
  /** Keeps the answers to what is asked more than once. */
  answers?: Map<string, Promise<unknown>>;
}

function inquiryOf(
  client: HttpClient,
  endpoint: Endpoint,
  { list, answers, ...limits }: InquiryLimits & Pick<KnownServer, "list" | "answers">,
): Inquiry {
  const ask: Inquiry["get"] = async (path, { atBase, body } = {}) => {
    const request = {
      path,
      atOrigin: atBase !== true,
      ...(body === undefined ? {} : { body }),
      limitBytes: ANSWER_LIMIT,
      ...limits,
    };
    const answer = await attempt(limits.signal, () => fetchJson(client, endpoint, request));
    return answer?.status === 200 ? answer.json : undefined;
  };
  return {
    list,
    get(path, more = {}) {
      if (answers === undefined || more.body !== undefined) return ask(path, more);
      const key = `${more.atBase === true} ${path}`;
      const known = answers.get(key) ?? ask(path, more);
      answers.set(key, known);
      return known;
    },
  };
}

/** Returns the result of `work`, or undefined when the server is not there, slow, or unreadable. */
async function attempt<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return undefined;
  }
}

function limitsOf({ timeoutMs, signal, answers }: InquiryLimits & Pick<KnownServer, "answers">) {
  return {
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
    ...(answers === undefined ? {} : { answers }),
  };
}

/** Returns what a server tells of a model besides its window; null where it tells nothing. Loads no model. */
export async function findModelFacts(
  client: HttpClient,
  endpoint: Endpoint,
  known: KnownServer & { model: string },
): Promise<ModelFacts | null> {
  const inquiry = inquiryOf(client, endpoint, { ...limitsOf(known), list: known.list });
  return await backendOf(known.server)?.facts?.(inquiry, known.model) ?? null;
}

/** Returns what people choose models by, as far as the server tells. Loads no model. Throws only the signal's reason. */
export async function findTraits(
  client: HttpClient,
  endpoint: Endpoint,
  known: KnownServer,
): Promise<ReadonlyMap<string, ModelTraits>> {
  const inquiry = inquiryOf(client, endpoint, { ...limitsOf(known), list: known.list });
  return await backendOf(known.server)?.traits?.(inquiry) ?? new Map();
}

/** Returns the window of one model, or null for unknown. Loads no model. Throws only the signal's reason. */
export async function findWindow(
  client: HttpClient,
  endpoint: Endpoint,
  known: KnownServer & { model: string },
): Promise<ContextWindow | null> {
  const { model } = known;
  return (await findWindows(client, endpoint, { ...known, models: [model] })).get(model) ?? null;
}

/** Returns the windows of several models in one batch; models whose window the server does not report are absent. */
export async function findWindows(
  client: HttpClient,
  endpoint: Endpoint,
  known: KnownServer & { models: readonly string[] },
): Promise<Windows> {
  const { models, list } = known;
  const limits = limitsOf(known);
  const source = backendOf(known.server)?.window;
  if (list === null && source === "list") {
    const fresh = await attempt(limits.signal, () => listModels(client, endpoint, limits));
    return listedWindows(models, fresh ?? null);
  }
  const windows = listedWindows(models, list);
  const open = models.filter((model) => !windows.has(model));
  if (open.length === 0 || source === undefined || source === "list") return windows;
  for (const [model, window] of await source(inquiryOf(client, endpoint, { ...limits, list }), open)) {
    windows.set(model, window);
  }
  return windows;
}

/** Returns whether the server reports windows outside of its list, perhaps only once a model is loaded. */
export function reportsWindows(server: string | null): boolean {
  return backendOf(server)?.window !== undefined;
}

function listedWindows(models: readonly string[], list: ModelList | null): Windows {
  const windows = new Map(list?.models.map((model) => [model.id, model.contextWindow]));
  return windowsOf(models, (model) => windows.get(model), { source: "/models" });
}

/**
 * Makes a server load a model where it reports the window only then; others get no request. True when it says it did.
 * Takes as long as loading takes: seconds to minutes. Only the signal's reason is thrown.
 */
export async function loadModel(
  client: HttpClient,
  { endpoint, server, model }: { endpoint: Endpoint; server: string | null; model: string },
  { onLoading = () => {}, ...limits }: InquiryLimits & { onLoading?: () => void },
): Promise<boolean> {
  const inquiry = inquiryOf(client, endpoint, { ...limitsOf(limits), list: null });
  return await backendOf(server)?.loadModel?.(inquiry, model, onLoading) ?? false;
}

/**
 * Returns whether a model supports image input; null when the server does not report it within two seconds. Never a
 * guess from the name of the model. Makes no server load a model. Only the signal's reason is thrown.
 */
export async function findVision(
  client: HttpClient,
  endpoint: Endpoint,
  { model, signal }: { model: string; signal: AbortSignal },
): Promise<boolean | null> {
  return await attempt(signal, () =>
    withDeadline({ timeoutMs: VISION_MS, signal }, async (within) => {
      const limits = { timeoutMs: VISION_MS, signal: within };
      const answer = await attempt(within, () => fetchModelList(client, endpoint, limits));
      const list = answer?.kind === "list" ? answer.list : null;
      const listed = list === null ? null : listedVision(list, model);
      if (listed !== null) return listed;
      const refused = answer?.kind === "refused" ? { refused: answer.answer } : {};
      const server = await recognize(client, endpoint, { ...limits, list, ...refused });
      const inquiry = inquiryOf(client, endpoint, { ...limits, list });
      return await backendOf(server?.server ?? null)?.vision?.(inquiry, model) ?? null;
    })) ?? null;
}

/**
 * Reads image input from the model list itself: OpenRouter (`architecture`), Mistral (`capabilities.vision`), LM
 * Studio's own list (`type`), llama.cpp (`capabilities` of `models[]`, which `data[]` does not have).
 */
function listedVision(list: ModelList, model: string): boolean | null {
  const entry = rawEntries(list.body).find((fields) => [fields["id"], fields["key"]].includes(model)) ?? {};
  return listsAny(fieldsOf(entry["architecture"])["input_modalities"], ["image"]) ??
    booleanOf(fieldsOf(entry["capabilities"])["vision"]) ??
    (entry["type"] === "vlm" ? true : null);
}

/**
 * Returns the form of calls that the chat template needs; null when the server does not report it, or not within a
 * second and a half. Makes no server load a model. Only the signal's reason is thrown.
 */
export async function findTemplateNeeds(
  client: HttpClient,
  endpoint: Endpoint,
  { model, signal }: { model: string; signal: AbortSignal },
): Promise<TemplateNeeds | null> {
  return (await findTemplate(client, endpoint, { model, signal })).needs;
}

/** {@link findTemplateNeeds}, and what the same answers tell besides. */
export async function findTemplate(
  client: HttpClient,
  endpoint: Endpoint,
  { model, signal }: { model: string; signal: AbortSignal },
): Promise<{ needs: TemplateNeeds | null; told: ModelFacts | null }> {
  const answers = new Map<string, Promise<unknown>>();
  const inquiry = inquiryOf(client, endpoint, { timeoutMs: TEMPLATE_MS, signal, list: null, answers });
  for (const { templateNeeds, facts } of BACKENDS) {
    const needs = await templateNeeds?.(inquiry, model) ?? null;
    if (needs !== null) return { needs, told: await facts?.(inquiry, model) ?? null };
  }
  return { needs: null, told: null };
}
