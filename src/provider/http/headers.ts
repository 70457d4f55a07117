/** Headers that are sent, and the heads of an HTTP/1.1 exchange. Source: RFC 9112, sections 2 to 6. */
import { AgentcliError } from "../../errors.ts";
import { ProviderFailure } from "../failure.ts";
import type { Endpoint } from "../types.ts";

/**
 * The headers to send. The key is trimmed; `withoutKey` leaves out the configured headers too, which may hold keys.
 * A key or header that cannot be sent is an error that does not print it (`auth_failed`, `config_invalid`).
 */
export function requestHeaders(
  endpoint: Endpoint,
  needs: { body?: unknown; withoutKey?: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (needs.body !== undefined) headers["content-type"] = "application/json";
  if (needs.withoutKey) return headers;
  const key = endpoint.key?.trim() ?? "";
  if (!/^[\x20-\x7e]*$/.test(key)) {
    throw new ProviderFailure(
      "auth_failed",
      `the key of ${endpoint.provider} (${endpoint.keySource}) holds characters that a header cannot carry`,
      { kind: "auth", hint: "set the key again: it may be cut, or hold a line break or a character that is not ASCII" },
    );
  }
  if (key !== "") headers["authorization"] = `Bearer ${key}`;
  for (const [name, value] of Object.entries(endpoint.headers)) {
    const trimmed = value.trim();
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed)) {
      throw new AgentcliError("config_invalid", `a header of ${endpoint.provider} cannot be sent`, {
        hint: "check `headers` of that provider: names are letters, digits and dashes, values one line",
      });
    }
    headers[name.toLowerCase()] = trimmed;
  }
  return headers;
}

/** Length of a body: a number of bytes, in chunks, or as long as the connection lasts. */
export type BodyLength = { kind: "bytes"; count: number } | { kind: "chunked" } | { kind: "rest" };

/** Headers as they came: names in lower case, what was said several times as one list. */
export type ReceivedHeaders = ReadonlyMap<string, string>;

export interface ResponseHead {
  status: number;
  headers: ReceivedHeaders;
  length: BodyLength;
}

/** Most bytes of a head. */
export const HEAD_LIMIT = 64 * 1024;

/** Thrown for anything but HTTP; its text never holds what the server sent. */
export class NoHttp extends Error {
  override readonly name = "NoHttp";
  constructor(what: "version" | "header" | "status" | "body") {
    super(`invalid HTTP ${what}`);
  }
}

/** Headers that say how the message is carried: configured ones would contradict them. */
const CARRIAGE = /^(?:connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** The head of a request; names and values must have been checked. The connection is for this request alone. */
export function requestHead(
  request: { method: string; url: URL; headers: Readonly<Record<string, string>> },
  bodyBytes: number | null,
): string {
  const { method, url, headers } = request;
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`];
  for (const [name, value] of Object.entries({ host: url.host, accept: "*/*", ...headers })) {
    if (!CARRIAGE.test(name)) lines.push(`${name}: ${value}`);
  }
  lines.push("connection: close");
  if (bodyBytes !== null) lines.push(`content-length: ${bodyBytes}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Returns the end of the head in `bytes` (the offset of the body), or -1. Lines may end in a line feed alone. */
export function headEnd(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return at + 2;
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 3;
  }
  return -1;
}

/** Reads a head (with its empty line). Throws {@link NoHttp}. */
export function readHead(bytes: Uint8Array): ResponseHead {
  const [first = "", ...lines] = latin1(bytes).split(/\r?\n/);
  const start = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/.exec(first);
  if (start === null) throw new NoHttp(/^HTTP\//.test(first) ? "status" : "version");
  const status = Number(start[1]);
  const headers = headersOf(lines);
  return { status, headers, length: lengthOf(status, headers) };
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** RFC 9110, sections 5.1 and 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

/** A map, not the runtime's `Headers`: the first of those costs 1 ms of the way to the first word of an answer. */
function headersOf(lines: readonly string[]): ReceivedHeaders {
  const headers = new Map<string, string>();
  for (const line of lines) {
    if (line === "") break;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (!NAME.test(name) || value.includes("\0") || value.includes("\r")) throw new NoHttp("header");
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** RFC 9112, section 6.3: a transfer coding counts before a length. */
function lengthOf(status: number, headers: ReceivedHeaders): BodyLength {
  if (status < 200 || status === 204 || status === 304) return { kind: "bytes", count: 0 };
  const coding = headers.get("transfer-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding === "chunked") return { kind: "chunked" };
  if (coding !== "identity") throw new NoHttp("header");
  const given = headers.get("content-length");
  if (given === undefined) return { kind: "rest" };
  // The same length twice comes as one list.
  const [one = "", ...others] = new Set(given.split(",").map((length) => length.trim()));
  const count = Number(one);
  if (others.length > 0 || !/^\d+$/.test(one) || !Number.isSafeInteger(count)) throw new NoHttp("header");
  return { kind: "bytes", count };
}
