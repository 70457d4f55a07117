/** What a server that answers says beside its list: who it is, and where it disagrees with the configuration. */
import type { ProviderEntry } from "../../config/types.ts";
import type { HttpDoor } from "../../provider/http.ts";
import type { ModelList } from "../../provider/models.ts";
import { recognise, type Recognised } from "../../provider/recognise.ts";
import type { Endpoint } from "../../provider/types.ts";
import { findWindows } from "../../provider/window.ts";
import type { CheckLine } from "./check.ts";
import { tokensText } from "./model_text.ts";

/** Models that are named in one kind of warning before the rest is counted. */
const NAMED = 10;

/** What the findings start from. */
interface Known {
  provider: ProviderEntry;
  list: ModelList;
  timeoutMs: number;
}

/** Asks a few small questions more; whatever cannot be found out is left out. */
export async function furtherFindings(
  door: HttpDoor,
  endpoint: Endpoint,
  { provider, list, timeoutMs }: Known,
): Promise<{ server: string | null; lines: CheckLine[] }> {
  const recognised = await recognise(door, endpoint, { list, timeoutMs });
  const sized = provider.models.filter((model) => model.contextWindow !== undefined);
  const windows = sized.length === 0 ? new Map<string, { tokens: number }>() : await findWindows(door, endpoint, {
    models: sized.map((model) => model.id),
    server: recognised?.server ?? null,
    list,
    timeoutMs,
  });
  const tooLarge = sized.flatMap(({ id, contextWindow = 0 }) => {
    const real = windows.get(id)?.tokens ?? contextWindow;
    return contextWindow > real
      ? [`${id} is configured with ${tokensText(contextWindow)}, the server gives ${tokensText(real)}`]
      : [];
  });
  const lines: CheckLine[] = [
    ...(recognised === null ? [] : [{ kind: "ok" as const, text: `server recognised: ${recognised.label}` }]),
    ...warnings(notServed(provider, list)),
    ...warnings(tooLarge),
    ...warnings(elsewhere({ provider, endpoint, recognised })),
  ];
  return { server: recognised?.server ?? null, lines };
}

function warnings(texts: readonly string[]): CheckLine[] {
  const lines = texts.slice(0, NAMED).map((text): CheckLine => ({ kind: "warn", text }));
  if (texts.length > NAMED) lines.push({ kind: "warn", text: `and ${texts.length - NAMED} more like this` });
  return lines;
}

function notServed(provider: ProviderEntry, list: ModelList): string[] {
  const served = new Set(list.models.map((model) => model.id));
  return provider.models
    // Ollama takes a name without tag for the one tagged `latest`, and lists it with the tag.
    .filter(({ id }) => !served.has(id) && !served.has(`${id}:latest`))
    .map(({ id }) => `${id} is configured but not served`);
}

/** A local address does not mean a local model: what can be seen of that. */
function elsewhere(
  { provider, endpoint, recognised }: { provider: ProviderEntry; endpoint: Endpoint; recognised: Recognised | null },
): string[] {
  if (!endpoint.local || recognised === null || provider.local) return [];
  if (recognised.gateway) {
    return [
      `${recognised.label} passes requests on to other servers: it counts as remote unless its entry says local: true`,
    ];
  }
  if (recognised.server !== "ollama") return [];
  return provider.models.filter(({ id }) => /[:-]cloud$/i.test(id))
    .map(({ id }) => `${id} runs in the cloud although the address is local: it counts as remote`);
}
