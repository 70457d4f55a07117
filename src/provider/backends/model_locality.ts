/**
 * Where a model runs. A loopback address proves nothing by itself: Ollama passes cloud models on, and a gateway passes
 * everything on. Source: specification of the boundary, second design §2, and threats 87, 88, R8.
 */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, fieldsOf, type JsonResponse, membersOf } from "../http/fetch_json.ts";
import type { HttpClient } from "../http/client.ts";
import { type ModelList, readModelList } from "./model_list.ts";
import type { Endpoint } from "../types.ts";

/** Longest wait for all questions together, in milliseconds. */
const ASK_MS = 5_000;
/** How long an answer holds, in milliseconds: a restart of the server cannot be seen from here. */
const VALID_MS = 60_000;
/** Bytes of a model's description; templates and licenses are in it. */
const SHOW_LIMIT = 8 * 1024 * 1024;

/** Headers that hosted services add and a server of one's own does not; an unnamed gateway passes them on. */
const SERVICE_HEADERS =
  /^(?:cf-ray|openai-(?:organization|processing-ms|version)|x-openrouter-|anthropic-|x-groq-|x-goog-|x-amzn-|apim-request-id|x-ms-region|x-fireworks-|x-together-|(?:x-)?helicone-|x-vercel-|(?:x-)?mistral-|x-kong-|x-cloud-trace-context)/;

/** Where a model runs: proven to be here, or remote. */
export type ModelLocality =
  /** `doubt` is for people: something odd that decides nothing. */
  | { kind: "here"; doubt?: string }
  /** `reason` is a clause for messages: "gpt-oss:120b-cloud is a cloud model". */
  | { kind: "remote"; reason: string };

/** The model that is asked about. */
export interface LocatedModel {
  endpoint: Endpoint;
  /** As the server knows it. */
  model: string;
  /** The provider entry says `local: true`: the user's word for a server that cannot tell. */
  trusted: boolean;
}

/** Answers of one session. */
export interface LocalityCache {
  /**
   * Returns where the model runs. `here` takes an answer of the server to every question; no answer in time, or a
   * failure, is `remote` and is not kept. Throws only the signal's reason.
   */
  of(located: LocatedModel, signal?: AbortSignal): Promise<ModelLocality>;
  /** Forgets an address whose connection failed: another server may answer next. */
  forget(baseUrl: string): void;
}

/**
 * Returns whether a model's name says that Ollama runs it in its cloud: `x:cloud`, `x:120b-cloud`, `x-cloud:latest`, each
 * also with a digest behind it, in any case.
 */
export function namesCloudModel(model: string): boolean {
  return /[:-]cloud(?::latest)?(?:@.*)?$/i.test(model.trim());
}

/** Creates an empty cache. */
export function createLocalityCache(client: HttpClient, clock: { monotonic(): number }): LocalityCache {
  const known = new Map<string, { locality: ModelLocality; until: number; baseUrl: string }>();
  return {
    async of(located, signal) {
      const { endpoint, model, trusted } = located;
      if (!endpoint.local) return { kind: "remote", reason: `the address of ${endpoint.provider} is not local` };
      if (namesCloudModel(model)) return { kind: "remote", reason: `${model} is a cloud model by its name` };
      const name = JSON.stringify([endpoint.baseUrl, model, trusted]);
      const before = known.get(name);
      if (before !== undefined && before.until > clock.monotonic()) return before.locality;
      const { locality, certain } = await locate(client, located, signal);
      if (certain) known.set(name, { locality, until: clock.monotonic() + VALID_MS, baseUrl: endpoint.baseUrl });
      else known.delete(name);
      return locality;
    },
    forget(baseUrl) {
      for (const [name, entry] of known) if (entry.baseUrl === baseUrl) known.delete(name);
    },
  };
}

/** An answer to one question; null where the server gave none. */
type Told = ModelLocality | null;

