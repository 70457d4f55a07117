/** Reads a server's error in any of its many shapes. Source: wire reference, §6.3, §12.2. */
import { countOf, isRecord, type JsonRecord, parseJson, textOf } from "../../platform/record.ts";

/**
 * An error as the server gave it. `message` is bounded and one line, with {@link CONTROL} for control characters; never
 * shown without `shownMessage`.
 */
export interface ServerError {
  message: string;
  type: string | null;
  /** Number or word. */
  code: string | number | null;
  /** The request field it is about. */
  param: string | null;
  promptTokens: number | null;
  contextWindow: number | null;
  failedGeneration: string | null;
  /** The server wants the user to sign in at its maker's. */
  wantsSignIn: boolean;
}

/** Replaces control characters: no private server has them in its messages. */
export const CONTROL = "\0";
/** Characters of a message that are looked at. */
const MESSAGE_LIMIT = 2000;

/** The error that a JSON value is or holds; null when it is none. */
export function serverErrorIn(value: JsonRecord): ServerError | null {
  const { error } = value;
  const wantsSignIn = textOf(value["signin_url"]) !== null;
  if (isRecord(error)) return withSignIn(fromRecord(error), wantsSignIn);
  if (typeof error === "string") return withSignIn(fromText(error), wantsSignIn);
  // null, true and the like say that there is (no) error, but not which.
  if (error !== undefined && error !== null && error !== false) return fromText("unknown error");
  if (value["object"] === "error") return fromRecord(value);
  if (value["detail"] !== undefined && value["choices"] === undefined) return fromDetail(value["detail"]);
  return null;
}

/** The sign-in address is beside the error, or in it. */
function withSignIn(error: ServerError, wantsSignIn: boolean): ServerError {
  return wantsSignIn ? { ...error, wantsSignIn } : error;
}

/** The error of a value that came with `event: error`. */
export function serverErrorOf(value: JsonRecord): ServerError {
  return serverErrorIn(value) ?? fromRecord(value);
}

/** The error of a response body; plain text and HTML too. */
export function serverErrorFromBody(text: string): ServerError {
  const value = parseJson(text);
  if (isRecord(value)) return serverErrorIn(value) ?? fromRecord(value);
  if (Array.isArray(value) && isRecord(value[0])) return serverErrorOf(value[0]);
  if (typeof value === "string") return fromText(value);
  return fromText(/<\/?[a-z!][^<>]*>/i.test(text) ? "" : text);
}

function fromRecord(record: JsonRecord): ServerError {
  const inner = textOf(record["message"]) ?? textOf(record["msg"]) ?? textOf(record["error"]) ??
    textOf(record["status"]);
  if (inner === null && record["detail"] !== undefined) return fromDetail(record["detail"]);
  const code = record["code"];
  const nested = fromText(inner ?? "");
  return {
    ...nested,
    type: textOf(record["type"]) ?? nested.type,
    code: typeof code === "number" ? code : textOf(code) ?? nested.code,
    param: textOf(record["param"]) ?? nested.param,
    promptTokens: countOf(record["n_prompt_tokens"]) ?? nested.promptTokens,
    contextWindow: countOf(record["n_ctx"]) ?? nested.contextWindow,
    failedGeneration: textOf(record["failed_generation"]) ?? nested.failedGeneration,
    wantsSignIn: nested.wantsSignIn || textOf(record["signin_url"]) !== null,
  };
}

/** A text; Ollama puts JSON of the server behind it inside. */
function fromText(text: string): ServerError {
  const value = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  if (isRecord(value)) {
    const inner = serverErrorIn(value);
    if (inner !== null) return inner;
  }
  const message = cleaned(text);
  return {
    message,
    type: null,
    code: null,
    param: null,
    promptTokens: promptTokensIn(message),
    contextWindow: contextWindowIn(message),
    failedGeneration: null,
    wantsSignIn: false,
  };
}

/** Reads FastAPI's `detail`: a text, an object, or a list, of which only `loc` and `msg` are no echo of the request. */
function fromDetail(detail: unknown): ServerError {
  if (typeof detail === "string") return fromText(detail);
  if (isRecord(detail)) return fromRecord(detail);
  if (!Array.isArray(detail)) return fromText("");
  const parts = detail.slice(0, 3).filter(isRecord).map((each) => {
    const place = Array.isArray(each["loc"]) ? each["loc"].filter((step) => typeof step !== "object").join(".") : "";
    return `${place}: ${textOf(each["msg"]) ?? "not valid"}`;
  });
  return fromText(parts.join("; "));
}

function cleaned(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is removed
  const marked = text.slice(0, MESSAGE_LIMIT).replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f]+/g, CONTROL);
  return marked.replace(/\s+/g, " ").trim();
}

const WINDOW = /context (?:length|size|window)\D{0,24}?(\d{3,8})/i;
/** Anthropic's words, and FreeToken's: the second is what prompt and reply may have in total. */
const TOO_LONG = /prompt is too long: (\d+) tokens > (\d+)/i;
const PROMPT = [
  TOO_LONG,
  /you passed (\d+) input tokens/i,
  /request \((\d+) tokens\)/i,
  /prompt length (\d+)/i,
  /\((\d+) in the messages/i,
];

function contextWindowIn(message: string): number | null {
  const found = TOO_LONG.exec(message)?.[2] ?? WINDOW.exec(message)?.[1];
  return found === undefined ? null : Number(found);
}

function promptTokensIn(message: string): number | null {
  for (const pattern of PROMPT) {
    const found = pattern.exec(message)?.[1];
    if (found !== undefined) return Number(found);
  }
  return null;
}
