/**
 * Determines what a server's error is about, by tables, and turns it into a failure that a person can act on; never
 * names the key itself. Source: wire reference, §9 and §12. Texts are tested before the status: llama.cpp reports an
 * overflow as 500, others as 413 or 422.
 */
import { grouped } from "../../platform/number.ts";
import { keyAdvice } from "../../config/endpoint.ts";
import { listed } from "../../config/find.ts";
import { didYouMean } from "../../config/suggest.ts";
import { isRecord, type JsonRecord, parseJson } from "../../platform/record.ts";
import type { ErrorCode } from "../../errors.ts";
import type { QuirkKind } from "../backends/backend.ts";
import { BACKENDS } from "../backends/backends.ts";
import { type FailureKind, LONGEST_WAIT, ProviderFailure } from "../failure.ts";
import { type ServerError, serverErrorFromBody } from "./server_error.ts";
import { shownMessage } from "./shown_message.ts";
import type { Endpoint } from "../types.ts";
import type { HttpClient } from "../http/client.ts";
import { listModels } from "../backends/model_list.ts";
import { providerLabel } from "../../config/base_url.ts";

/** Kinds that a server itself can report. */
type ServerErrorKind = Exclude<
  FailureKind,
  "refused" | "unreachable" | "lost" | "timeout" | "invalid" | "empty"
>;

interface Signs {
  images: boolean;
  /** Message, type and code of the error, in one text. */
  text: string;
  status: number;
  error: ServerError;
}

/** Words of more than one server; those of one are in its file in `backends/`. Parts of regular expressions. */
const COMMON: Partial<Record<QuirkKind, readonly string[]>> = {
  context: [
    "context_length_exceeded",
    "exceeds? the (?:available |model's )?(?:maximum )?context",
    "prompt (?:is|contains) too (?:long|many)",
    "too many (?:input |prompt )?tokens",
  ],
  no_images: [
    "\\bsupport(?:s|ed|ing)? (?:for )?(?:image|vision)",
    "(?:image|vision)s? (?:input )?(?:is|are) not (?:supported|enabled|available)",
    "does not (?:accept|support|take|have) (?:multi-?modal|image|vision)",
    // OpenAI, and those that know only strings.
    "image_url",
  ],
  // Groq.
  tool_parse: ["tool_use_failed"],
  loading: ["warming"],
  model: ["model_not_found", "models? ['\"`]?[^ ]{0,200} (?:was )?not found"],
  // A chat template that cannot show what the request holds: some servers pass on what the template itself says.
  template: [
    "template",
    "single tool.calls",
    "roles must alternate",
    "roles? (?:is |are )?not supported",
    "only .{0,60}\\broles are supported",
  ],
};

const patterns = new Map<QuirkKind, RegExp>();

/** Returns whether a text has words of any server for this kind of error: which server it is may not be known. */
function mentions(text: string, kind: QuirkKind): boolean {
  let pattern = patterns.get(kind);
  if (pattern === undefined) {
    const parts = [...COMMON[kind] ?? [], ...BACKENDS.flatMap(({ errors }) => errors?.[kind] ?? [])];
    patterns.set(kind, pattern = new RegExp(parts.join("|"), "i"));
  }
  return pattern.test(text);
}

/** A picture that the server could not read. */
const BAD_IMAGE =
  /(?:load|decode|process|read|open|parse|identify|invalid|unsupported|corrupt\w*|bad)\W+(?:\w+\W+){0,2}images?\b|\bimages?\W+(?:\w+\W+){0,3}(?:invalid|corrupt|decode|unsupported)/i;

