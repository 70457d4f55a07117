/**
 * The check of one provider: whether its key resolves, whether its server answers with a model list, and what else is
 * odd.
 */
import { baseUrlHint, effectiveBaseUrl, normalizeBaseUrl, RUNTIMES, STUDIO } from "../../config/base_url.ts";
import { endpointForCheck, findKey, keyAdvice, type ResolvedKey } from "../../config/endpoint.ts";
import type { StoreOutside } from "../../config/keys/store.ts";
import type { ModelEntry, ProviderEntry } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { fetchJson as askServer } from "../../provider/http/fetch_json.ts";
import { classify, wordsInRefusal } from "../../provider/chat/errors.ts";
import type { ModelAddress, ModelMetadata } from "../../provider/backends/model_metadata.ts";
import { fetchModelList, type ModelList } from "../../provider/backends/model_list.ts";
import { ResponseDecoder } from "../../provider/chat/response_decoder.ts";
import { serverErrorFromBody } from "../../provider/chat/server_error.ts";
import type { Endpoint } from "../../provider/types.ts";
import { listed } from "../../config/find.ts";
import type { ContextWindow, Recognized } from "../../provider/backends/backend.ts";
import { findWindows, inquire } from "../../provider/backends/inquiry.ts";
import { namesCloudModel } from "../../provider/backends/elsewhere.ts";
import { backendOf } from "../../provider/backends/backends.ts";
import { ollama } from "../../provider/backends/ollama.ts";
import { modelName } from "../init_providers/report.ts";
import { tokensText } from "./models.ts";

/** One line below the header of a provider. */
interface CheckLine {
  kind: "ok" | "error" | "warn" | "skip" | "try";
  text: string;
}

/** The result of one check. */
export interface ProviderCheck {
  name: string;
  /** `skipped`: the default block, which was never set up. */
  state: "ok" | "error" | "skipped";
  /** Null when the address cannot be used. */
  baseUrl: string | null;
  local: boolean;
  keySource: string;
  /** A parsed model list came, or the server refused the key. */
  reachable: boolean;
  /** The server that was recognized. */
  server: string | null;
  lines: CheckLine[];
}

/** The dependencies of a check. */
export interface CheckTools {
  client: HttpClient;
  env(name: string): string | undefined;
  isLocal(baseUrl: string): boolean;
  /** For keys that are stored. */
  stores?: StoreOutside;
  /** Reads the cached model metadata; absent where it is not reported. */
  readMetadata?(address: ModelAddress): Promise<ModelMetadata>;
  /** Longest wait for the model list, in milliseconds. */
  timeoutMs: number;
}

/** Checks one provider. What is wrong with it is in the result; only bugs throw. */
export async function checkProvider(provider: ProviderEntry, tools: CheckTools): Promise<ProviderCheck> {
  const check: ProviderCheck = {
    name: provider.name,
    state: "ok",
    baseUrl: null,
    local: false,
    keySource: "",
    reachable: false,
    server: null,
    lines: [],
  };
  try {
    check.baseUrl = effectiveBaseUrl(provider, tools.env);
    check.local = tools.isLocal(check.baseUrl);
    const key = await findKey(provider, tools);
    check.keySource = key.source;
    if (isUntouchedStudio(provider, { key, baseUrl: check.baseUrl })) {
      return { ...check, state: "skipped", lines: [{ kind: "skip", text: `${key.source.slice(4)} is not set` }] };
    }
    const endpoint = await endpointForCheck(provider, { env: tools.env, local: check.local, key });
    await askAll(check, { provider, endpoint, key, tools });
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    check.lines.push({ kind: "error", text: error.message });
    if (error.hint !== undefined) check.lines.push({ kind: "try", text: error.hint });
  }
  if (check.lines.some((line) => line.kind === "error")) check.state = "error";
  return check;
}

/** Returns whether this is the shipped entry, unchanged: no key, no model, the same address. */
function isUntouchedStudio(provider: ProviderEntry, { key, baseUrl }: { key: ResolvedKey; baseUrl: string }): boolean {
  const shipped = RUNTIMES.find((runtime) => runtime.id === STUDIO.id);
  return shipped !== undefined && provider.name === shipped.id && key.missing === true &&
    provider.apiKey === shipped.apiKey && provider.models.length === 0 && baseUrl === normalizeBaseUrl(shipped.baseUrl);
}

interface Asked {
  provider: ProviderEntry;
  endpoint: Endpoint;
  key: ResolvedKey;
  tools: CheckTools;
}

