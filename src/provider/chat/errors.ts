/**
 * What a server's error means and what comes of it, as tables. Source: wire reference, §9 and §12.
 * Texts are tested before the status: llama.cpp reports an overflow as 500, others as 413 or 422.
 */
import { listed } from "../../config/find.ts";
import { didYouMean } from "../../config/suggest.ts";
import type { ErrorCode } from "../../errors.ts";
import type { QuirkKind } from "../backends/backend.ts";
import { BACKENDS } from "../backends/backends.ts";
import { type FailureKind, ProviderFailure } from "../failure.ts";
import { keyHint, keyRefused, wordsAboutKey } from "./key_words.ts";
import { LONGEST_WAIT } from "./retry.ts";
import { type ServerError, shownMessage } from "./server_error.ts";
import type { Endpoint } from "../types.ts";

/** Kinds that a server itself can report. */
export type ServerErrorKind = Exclude<
  FailureKind,
  "refused" | "unreachable" | "lost" | "timeout" | "invalid" | "empty"
>;

interface Signs {
  /** The request showed images. */
  images: boolean;
  /** Message, type and code of the error, in one text. */
  text: string;
  status: number;
  error: ServerError;
}

/** Words that no one server has for itself; those of one are in its file in `backends/`. Parts of regular expressions. */
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
    // OpenAI, and those that know strings alone.
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

/** Whether a text has words of any server for this kind of error: which server it is may not be known. */
function says(text: string, kind: QuirkKind): boolean {
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
  { kind: "context", when: ({ text }) => says(text, "context") },
  { kind: "cloud_disabled", when: ({ text, error }) => says(text, "cloud_disabled") || error.wantsSignIn },
  { kind: "no_tools", when: ({ text }) => says(text, "no_tools") },
  // Only where images were sent: words such as these mean something else otherwise.
  { kind: "no_images", when: ({ text, images }) => images && says(text, "no_images") },
  { kind: "bad_image", when: ({ text, images }) => images && BAD_IMAGE.test(text) },
  { kind: "tool_parse", when: ({ text }) => says(text, "tool_parse") },
  { kind: "request", when: ({ text }) => /invalid host header/i.test(text) },
  {
    kind: "quota",
    when: ({ status, text }) => status === 402 || /insufficient_quota|insufficient credits/i.test(text),
  },
  { kind: "loading", when: ({ status, text }) => status === 503 && says(text, "loading") },
  { kind: "model", when: ({ text }) => says(text, "model") },
  { kind: "auth", when: ({ status, text }) => status === 401 || status === 403 || /authentication_error/i.test(text) },
  { kind: "busy", when: ({ status }) => [408, 409, 425, 429, 498, 503, 529].includes(status) },
  // What the request holds makes the server fail: the same again fails again.
  { kind: "request", when: ({ text }) => says(text, "request") },
  { kind: "template", when: ({ text }) => says(text, "template") },
  { kind: "transient", when: ({ status }) => status >= 500 },
  { kind: "request", when: ({ status }) => status >= 400 },
  { kind: "stream", when: () => true },
];

/**
 * What an error of a server is about. `status` is that of the response, 200 for an error inside a stream; `images`: the
 * request showed some.
 */
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
  says: (facts: Shown) => string;
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
  /** Of the request: no piece of them is shown. */
  texts: readonly string[];
  /** How long it asks to wait, in milliseconds; 0 when it does not. */
  retryAfterMs: number;
}

/** The server's own numbers of an overflow, where it gave both and they say that it is one. */
function roomOf({ promptTokens, contextWindow }: ServerError): string | null {
  if (promptTokens === null || contextWindow === null || promptTokens <= contextWindow) return null;
  const number = (tokens: number) => tokens.toLocaleString("en-US");
  return `: ${number(promptTokens)} tokens are more than its window of ${number(contextWindow)}`;
}

function waitText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