/** The first rule that holds gives the kind. */
const KINDS: readonly { kind: ServerErrorKind; when: (signs: Signs) => boolean }[] = [
  { kind: "context", when: ({ text }) => mentions(text, "context") },
  { kind: "cloud_disabled", when: ({ text, error }) => mentions(text, "cloud_disabled") || error.wantsSignIn },
  { kind: "no_tools", when: ({ text }) => mentions(text, "no_tools") },
  // Only where images were sent: words such as these mean something else otherwise.
  { kind: "no_images", when: ({ text, images }) => images && mentions(text, "no_images") },
  { kind: "bad_image", when: ({ text, images }) => images && BAD_IMAGE.test(text) },
  { kind: "tool_parse", when: ({ text }) => mentions(text, "tool_parse") },
  { kind: "request", when: ({ text }) => /invalid host header/i.test(text) },
  {
    kind: "quota",
    when: ({ status, text }) => status === 402 || /insufficient_quota|insufficient credits/i.test(text),
  },
  { kind: "loading", when: ({ status, text }) => status === 503 && mentions(text, "loading") },
  { kind: "model", when: ({ text }) => mentions(text, "model") },
  { kind: "auth", when: ({ status, text }) => status === 401 || status === 403 || /authentication_error/i.test(text) },
  { kind: "busy", when: ({ status }) => [408, 409, 425, 429, 498, 503, 529].includes(status) },
  // The content of the request makes the server fail: the same request fails again.
  { kind: "request", when: ({ text }) => mentions(text, "request") },
  { kind: "template", when: ({ text }) => mentions(text, "template") },
  { kind: "transient", when: ({ status }) => status >= 500 },
  { kind: "request", when: ({ status }) => status >= 400 },
  { kind: "stream", when: () => true },
];

/** Returns the kind of a server's error. `status`: 200 for an error inside a stream; `images`: the request had some. */
export function classify(
  error: ServerError,
  status: number,
  { images = false }: { images?: boolean } = {},
): ServerErrorKind {
  const text = [error.message, error.type, error.code].filter((part) => part !== null).join(" ");
  // Inside a stream the code of the error takes the place of the status.
  const inner = typeof error.code === "number" && error.code >= 400 && error.code < 600 ? error.code : status;
  const signs = { text, error, images, status: status < 400 ? inner : status };
  const kind = KINDS.find((rule) => rule.when(signs))?.kind ?? "stream";
  return kind === "transient" && status < 400 ? "stream" : kind;
}

interface Meaning {
  code: ErrorCode;
  /** Follows the provider's name. */
  text: (facts: Shown) => string;
  hint: (facts: Shown) => string;
}

interface Shown {
  endpoint: Endpoint;
  /** `HTTP 400`, or `in its stream`. */
  where: string;
  /** `: message`, cleaned, or empty. */
  message: string;
  model: string;
  status: number;
  error: ServerError;
  /** Texts of the request: no part of them is shown. */
  texts: readonly string[];
  /** The wait that the server requests, in milliseconds; 0 for none. */
  retryAfterMs: number;
}

/** The server's own numbers of an overflow, where it gave both and they say that it is one. */
function overflowOf({ promptTokens, contextWindow }: ServerError): string | null {
  if (promptTokens === null || contextWindow === null || promptTokens <= contextWindow) return null;
  return `: ${grouped(promptTokens)} tokens are more than its window of ${grouped(contextWindow)}`;
}

function waitText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

/** A failure that the server's own words describe best. */
function said(what: string, hint: string): Meaning {
  return { code: "provider_error", text: ({ where, message }) => `${what} (${where})${message}`, hint: () => hint };
}

