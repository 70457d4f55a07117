/** How large does the server say the window is? */
import { AgentcliError } from "../../errors.ts";
import { listModels, type ModelList } from "../backends/model_list.ts";
import { findWindow } from "../backends/inquiry.ts";
import type { ClaimedWindow } from "./findings.ts";
import { type Reached, SMALL_TIMEOUT } from "./reach.ts";
import type { Subject } from "./subject.ts";

/** Asks after the first reply: what loads models on demand knows their window only then. */
export async function claimedWindow(
  subject: Subject,
  reached: Reached | null,
  options: { signal: AbortSignal },
): Promise<ClaimedWindow> {
  const window = await findWindow(subject.client, subject.endpoint, {
    model: subject.model,
    server: reached?.found.server?.server ?? null,
    list: await freshList(subject, reached, options.signal),
    timeoutMs: SMALL_TIMEOUT,
    signal: options.signal,
  });
  return { tokens: window?.tokens ?? null, source: window?.source ?? null };
}

/** The list again: routers know the window and the state of a model only once it is loaded. */
async function freshList(subject: Subject, reached: Reached | null, signal: AbortSignal): Promise<ModelList | null> {
  if (reached === null || reached.list === null) return null;
  try {
    return await listModels(subject.client, subject.endpoint, { timeoutMs: SMALL_TIMEOUT, signal });
  } catch (error) {
    if (signal.aborted || !(error instanceof AgentcliError)) throw error;
    return reached.list;
  }
}