async function askAll(check: ProviderCheck, asked: Asked): Promise<void> {
  const { provider, endpoint, key, tools } = asked;
  const url = `${endpoint.baseUrl}/models`;
  const outcome = await withKeyChecked(await outcomeOf(tools, endpoint, provider.models[0]?.id), endpoint, tools);
  check.reachable = outcome.kind !== "failed";
  check.lines.push(keyLine(key, outcome, endpoint));
  if (outcome.kind === "failed") {
    check.lines.push({ kind: "error", text: `not reachable (${url}): ${outcome.reason}` });
    const hint = outcome.running ? outcome.hint ?? baseUrlHint(provider.baseUrl) : `is the server running? curl ${url}`;
    if (hint !== undefined) check.lines.push({ kind: "try", text: hint });
    return;
  }
  const answered = outcome.kind === "unlisted" ? `${endpoint.baseUrl}/chat/completions` : url;
  check.lines.push({ kind: "ok", text: `reachable (${answered})` });
  if (outcome.kind === "unlisted") {
    check.lines.push({ kind: "warn", text: `it does not list its models (${url}: HTTP ${outcome.status})` });
  }
  const isRefused = outcome.kind === "unauthorised";
  if (isRefused || key.problem !== undefined) {
    check.lines.push({ kind: "try", text: keyAdvice(provider.name, key.source, { isRefused }) });
  }
  if (outcome.kind === "list") {
    const { server, lines } = await furtherFindings(endpoint, { provider, list: outcome }, tools);
    check.server = server;
    check.lines.push(...lines);
  }
}

type Outcome =
  | ModelList
  /** The server answered that the key is wrong or missing. */
  | { kind: "unauthorised"; status: number; body: string }
  /** It gives no list, but it answers. */
  | { kind: "unlisted"; status: number }
  /** `running`: something answered, so that the question whether it runs is useless. */
  | { kind: "failed"; reason: string; running: boolean; hint?: string };

async function outcomeOf(
  { client, timeoutMs }: CheckTools,
  endpoint: Endpoint,
  model: string | undefined,
): Promise<Outcome> {
  try {
    const answer = await fetchModelList(client, endpoint, { timeoutMs });
    if (answer.kind === "list") return answer;
    const { status, text } = answer;
    // text-generation-webui and Jan refuse the name in the address like this, not the key.
    if (/invalid host header/i.test(text)) {
      const hint = "use 127.0.0.1 instead of a name in base_url";
      return { kind: "failed", reason: "it rejects the host name in the address", running: true, hint };
    }
    if (status === 401 || status === 403) return { kind: "unauthorised", status, body: text };
    if (status !== 503) {
      const chat = await tryChat(client, endpoint, { model, timeoutMs });
      if (chat?.status === 401 || chat?.status === 403) return { kind: "unauthorised", ...chat };
      if (chat !== null) return { kind: "unlisted", status };
      return { kind: "failed", reason: `HTTP ${status}`, running: true };
    }
    const hint = "wait until the model is loaded, then check again";
    return { kind: "failed", reason: `HTTP ${status}, a model may be loading`, running: true, hint };
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    // The client names provider and address; both are in the line already.
    const reason = /^cannot reach .*?: (.*)$/.exec(error.message)?.[1] ?? error.message;
    const silent = error.code === "provider_timeout" || /connection refused$/.test(reason);
    return { kind: "failed", reason, running: !silent, hint: error.hint };
  }
}

/** A public list proves no key: a server that may have one is asked where it checks the key. */
async function withKeyChecked(
  outcome: Outcome,
  endpoint: Endpoint,
  { client, timeoutMs }: Pick<CheckTools, "client" | "timeoutMs">,
): Promise<Outcome> {
  if (outcome.kind !== "list") return outcome;
  const recognized = await inquire(client, endpoint, { answer: outcome, limits: { timeoutMs } }).recognize();
  const path = backendOf(recognized?.server ?? null)?.guardedPath;
  if (path === undefined) return outcome;
  const asked = { path, atOrigin: true, limitBytes: 1024 * 1024, timeoutMs };
  const answer = await askServer(client, endpoint, asked).catch(() => null);
  const isRefused = answer?.status === 401 || answer?.status === 403;
  return isRefused ? { kind: "unauthorised", status: answer.status, body: answer.text } : outcome;
}

/** A reply of one token, or a refusal that only a model server gives; null for anything else. */
async function tryChat(
  client: HttpClient,
  endpoint: Endpoint,
  { model = "default", timeoutMs }: { model: string | undefined; timeoutMs: number },
): Promise<{ status: number; body: string } | null> {
  const messages = [{ role: "user", content: "hi" }];
  const body = JSON.stringify({ model, messages, max_tokens: 1, stream: false });
  const asked = { path: "/chat/completions", body, limitBytes: 1024 * 1024, timeoutMs };
  const answer = await askServer(client, endpoint, asked).catch(() => null);
  if (answer === null) return null;
  const { status, text } = answer;
  if (status === 401 || status === 403) return { status, body: text };
  const decoder = new ResponseDecoder({ whole: true });
  decoder.feed(new TextEncoder().encode(text));
  decoder.end();
  const isReply = status === 200 && decoder.finished;
  return isReply || classify(serverErrorFromBody(text), status) === "model" ? { status, body: text } : null;
}