const MEANINGS: Readonly<Record<ServerErrorKind, Meaning>> = {
  context: {
    code: "context_overflow",
    // Its own words name the same numbers, or others: of the reply, of the window it was trained with.
    text: ({ where, message, error }) =>
      `reports that the context window is full (${where})${overflowOf(error) ?? message}`,
    hint: () => "give the model a larger window on the server, or start with less: fewer files, a narrower question",
  },
  loading: {
    code: "provider_busy",
    text: ({ where }) => `is still loading the model (${where})`,
    hint: () => "wait until the model is loaded, then try again",
  },
  busy: {
    code: "provider_busy",
    text: ({ where, message, retryAfterMs }) =>
      `is busy (${where})${message}${
        retryAfterMs > LONGEST_WAIT ? `; it requests a wait of ${waitText(retryAfterMs)}` : ""
      }`,
    hint: ({ retryAfterMs }) =>
      retryAfterMs > LONGEST_WAIT
        ? `try again in ${waitText(retryAfterMs)}, or use another provider`
        : "try again in a moment",
  },
  auth: {
    code: "auth_failed",
    text: ({ where, endpoint, error, texts }) => keyRefused(endpoint, where) + wordsAboutKey(error, endpoint, texts),
    hint: ({ endpoint }) => keyAdvice(endpoint.provider, endpoint.keySource, { isRefused: true }),
  },
  model: {
    code: "unknown_model",
    text: ({ model, message }) => `has no model ${model}${message}`,
    hint: ({ endpoint, error, model }) => modelHint(error.message, { endpoint, model, served: null }),
  },
  quota: said("has no quota left", "check the plan and the balance there, or use another provider"),
  cloud_disabled: said(
    "runs this model only in its cloud, which is disabled or not signed in to",
    "choose a model that runs on this machine",
  ),
  no_tools: said(
    "does not support tool calling with this model",
    "set `tool_calls: text` for the model in providers.yaml",
  ),
  template: said(
    "has a chat template that cannot render this conversation",
    "give the server another chat template (llama-server: --chat-template-file), or choose another model",
  ),
  no_images: said(
    "does not support image input with this model",
    "choose a model with image input (llama-server needs its --mmproj), or leave the image out; " +
      "with `images: false` in providers.yaml none is sent",
  ),
  bad_image: said(
    "cannot read the image",
    "save the image as PNG or JPEG and try again: some servers support no other format",
  ),
  tool_parse: {
    code: "provider_error",
    text: ({ where }) => `could not read the model's tool call (${where})`,
    hint: () => "try again; if the error persists, set `tool_calls: text` for the model in providers.yaml",
  },
  request: {
    code: "provider_error",
    text: ({ where, message, status }) =>
      status === 413
        ? `rejected the size of the request (${where})${message}`
        : `refused the request (${where})${message}`,
    hint: ({ endpoint, status }) => {
      if (status === 413) {
        return "raise the request size limit of the server or the proxy in front of it, or start with less: " +
          "fewer files, a narrower question";
      }
      return new URL(endpoint.baseUrl).pathname === "/"
        ? "base_url has no path: most servers need one that ends in /v1"
        : "check base_url and `params` of the model: agentcli providers validate";
    },
  },
  transient: said("failed", "look at the server's log, then try again"),
  stream: said("reported an error", "look at the server's log, then try again"),
};

