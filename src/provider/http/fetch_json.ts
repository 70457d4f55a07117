/** Fetches JSON: one small request whose response is read whole, bounded in time and in size. */
import { AgentcliError } from "../../errors.ts";
import { after } from "../../platform/sleep.ts";
import type { HttpClient } from "./client.ts";
import type { ReceivedHeaders } from "./headers.ts";
import type { Endpoint } from "../types.ts";

/** Most that is read of an answer that is no success: enough to tell what refused. Bytes. */
const REFUSAL_LIMIT = 64 * 1024;

/** A JSON request: with a `body` a POST, else a GET. */
interface JsonRequest {
  path: string;
  /** `path` starts at the origin instead of the base URL. */
  atOrigin?: boolean;
  withoutKey?: boolean;
  /** JSON text. */
  body?: string;
  /** Most bytes of a successful answer; more is `invalid_reply`. */
  limitBytes: number;
  /** For everything together: connecting, waiting, reading. */
  timeoutMs: number;
  signal?: AbortSignal;
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
    const response = await client.send(endpoint, {
      method: body === undefined ? "GET" : "POST",
      path,
      ...(atOrigin === undefined ? {} : { atOrigin }),
      ...(withoutKey === undefined ? {} : { withoutKey }),
      ...(body === undefined ? {} : { body }),
      signal,
    });
    const { status, headers } = response;
    const success = status >= 200 && status < 300;
    // A refusal is told by its status; how long its body is changes nothing.
    const text = success
      ? await response.text(limitBytes)
      : await response.text(REFUSAL_LIMIT).catch(() => response.cancel().then(() => "").catch(() => ""));
    return { status, headers, text, json: parsed(text) };
  });
}

/** Runs `work` for at most `timeoutMs`; afterwards, or when the outer signal fires, its signal is aborted. */
export async function withDeadline<T>(
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs, signal: outer } = limits;
  outer?.throwIfAborted();
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  // Without a listener of its own a rejection after the race would be reported as unhandled.
  ended.promise.catch(() => {});
  const end = (reason: unknown) => {
    controller.abort(reason);
    ended.reject(reason);
  };
  const relay = () => end(outer?.reason);
  outer?.addEventListener("abort", relay, { once: true });
  const inTime = after(
    timeoutMs,
    () => end(new AgentcliError("provider_timeout", `no response within ${Math.round(timeoutMs)} ms`)),
  );
  try {
    return await Promise.race([work(controller.signal), ended.promise]);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    inTime();
    outer?.removeEventListener("abort", relay);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}
