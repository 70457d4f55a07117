/** Is the server there, what does it list, and which one is it? */
import { AgentcliError } from "../../errors.ts";
import { listModels, type ModelList } from "../backends/model_list.ts";
import { recognize } from "../backends/recognize.ts";
import type { Reachability } from "./findings.ts";
import type { Subject } from "./subject.ts";

/** Milliseconds for each of the small questions. */
export const SMALL_TIMEOUT = 10_000;

/** What was found, with the list for later checks. */
export interface Reached {
  found: Reachability;
  list: ModelList | null;
}

/**
 * Asks for the list and recognizes the server. A server that answers without giving a list is reachable all the same;
 * throws when nothing answers (`provider_unreachable`, `provider_timeout`) and when the key is refused (`auth_failed`).
 */
export async function reach(subject: Subject, signal: AbortSignal): Promise<Reached> {
  const { client, endpoint, clock, model } = subject;
  const started = clock.monotonic();
  const list = await listOrNull(subject, signal);
  const listMs = clock.monotonic() - started;
  const server = await recognize(client, endpoint, { list, timeoutMs: SMALL_TIMEOUT, signal });
  const listed = list === null ? null : list.models.some(({ id }) => id === model);
  return { found: { listMs, models: list?.models.length ?? null, listed, server }, list };
}

async function listOrNull(subject: Subject, signal: AbortSignal): Promise<ModelList | null> {
  try {
    return await listModels(subject.client, subject.endpoint, { timeoutMs: SMALL_TIMEOUT, signal });
  } catch (error) {
    const answered = error instanceof AgentcliError &&
      ["provider_error", "provider_busy", "invalid_reply"].includes(error.code);
    if (answered && !signal.aborted) return null;
    throw error;
  }
}
