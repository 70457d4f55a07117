/** The check of one provider: does its key resolve, does its server answer with a model list, and what else is odd. */
import { baseUrlHint, effectiveBaseUrl, normalizeBaseUrl, RUNTIMES, STUDIO } from "../../config/base_url.ts";
import { endpointForCheck, findKey, keyAdvice, type ResolvedKey } from "../../config/endpoint.ts";
import type { StoreOutside } from "../../config/keys/store.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { fetchJson as askServer } from "../../provider/http/fetch_json.ts";
import { classify } from "../../provider/chat/classify.ts";
import { wordsInRefusal } from "../../provider/chat/errors.ts";
import type { ModelAddress, ModelMetadata } from "../../provider/backends/model_metadata.ts";
import { fetchModelList, type ModelList } from "../../provider/backends/model_list.ts";
import { ResponseDecoder } from "../../provider/chat/response_decoder.ts";
import { serverErrorFromBody } from "../../provider/chat/server_error.ts";
import type { Endpoint } from "../../provider/types.ts";
import { furtherFindings } from "./findings.ts";

/** One line below the header of a provider. */
export interface CheckLine {
  kind: "ok" | "error" | "warn" | "skip" | "try";
  text: string;
}

/** The result of one check. */
export interface ProviderCheck {
  name: string;
  /** `skipped`: the block that is written for everybody and was never set up. */
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
  const outcome = await outcomeOf(tools, endpoint, provider.models[0]?.id);
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
  /** `running`: something answered, so that asking whether it runs is no help. */
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
    // The client names provider and address; both stand in the line already.
    const reason = /^cannot reach .*?: (.*)$/.exec(error.message)?.[1] ?? error.message;
    const silent = error.code === "provider_timeout" || /connection refused$/.test(reason);
    return { kind: "failed", reason, running: !silent, ...error.hint === undefined ? {} : { hint: error.hint } };
  }
}

/** A reply of one token, or a refusal that a server of models alone gives; null for anything else. */
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
