/**
 * Asks a server what it is, from its model list first, then by at most two further requests; and about its models:
 * windows, image input, and the needs of a chat template.
 */
import { once } from "../../platform/sleep.ts";
import type { HttpClient } from "../http/client.ts";
import { fetchJson, type Limits, orNull, withDeadline } from "../http/fetch_json.ts";
import { fieldsOf } from "../../platform/record.ts";
import { portOf } from "../../platform/text.ts";
import type { Endpoint } from "../types.ts";
import {
  type Backend,
  booleanOf,
  type Facts,
  type Inquiry,
  listsAny,
  type ModelFacts,
  type Probe,
  type Recognized,
  type Windows,
  windowsOf,
} from "./backend.ts";
import { backendOf, BACKENDS } from "./backends.ts";
import { fetchModelList, listModels, type ModelList, type ModelListResponse, rawEntries } from "./model_list.ts";
import type { TemplateNeeds } from "./model_metadata.ts";

/** Bytes of an answer; templates and licenses are in some. */
const ANSWER_LIMIT = 8 * 1024 * 1024;
/** For everything about images, in milliseconds: requested once a session, with the first image. */
const VISION_MS = 2000;
/** For everything about a template, in milliseconds: a reply is waiting to be shown. */
const TEMPLATE_MS = 1500;

/** Begins an inquiry; `answer` is the server's answer to the request for its list. The limits are for each question. */
export function inquire(
  client: HttpClient,
  endpoint: Endpoint,
  { answer = null, limits }: { answer?: ModelListResponse | null; limits: Limits },
): Inquiry {
  const ask = async (path: string, { atBase, body }: { atBase?: boolean; body?: string } = {}) => {
    const request = { path, atOrigin: atBase !== true, body, limitBytes: ANSWER_LIMIT, ...limits };
    const found = await orNull(fetchJson(client, endpoint, request), limits.signal);
    return found?.status === 200 ? found.json : undefined;
  };
  const answers = new Map<string, Promise<unknown>>();
  return {
    list: answer?.kind === "list" ? answer : null,
    fetchList: () => orNull(listModels(client, endpoint, limits), limits.signal),
    recognize: once(() => recognize(client, endpoint, { answer, limits })),
    get(path, more = {}) {
      if (more.body !== undefined) return ask(path, more);
      const key = `${more.atBase === true} ${path}`;
      const known = answers.get(key) ?? ask(path, more);
      answers.set(key, known);
      return known;
    },
  };
}

/** Questions beyond the list. */
const PROBE_COUNT = 2;
/** Bytes of their answers. */
const PROBE_LIMIT = 64 * 1024;

async function recognize(
  client: HttpClient,
  endpoint: Endpoint,
  { answer, limits }: { answer: ModelListResponse | null; limits: Limits },
): Promise<Recognized | null> {
  const facts = factsOf(endpoint, answer);
  const shown = BACKENDS.find(({ owners, shows }) =>
    owners?.some((owner) => facts.owners.has(owner)) === true || shows?.(facts) === true
  );
  if (shown !== undefined) return recognized(shown);
  // Hosts on the internet are services, not one of these servers: no further request.
  if (endpoint.baseUrl.startsWith("https:") && !endpoint.local) return null;
  const proofs = await Promise.all(
    suspects(facts).map(async (backend) => {
      const request = {
        path: backend.probe.path,
        atOrigin: true,
        withoutKey: true,
        limitBytes: PROBE_LIMIT,
        ...limits,
      };
      const proof = await orNull(fetchJson(client, endpoint, request), limits.signal);
      return proof !== null && backend.probe.proves(proof) ? recognized(backend) : null;
    }),
  );
  return proofs.find((proof) => proof !== null) ?? null;
}

function recognized(backend: Backend): Recognized {
  return { server: backend.id, label: backend.label, gateway: backend.gateway === true };
}

function factsOf(endpoint: Endpoint, answer: ModelListResponse | null): Facts {
  const models = answer?.kind === "list" ? answer.models : [];
  return {
    port: portOf(new URL(endpoint.baseUrl)),
    headers: answer?.headers ?? new Map(),
    owners: new Set(models.flatMap(({ owner }) => owner === null ? [] : [owner.toLowerCase()])),
    entries: answer?.kind === "list" ? rawEntries(answer.json) : [],
    body: answer?.json,
    refused: answer?.kind === "refused" ? answer.status : null,
    text: answer?.text ?? "",
  };
}

type ProbedBackend = Backend & { probe: Probe };

/** The servers worth a question: those of the port first, then those that the facts speak for. */
function suspects(facts: Facts): ProbedBackend[] {
  const probed = BACKENDS.filter((backend): backend is ProbedBackend => backend.probe !== undefined);
  const usual = probed.filter(({ ports }) => ports.includes(facts.port));
  const further = probed.filter((backend) => !usual.includes(backend) && backend.probe.suspected?.(facts) === true);
  return [...usual, ...further].slice(0, PROBE_COUNT);
}

/**
 * Returns the windows of models in one batch; those that the server does not report are absent. Loads no model. Throws
 * only the signal's reason.
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
    const inquiry = inquire(client, endpoint, { answer, limits });
    const listed = inquiry.list === null ? null : listedVision(inquiry.list, model);
    if (listed !== null) return listed;
    const server = await inquiry.recognize();
    return await backendOf(server?.server ?? null)?.vision?.(inquiry, model);
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
 * Returns the form of calls that the chat template needs, and what the same answers say besides; null where the server
 * does not report it within a second and a half. Makes no server load a model. Only the signal's reason is thrown.
 */
export async function findTemplate(
  client: HttpClient,
  endpoint: Endpoint,
  { model, signal }: { model: string; signal: AbortSignal },
): Promise<{ needs: TemplateNeeds | null; facts: ModelFacts | null }> {
  const inquiry = inquire(client, endpoint, { limits: { timeoutMs: TEMPLATE_MS, signal } });
  for (const { templateNeeds, facts } of BACKENDS) {
    const needs = await templateNeeds?.(inquiry, model) ?? null;
    if (needs !== null) return { needs, facts: await facts?.(inquiry, model) ?? null };
  }
  return { needs: null, facts: null };
}
