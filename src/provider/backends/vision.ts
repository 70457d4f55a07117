/**
 * Whether a model takes images, as its server tells it. One function a server; a server that does not tell gives null,
 * never a guess from the name of the model.
 */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, fieldsOf, membersOf, withDeadline } from "../http/fetch_json.ts";
import type { HttpClient } from "../http/client.ts";
import { fetchModelList, type ModelList, rawEntries } from "./model_list.ts";
import { recognize } from "./recognize.ts";
import type { Endpoint } from "../types.ts";

/** For all questions together, in milliseconds: they are asked once a session, when the first image comes. */
const SEARCH_MS = 2000;
/** Bytes of an answer; templates and licenses are in some. */
const ANSWER_LIMIT = 8 * 1024 * 1024;

/** What is asked of one server. */
interface Inquiry {
  model: string;
  list: ModelList | null;
  /** The JSON at `path` of the origin, or of the base URL; undefined when it cannot be had. With a body it is a POST. */
  get(path: string, more?: { atBase?: boolean; body?: string }): Promise<unknown>;
}

/**
 * Whether a model of a server sees images; null when the server does not tell, or not within two seconds. Makes no
 * server load a model. Only the signal's reason is thrown.
 */
export async function findVision(
  client: HttpClient,
  endpoint: Endpoint,
  options: { model: string; signal: AbortSignal },
): Promise<boolean | null> {
  const { model, signal } = options;
  return await attempt(signal, async () =>
    await withDeadline({ timeoutMs: SEARCH_MS, signal }, async (within) => {
      const bounded = { timeoutMs: SEARCH_MS, signal: within };
      const answer = await attempt(within, async () => await fetchModelList(client, endpoint, bounded));
      const list = answer?.kind === "list" ? answer.list : null;
      const listed = list === null ? null : listedVision(list, model);
      if (listed !== null) return listed;
      const refused = answer?.kind === "refused" ? { refused: answer.answer } : {};
      const server = await recognize(client, endpoint, { ...bounded, list, ...refused });
      const read = SOURCES[server?.server ?? ""];
      if (read === undefined) return null;
      const get: Inquiry["get"] = async (path, { atBase, body } = {}) => {
        const question = {
          path,
          atOrigin: atBase !== true,
          ...(body === undefined ? {} : { body }),
          limitBytes: ANSWER_LIMIT,
        };
        const got = await attempt(within, async () => await fetchJson(client, endpoint, { ...question, ...bounded }));
        return got?.status === 200 ? got.json : undefined;
      };
      return await read({ model, list, get });
    })) ?? null;
}

/** What `work` gives, or undefined for every failure of a server. */
async function attempt<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted || !(error instanceof AgentcliError)) throw error;
    return undefined;
  }
}

function truth(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** Whether a list of words has one that means images; null where there is no list. */
function names(value: unknown, words: readonly string[]): boolean | null {
  return Array.isArray(value) ? words.some((word) => value.includes(word)) : null;
}

/**
 * What the list of models itself says: OpenRouter (`architecture`), Mistral (`capabilities.vision`), LM Studio's own list
 * (`type`), llama.cpp (`capabilities` of `models[]`, which `data[]` does not have).
 */
function listedVision(list: ModelList, model: string): boolean | null {
  const entry = rawEntries(list.body).find((fields) => [fields["id"], fields["key"]].includes(model)) ?? {};
  return names(fieldsOf(entry["architecture"])["input_modalities"], ["image"]) ??
    truth(fieldsOf(entry["capabilities"])["vision"]) ??
    (entry["type"] === "vlm" ? true : null);
}

const SOURCES: Readonly<Record<string, (inquiry: Inquiry) => Promise<boolean | null>>> = {
  "llama.cpp": llamaCpp,
  ollama: async ({ model, get }) =>
    names(fieldsOf(await get("/api/show", { body: JSON.stringify({ model }) }))["capabilities"], ["vision"]),
  lmstudio: lmStudio,
  tabbyapi: async ({ get }) =>
    truth(fieldsOf(fieldsOf(await get("/model", { atBase: true }))["parameters"])["use_vision"]),
  koboldcpp: async ({ get }) => truth(fieldsOf(await get("/api/extra/version"))["vision"]),
  litellm: async ({ model, get }) => {
    const rows = membersOf(fieldsOf(await get("/model/info"))["data"]).map(fieldsOf);
    return truth(fieldsOf(rows.find((row) => row["model_name"] === model)?.["model_info"])["supports_vision"]);
  },
};

/** A router (its list has states) is asked by name, and not made to load the model. */
async function llamaCpp({ model, list, get }: Inquiry): Promise<boolean | null> {
  const isRouter = list?.models.some(({ state }) => state !== undefined) === true;
  const path = isRouter ? `/props?model=${encodeURIComponent(model)}&autoload=false` : "/props";
  const told = truth(fieldsOf(fieldsOf(await get(path))["modalities"])["vision"]);
  if (told !== null || isRouter) return told;
  // Servers before `modalities`: the list in the form of Ollama names what the model can do.
  const [entry] = membersOf(fieldsOf(list?.body)["models"]).map(fieldsOf);
  return names(entry?.["capabilities"], ["multimodal", "vision"]);
}

/** The older API has no capabilities; its type tells. */
async function lmStudio({ model, get }: Inquiry): Promise<boolean | null> {
  const newer = membersOf(fieldsOf(await get("/api/v1/models"))["models"]).map(fieldsOf);
  const entry = newer.find((fields) => fields["key"] === model || loadedAs(fields, model));
  const told = truth(fieldsOf(entry?.["capabilities"])["vision"]);
  if (told !== null) return told;
  const older = membersOf(fieldsOf(await get("/api/v0/models"))["data"]).map(fieldsOf);
  const type = older.find((fields) => fields["id"] === model)?.["type"];
  return type === "vlm" ? true : type === "llm" ? false : null;
}

function loadedAs(entry: Record<string, unknown>, model: string): boolean {
  return membersOf(entry["loaded_instances"]).some((instance) => fieldsOf(instance)["id"] === model);
}
