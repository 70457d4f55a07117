/** Fetches JSON: one small request whose response is read whole, bounded in time and in size. */
import { AgentcliError } from "../../errors.ts";
import { parseJson } from "../../platform/record.ts";
import { after, orAborted } from "../../platform/sleep.ts";
import type { HttpClient, HttpRequest } from "./client.ts";
import type { ReceivedHeaders } from "./headers.ts";
import type { Endpoint } from "../types.ts";

/** Most that is read of an answer that is no success: enough to see who refused. Bytes. */
const REFUSAL_LIMIT = 64 * 1024;

/** How long a question may take: connecting, waiting and reading together. */
export interface Limits {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** A JSON request: with a `body` (JSON text) a POST, else a GET. */
interface JsonRequest extends Limits, Pick<HttpRequest, "path" | "atOrigin" | "withoutKey"> {
  body?: string | undefined;
  /** Most bytes of a successful answer; more is `invalid_reply`. */
  limitBytes: number;
}

/** The whole answer. `json` is undefined when the text is not JSON. */
export interface JsonResponse {
  status: number;
  headers: ReceivedHeaders;
  text: string;
  json: unknown;
}

/**
 * Asks and reads the answer, whatever its status. Throws the errors of the client (`provider_unreachable`, …),
 * `provider_timeout` when the time is up, `invalid_reply` when a success is too long, and the signal's reason.
 */
export async function fetchJson(client: HttpClient, endpoint: Endpoint, request: JsonRequest): Promise<JsonResponse> {
  const { path, atOrigin, withoutKey, body, limitBytes } = request;
  return await withDeadline(request, async (signal) => {
    const method = body === undefined ? "GET" : "POST";
    const response = await client.send(endpoint, { method, path, atOrigin, withoutKey, body, signal });
    const { status, headers } = response;
    const success = status >= 200 && status < 300;
    // A refusal is recognized by its status, however long its body is.
    const text = success
      ? await response.text(limitBytes)
      : await response.text(REFUSAL_LIMIT).catch(() => response.cancel().then(() => "").catch(() => ""));
    return { status, headers, text, json: parseJson(text.replace(/^\uFEFF/, "")) };
  });
}

/**
 * Returns what `work` gives, or null where the server is not there, slow, or unreadable. Throws the signal's reason,
 * and bugs.
 */
export async function orNull<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return null;
  }
}

/** Runs `work` for at most `timeoutMs`; afterwards, or when the outer signal fires, its signal is aborted. */
export async function withDeadline<T>(limits: Limits, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { timeoutMs, signal: outer } = limits;
  outer?.throwIfAborted();
  const late = new AbortController();
  const inTime = after(
    timeoutMs,
    () => late.abort(new AgentcliError("provider_timeout", `no response within ${Math.round(timeoutMs)} ms`)),
  );
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
  try {
    return await orAborted(work(signal), signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    inTime();
  }
}