interface FailedRequest {
  endpoint: Endpoint;
  model: string;
  /** Of the response; 200 for an error inside a stream. */
  status: number;
  /** Texts of the request: no part of them is shown. */
  texts: readonly string[];
  images?: boolean;
  /** The wait that the server requests, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/** Returns the hint for a model that the server does not have; `served` are those that it has, null for unknown. */
function modelHint(
  message: string,
  { endpoint, model, served }: { endpoint: Endpoint; model: string; served: readonly string[] | null },
): string {
  const source = BACKENDS.find(({ fetchModel }) => fetchModel?.when.test(message))?.fetchModel;
  const fetched = source === undefined ? "" : `fetch it first: ${source.command(model)}; or `;
  if (served === null || served.length === 0) return `${fetched}see what it serves: curl ${endpoint.baseUrl}/models`;
  if (fetched !== "") return `${fetched}use one that it serves: ${listed(served)}`;
  const near = didYouMean(model, served.filter((id) => id !== model));
  return `${near === undefined ? "" : `${near} `}it serves: ${listed(served)}`;
}

/** Returns the failure for a server's error. */
export function serverFailure(error: ServerError, request: FailedRequest): ProviderFailure {
  const { status } = request;
  const kind = classify(error, status, request);
  const key = request.endpoint.key?.trim() ?? "";
  // An error may quote the data of an image: long runs of base64 are not a server's words.
  const words = request.images === true
    ? error.message.replace(/(?:data:image\/\w*;base64,)?[\w+/]{32,}={0,2}/g, "…")
    : error.message;
  const message = shownMessage(words, key === "" ? request.texts : [...request.texts, key]);
  const shown: Shown = {
    endpoint: request.endpoint,
    model: request.model,
    where: status >= 400 ? `HTTP ${status}` : "in its reply",
    message: message === "" ? "" : `: ${withoutKey(message, request.endpoint)}`,
    status,
    error,
    texts: request.texts,
    retryAfterMs: request.retryAfterMs ?? 0,
  };
  const meaning = MEANINGS[kind];
  return new ProviderFailure(meaning.code, `${providerLabel(request.endpoint.provider)} ${meaning.text(shown)}`, {
    kind,
    status,
    hint: meaning.hint(shown),
    retryAfterMs: request.retryAfterMs,
    ...(error.contextWindow === null ? {} : { contextWindow: error.contextWindow }),
    ...(error.promptTokens === null ? {} : { promptTokens: error.promptTokens }),
    ...(error.failedGeneration === null ? {} : { failedGeneration: error.failedGeneration }),
  });
}

function withoutKey(message: string, endpoint: Endpoint): string {
  const key = endpoint.key?.trim() ?? "";
  const bare = key.length >= 4 ? message.replaceAll(key, "…") : message;
  return bare.replace(/\bsk-[\w*.-]{4,}/g, "…");
}

type Given = Pick<Endpoint, "provider" | "key" | "keySource" | "configFile">;

/** Follows the provider's name: `refused the key (HTTP 401): literal in …/providers.yaml`. */
export function keyRefused(endpoint: Given, where: string): string {
  const { keySource, configFile } = endpoint;
  if (endpoint.key === undefined || endpoint.key === "") return `requires a key (${where})`;
  if (keySource === "local") return `requires a key (${where}): it was sent the local placeholder`;
  if (keySource === "literal") return `refused the key (${where}): literal in ${configFile ?? "providers.yaml"}`;
  return `refused the key (${where}): ${keySource}`;
}

/** Letters in a row that a word shares with a key only by being a part of it. */
const PIECE = 4;

/**
 * The server's own words about a key, to stand after {@link keyRefused}; empty where it has none. Beside what
 * {@link shownMessage} leaves out, every word is removed that has four letters in a row in common with the key or a
 * header, or in which the server itself left some out.
 */
function wordsAboutKey(
  error: ServerError,
  { key = "", headers }: Pick<Endpoint, "key" | "headers">,
  texts: readonly string[] = [],
): string {
  const secrets = [key, ...Object.values(headers)].map((secret) => secret.trim()).filter((secret) => secret !== "");
  const message = shownMessage(error.message, [...texts, ...secrets]);
  const pieces = new Set(secrets.flatMap((secret) => piecesOf(secret)));
  const shown = message.replace(/[^\s"'`,;()<>[\]{}]+/g, (word) => {
    const isPart = /\*{2}|\.{3}|\u2026|^sk-/.test(word) || piecesOf(word).some((piece) => pieces.has(piece));
    return isPart ? `\u2026${/[.:!?]*$/.exec(word)?.[0] ?? ""}` : word;
  });
  return shown === "" ? "" : `; the server says: ${shown}`;
}

/** {@link wordsAboutKey} of the body of a refusal. */
export function wordsInRefusal(body: string, endpoint: Pick<Endpoint, "key" | "headers">): string {
  return wordsAboutKey(serverErrorFromBody(body), endpoint);
}

function piecesOf(text: string): string[] {
  const folded = text.toLowerCase();
  if (folded.length <= PIECE) return [folded];
  return Array.from({ length: folded.length - PIECE + 1 }, (_, at) => folded.slice(at, at + PIECE));
}

/** Longest wait for the list, in milliseconds. */
const TIMEOUT = 2000;

/** The same failure; its hint names what the server lists, nearest first, where it does. Throws the signal's reason. */
export async function withServedModels(
  failure: ProviderFailure,
  client: HttpClient,
  { endpoint, model, signal }: { endpoint: Endpoint; model: string; signal: AbortSignal },
): Promise<ProviderFailure> {
  const list = await listModels(client, endpoint, { timeoutMs: TIMEOUT, signal }).catch(() => null);
  signal.throwIfAborted();
  const served = list?.models.map(({ id }) => id) ?? null;
  return failure.with({ hint: modelHint(failure.message, { endpoint, model, served }) });
}

/**
 * The JSON objects of an error response, which may be a list or a stream of events, each with the error that it holds.
 */
export function documentsIn(body: string): JsonRecord[] {
  const whole = parseJson(body);
  const values = whole === undefined
    ? body.split(/[\r\n]+/).map((line) => parseJson(line.replace(/^data:/, "")))
    : Array.isArray(whole)
    ? whole
    : [whole];
  return values.filter(isRecord).flatMap((value) => {
    const { error } = value;
    // Ollama puts JSON of the server behind it in a text.
    const inner = typeof error === "string" ? parseJson(error) : error;
    return isRecord(inner) ? [value, inner] : [value];
  });
}
