/** The failure of a model that the server does not have, with those that it has. */
import { modelHint } from "./errors.ts";
import type { ProviderFailure } from "../failure.ts";
import type { HttpClient } from "../http/client.ts";
import { listModels } from "../backends/model_list.ts";
import type { Endpoint } from "../types.ts";

/** How long the list is waited for, in milliseconds. */
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