const MEANINGS: Readonly<Record<ServerErrorKind, Meaning>> = {
  context: {
    code: "context_overflow",
    // Its own words name the same numbers, or others: of the reply, of the window it was trained with.
    says: ({ where, message, error }) => `has no room for this conversation (${where})${roomOf(error) ?? message}`,
    hint: () => "give the model a larger window on the server, or start with less: fewer files, a narrower question",
  },
  loading: {
    code: "provider_busy",
    says: ({ where }) => `is still loading the model (${where})`,
    hint: () => "wait until the model is loaded, then try again",
  },
  busy: {
    code: "provider_busy",
    says: ({ where, message, retryAfterMs }) =>
      `is busy (${where})${message}${retryAfterMs > LONGEST_WAIT ? `; it asks to wait ${waitText(retryAfterMs)}` : ""}`,
    hint: ({ retryAfterMs }) =>
      retryAfterMs > LONGEST_WAIT
        ? `try again in ${waitText(retryAfterMs)}, or use another provider`
        : "try again in a moment",
  },
  auth: {
    code: "auth_failed",
    says: ({ where, endpoint, error, texts }) => keyRefused(endpoint, where) + wordsAboutKey(error, endpoint, texts),
    hint: ({ endpoint }) => keyHint(endpoint),
  },
  model: {
    code: "unknown_model",
    says: ({ model, message }) => `has no model ${model}${message}`,
    hint: ({ endpoint, error, model }) => modelHint(error.message, { endpoint, model, served: null }),
  },
  quota: {
    code: "provider_error",
    says: ({ where, message }) => `has no quota left (${where})${message}`,
    hint: () => "check the plan and the balance there, or use another provider",
  },
  cloud_disabled: {
    code: "provider_error",
    says: ({ where, message }) => `would have run this model in its cloud, and did not (${where})${message}`,
    hint: () => "choose a model that runs on this machine",
  },
  no_tools: {
    code: "provider_error",
    says: ({ where, message }) => `takes no tools with this model (${where})${message}`,
    hint: () => "set `tool_calls: text` for the model in providers.yaml",
  },
  template: {
    code: "provider_error",
    says: ({ where, message }) => `has a chat template that cannot show this conversation (${where})${message}`,
    hint: () => "give the server another chat template (llama-server: --chat-template-file), or choose another model",
  },
  no_images: {
    code: "provider_error",
    says: ({ where, message }) => `takes no images with this model (${where})${message}`,
    hint: () =>
      "choose a model that sees images (llama-server needs its --mmproj), or leave the image out; " +
      "`images: false` in providers.yaml says so before it is tried",
  },
  bad_image: {
    code: "provider_error",
    says: ({ where, message }) => `cannot read the image (${where})${message}`,
    hint: () => "save the image as PNG or JPEG and try again: some servers read no other",
  },
  tool_parse: {
    code: "provider_error",
    says: ({ where }) => `could not read the model's tool call (${where})`,
    hint: () => "try again; if it stays, set `tool_calls: text` for the model in providers.yaml",
  },
  request: {
    code: "provider_error",
    says: ({ where, message, status }) =>
      status === 413
        ? `takes no request of this size (${where})${message}`
        : `refused the request (${where})${message}`,
    hint: ({ endpoint, status }) => {
      if (status === 413) {
        return "raise the size of requests that the server or the proxy before it takes, or start with less: " +
          "fewer files, a narrower question";
      }
      return new URL(endpoint.baseUrl).pathname === "/"
        ? "base_url has no path: most servers want one that ends in /v1"
        : "check base_url and `params` of the model: agentcli providers validate";
    },
  },
  transient: {
    code: "provider_error",
    says: ({ where, message }) => `failed (${where})${message}`,
    hint: () => "look at the server's log, then try again",
  },
  stream: {
    code: "provider_error",
    says: ({ where, message }) => `reported an error (${where})${message}`,
    hint: () => "look at the server's log, then try again",
  },
};

/** What was asked, for the failure's words. */
export interface Asked {
  endpoint: Endpoint;
  model: string;
  /** Of the response; 200 for an error inside a stream. */
  status: number;
  /** Texts of the request: no piece of them is shown. */
  texts: readonly string[];
  /** The request showed images. */
  images?: boolean;
  /** How long the server asks to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/** What to do about a model that the server does not have; `served` are those that it has, null where that is not known. */
export function modelHint(
  message: string,
  { endpoint, model, served }: { endpoint: Endpoint; model: string; served: readonly string[] | null },
): string {
  const source = BACKENDS.find(({ fetchModel }) => fetchModel?.when.test(message))?.fetchModel;
  const fetched = source === undefined ? "" : `fetch it first: ${source.command(model)}; or `;
  if (served === null || served.length === 0) return `${fetched}see what it serves: curl ${endpoint.baseUrl}/models`;
  if (fetched !== "") return `${fetched}use one that it serves: ${listed(served)}`;
  const near = didYouMean(model, served);
  return `${near === undefined ? "" : `${near} `}it serves: ${listed(served)}`;
}

/** The failure that a server's error amounts to. */
export function serverFailure(error: ServerError, asked: Asked): ProviderFailure {
  const { status } = asked;
  const kind = classify(error, status, asked);
  const key = asked.endpoint.key?.trim() ?? "";
  const shownError = asked.images === true ? withoutData(error) : error;
  const message = shownMessage(shownError, key === "" ? asked.texts : [...asked.texts, key]);
  const shown: Shown = {
    endpoint: asked.endpoint,
    model: asked.model,
    where: status >= 400 ? `HTTP ${status}` : "in its reply",
    message: message === "" ? "" : `: ${withoutKey(message, asked.endpoint)}`,
    status,
    error,
    texts: asked.texts,
    retryAfterMs: asked.retryAfterMs ?? 0,
  };
  const meaning = MEANINGS[kind];
  return new ProviderFailure(meaning.code, `${asked.endpoint.provider} ${meaning.says(shown)}`, {
    kind,
    status,
    hint: meaning.hint(shown),
    ...(asked.retryAfterMs === undefined ? {} : { retryAfterMs: asked.retryAfterMs }),
    ...(error.contextWindow === null ? {} : { contextWindow: error.contextWindow }),
    ...(error.promptTokens === null ? {} : { promptTokens: error.promptTokens }),
    ...(error.failedGeneration === null ? {} : { failedGeneration: error.failedGeneration }),
  });
}

/** An error may quote the data of an image: long runs of base64 are no words of a server. */
function withoutData(error: ServerError): ServerError {
  return { ...error, message: error.message.replace(/(?:data:image\/\w*;base64,)?[\w+/]{32,}={0,2}/g, "…") };
}

function withoutKey(message: string, endpoint: Endpoint): string {
  const key = endpoint.key?.trim() ?? "";
  const bare = key.length >= 4 ? message.replaceAll(key, "…") : message;
  return bare.replace(/\bsk-[\w*.-]{4,}/g, "…");
}
