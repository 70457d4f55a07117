/** Asks a server about its models: windows, image input, and the needs of a chat template. */
import type { HttpClient } from "../http/client.ts";
import { fetchJson, type Limits, orNull, withDeadline } from "../http/fetch_json.ts";
import { fieldsOf } from "../../platform/record.ts";
import type { Endpoint } from "../types.ts";
import { booleanOf, type Inquiry, listsAny, type ModelFacts, type Windows, windowsOf } from "./backend.ts";
import { backendOf, BACKENDS } from "./backends.ts";
import { fetchModelList, listModels, type ModelList, rawEntries } from "./model_list.ts";
import type { TemplateNeeds } from "./model_metadata.ts";
import { recognize } from "./recognize.ts";

/** Bytes of an answer; templates and licenses are in some. */
const ANSWER_LIMIT = 8 * 1024 * 1024;
/** For everything about images, in milliseconds: requested once a session, with the first image. */
const VISION_MS = 2000;
/** For everything about a template, in milliseconds: a reply is waiting to be shown. */
const TEMPLATE_MS = 1500;

/** Begins an inquiry; `list` is the server's, where it is at hand. The limits are for each question. */
export function inquire(
  client: HttpClient,
  endpoint: Endpoint,
  { list = null, ...limits }: Limits & { list?: ModelList | null },
): Inquiry {
  const ask = async (path: string, { atBase, body }: { atBase?: boolean; body?: string } = {}) => {
    const request = { path, atOrigin: atBase !== true, body, limitBytes: ANSWER_LIMIT, ...limits };
    const answer = await orNull(fetchJson(client, endpoint, request), limits.signal);
    return answer?.status === 200 ? answer.json : undefined;
  };
  const answers = new Map<string, Promise<unknown>>();
  return {
    list,
    fetchList: () => orNull(listModels(client, endpoint, limits), limits.signal),
    get(path, more = {}) {
      if (more.body !== undefined) return ask(path, more);
      const key = `${more.atBase === true} ${path}`;
      const known = answers.get(key) ?? ask(path, more);
      answers.set(key, known);
      return known;
    },
  };
}

/**
 * Returns the windows of models in one batch; those that the server does not tell are absent. Loads no model. Throws only
 * the signal's reason.
 */
export async function findWindows(
  inquiry: Inquiry,
  server: string | null,
  models: readonly string[],
): Promise<Windows> {
  const { list } = inquiry;
  const source = backendOf(server)?.window;
  if (source === "list") return listedWindows(models, list ?? await inquiry.fetchList());
  const windows = listedWindows(models, list);
  const open = models.filter((model) => !windows.has(model));
  if (open.length === 0 || source === undefined) return windows;
  return new Map([...windows, ...await source(inquiry, open)]);
}

function listedWindows(models: readonly string[], list: ModelList | null): Windows {
  const windows = new Map(list?.models.map((model) => [model.id, model.contextWindow]));
  return windowsOf(models, (model) => windows.get(model), { source: "/models" });
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
  const found = withDeadline({ timeoutMs: VISION_MS, signal }, async (within) => {
    const limits = { timeoutMs: VISION_MS, signal: within };
    const answer = await orNull(fetchModelList(client, endpoint, limits), within);
    const list = answer?.kind === "list" ? answer : null;
    const listed = list === null ? null : listedVision(list, model);
    if (listed !== null) return listed;
    const server = await recognize(client, endpoint, { ...limits, answer });
    return await backendOf(server?.server ?? null)?.vision?.(inquire(client, endpoint, { ...limits, list }), model);
  });
  return await orNull(found, signal) ?? null;
}

/**
 * Reads image input from the model list itself: OpenRouter (`architecture`), Mistral (`capabilities.vision`), LM
 * Studio's own list (`type`), llama.cpp (`capabilities` of `models[]`, which `data[]` does not have).
 */
function listedVision(list: ModelList, model: string): boolean | null {
  const entry = rawEntries(list.json).find((fields) => [fields["id"], fields["key"]].includes(model)) ?? {};
  return listsAny(fieldsOf(entry["architecture"])["input_modalities"], ["image"]) ??
    booleanOf(fieldsOf(entry["capabilities"])["vision"]) ??
    (entry["type"] === "vlm" ? true : null);
}

/**
 * Returns the form of calls that the chat template needs, and what the same answers tell besides; null where the server
 * does not report it within a second and a half. Makes no server load a model. Only the signal's reason is thrown.
 */
export async function findTemplate(
  client: HttpClient,
  endpoint: Endpoint,
  { model, signal }: { model: string; signal: AbortSignal },
): Promise<{ needs: TemplateNeeds | null; told: ModelFacts | null }> {
  const inquiry = inquire(client, endpoint, { timeoutMs: TEMPLATE_MS, signal });
  for (const { templateNeeds, facts } of BACKENDS) {
    const needs = await templateNeeds?.(inquiry, model) ?? null;
    if (needs !== null) return { needs, told: await facts?.(inquiry, model) ?? null };
  }
  return { needs: null, told: null };
}