async function locate(
  client: HttpClient,
  located: LocatedModel,
  signal: AbortSignal | undefined,
): Promise<{ locality: ModelLocality; certain: boolean }> {
  const { endpoint, model, trusted } = located;
  const asking = { timeoutMs: ASK_MS, limitBytes: SHOW_LIMIT, ...(signal === undefined ? {} : { signal }) };
  const get = (path: string, more: { atOrigin?: boolean; body?: string } = {}) =>
    answered(() => fetchJson(client, endpoint, { path, ...more, ...asking }), signal);
  const [shown, tagged, listed] = await Promise.all([
    get("/api/show", { atOrigin: true, body: JSON.stringify({ model }) }),
    get("/api/tags", { atOrigin: true }),
    get("/models"),
  ]);
  const words = [described(shown, model), tag(tagged, model)];
  // A server that refuses both questions with a status of its own is not Ollama.
  const isOther = shown !== null && tagged !== null;
  const told: Told[] = [
    words.find((word) => word?.kind === "remote") ?? words.find((word) => word !== null) ?? (isOther ? HERE : null),
    trusted ? HERE : await gateway(listed, { client, endpoint, asking }),
  ];
  const remote = told.find((one) => one?.kind === "remote");
  if (remote !== undefined) return { locality: remote ?? HERE, certain: true };
  if (told.every((one) => one !== null)) {
    const doubtful = told.find((one) => one?.kind === "here" && one.doubt !== undefined);
    return { locality: doubtful ?? HERE, certain: true };
  }
  // The user's word stands for a server that cannot tell.
  if (trusted) return { locality: HERE, certain: false };
  const reason = `the server of ${endpoint.provider} did not say in time where ${model} runs${unlessTrusted(endpoint)}`;
  return { locality: { kind: "remote", reason }, certain: false };
}

const HERE: ModelLocality = { kind: "here" };

function unlessTrusted({ provider }: Endpoint): string {
  return `; write \`local: true\` for ${provider} if all of its models run on machines of yours`;
}

/** Returns null for no answer. Only the signal's reason is thrown. */
async function answered(
  work: () => Promise<JsonResponse>,
  signal: AbortSignal | undefined,
): Promise<JsonResponse | null> {
  try {
    const answer = await work();
    return answer.status < 500 ? answer : null;
  } catch (error) {
    if (signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return null;
  }
}

/** Reads what Ollama says of a model; null for anything but a description. Other servers do not know the question. */
function described(answer: JsonResponse | null, model: string): Told {
  const fields = fieldsOf(answer?.json);
  if (namesRemote(fields)) return runsElsewhere(model);
  return "details" in fields || "model_info" in fields ? HERE : null;
}

/** Reads Ollama's list, which tells where a model runs too; null where the model is not in it. */
function tag(tags: JsonResponse | null, model: string): Told {
  const wanted = tagOf(model);
  const entry = membersOf(fieldsOf(tags?.json)["models"]).map(fieldsOf)
    .find((fields) =>
      [fields["name"], fields["model"]].some((name) => typeof name === "string" && tagOf(name) === wanted)
    );
  if (entry === undefined) return null;
  return namesRemote(entry) ? runsElsewhere(model) : HERE;
}

/** Returns the name as Ollama completes it. */
function tagOf(model: string): string {
  const name = model.trim().toLowerCase();
  return /:[^/]*$/.test(name) ? name : `${name}:latest`;
}

function namesRemote(fields: Record<string, unknown>): boolean {
  return [fields["remote_host"], fields["remote_model"]].some((value) => typeof value === "string" && value !== "");
}

function runsElsewhere(model: string): ModelLocality {
  return { kind: "remote", reason: `${model} stands for a model that Ollama runs elsewhere` };
}

async function gateway(
  answer: JsonResponse | null,
  { client, endpoint, asking }: {
    client: HttpClient;
    endpoint: Endpoint;
    asking: { timeoutMs: number; signal?: AbortSignal };
  },
): Promise<Told> {
  if (answer === null) return null;
  const list = listIn(answer);
  const { recognize } = await import("./recognize.ts");
  const server = await recognize(client, endpoint, { list, ...(list === null ? { refused: answer } : {}), ...asking });
  if (server?.gateway) {
    return { kind: "remote", reason: `${server.label} passes requests on to other servers${unlessTrusted(endpoint)}` };
  }
  if ([...answer.headers.keys()].some((name) => SERVICE_HEADERS.test(name))) {
    return { kind: "remote", reason: `the server answers with headers of a hosted service${unlessTrusted(endpoint)}` };
  }
  return answer.headers.has("via") ? { kind: "here", doubt: "a proxy stands before the server (header via)" } : HERE;
}

function listIn({ status, headers, json }: JsonResponse): ModelList | null {
  try {
    return status === 200 ? { models: readModelList(json), headers, body: json } : null;
  } catch (error) {
    if (error instanceof AgentcliError) return null;
    throw error;
  }
}