function keyLine(key: ResolvedKey, outcome: Outcome, endpoint: Endpoint): CheckLine {
  if (key.problem !== undefined) return { kind: "error", text: `API key: ${key.problem}` };
  if (outcome.kind === "unauthorised") {
    const says = key.source === "local" || key.source === "none"
      ? "the server requires one"
      : `the server rejected the one from ${key.source}`;
    const words = wordsInRefusal(outcome.body, endpoint);
    return { kind: "error", text: `API key: ${says} (HTTP ${outcome.status})${words}` };
  }
  return { kind: "ok", text: `API key resolved via ${key.source}` };
}

/** Models that are named in one kind of warning before the rest is counted. */
const NAMED = 10;

/** Makes a few more small requests; whatever stays unknown is left out. */
async function furtherFindings(
  endpoint: Endpoint,
  { provider, list }: { provider: ProviderEntry; list: ModelList },
  { client, timeoutMs, readMetadata }: Pick<CheckTools, "client" | "timeoutMs" | "readMetadata">,
): Promise<{ server: string | null; lines: CheckLine[] }> {
  const inquiry = inquire(client, endpoint, { answer: list, limits: { timeoutMs } });
  const recognized = await inquiry.recognize();
  const server = recognized?.server ?? null;
  const served = new Set(list.models.map((model) => model.id));
  // Ollama takes a name without tag for the one tagged `latest`, and lists it with the tag.
  const isServed = ({ id }: ModelEntry) => served.has(id) || served.has(`${id}:latest`);
  const models = provider.models.filter(isServed);
  const windows = await findWindows(inquiry, server, models.map(({ id }) => id));
  const checked = (await Promise.all(models.map(async (model) => {
    const learnt = windows.has(model.id)
      ? null
      : (await readMetadata?.({ baseUrl: endpoint.baseUrl, model: model.id }))?.window ?? null;
    return windowLines(model, { found: windows.get(model.id), learnt });
  }))).flat();
  const gone = provider.models.filter((model) => !isServed(model)).map(({ id }) =>
    `${id} is configured but not served`
  );
  const lines: CheckLine[] = [
    ...(recognized === null ? [] : [{ kind: "ok" as const, text: `server recognized: ${recognized.label}` }]),
    ...(provider.models.length === 0 ? servedLines(provider, [...served]) : []),
    ...some("warn", gone),
    ...some("warn", checked.flatMap(({ kind, text }) => kind === "warn" ? [text] : [])),
    ...some("ok", checked.flatMap(({ kind, text }) => kind === "ok" ? [text] : [])),
    ...some("warn", elsewhere({ provider, endpoint, recognized })),
  ];
  return { server, lines };
}

/** The first lines of a kind; the rest is counted. */
function some(kind: "ok" | "warn", texts: readonly string[]): CheckLine[] {
  const lines = texts.slice(0, NAMED).map((text): CheckLine => ({ kind, text }));
  if (texts.length > NAMED) lines.push({ kind, text: `and ${texts.length - NAMED} more like this` });
  return lines;
}

/** Suggests served models to add: a server that requires a key could not be queried when its entry was written. */
function servedLines({ name }: ProviderEntry, ids: readonly string[]): CheckLine[] {
  const [first] = ids;
  if (first === undefined) return [{ kind: "warn", text: "it serves no models" }];
  return [
    { kind: "ok", text: `serves: ${listed(ids.map(modelName), NAMED)}` },
    { kind: "try", text: `agentcli providers model add ${name} ${modelName(first)}` },
  ];
}

/** The window that a model is used with, and where that is from; none where nothing is known of it. */
function windowLines(
  { id, contextWindow }: ModelEntry,
  { found, learnt }: { found: ContextWindow | undefined; learnt: number | null },
): CheckLine[] {
  const window = (text: string): CheckLine[] => [{ kind: "ok", text: `context window of ${id}: ${text}` }];
  if (contextWindow === undefined) {
    if (found !== undefined) return window(`${tokensText(found.tokens)}, from the server (${found.source})`);
    if (learnt === null) return [];
    return window(
      `${tokensText(learnt)}, learned from a rejected prompt; context_window in providers.yaml overrides it`,
    );
  }
  if (found === undefined || found.tokens === contextWindow) {
    return window(`${tokensText(contextWindow)}, from providers.yaml`);
  }
  const server = `the server provides ${tokensText(found.tokens)} (${found.source})`;
  return contextWindow > found.tokens
    ? [{ kind: "warn", text: `${id} is configured with ${tokensText(contextWindow)}, ${server}` }]
    : window(`${tokensText(contextWindow)}, from providers.yaml; ${server}`);
}

/** A local address does not mean a local model: what can be seen of that. */
function elsewhere(
  { provider, endpoint, recognized }: { provider: ProviderEntry; endpoint: Endpoint; recognized: Recognized | null },
): string[] {
  if (!endpoint.local || recognized === null || provider.local) return [];
  if (recognized.gateway) {
    return [
      `${recognized.label} passes requests on to other servers: it counts as remote unless its entry says local: true`,
    ];
  }
  if (recognized.server !== ollama.id) return [];
  return provider.models.filter(({ id }) => namesCloudModel(id))
    .map(({ id }) => `${id} runs in the cloud although the address is local: it counts as remote`);
}
