/** Findings about a reachable server besides its model list: its identity, and differences from the configuration. */
import { listed } from "../../config/find.ts";
import type { ModelEntry, ProviderEntry } from "../../config/types.ts";
import type { ModelList } from "../../provider/backends/model_list.ts";
import { recognize, type Recognized } from "../../provider/backends/recognize.ts";
import type { Endpoint } from "../../provider/types.ts";
import type { ContextWindow } from "../../provider/backends/backend.ts";
import { findWindows, inquire } from "../../provider/backends/inquiry.ts";
import { namesCloudModel } from "../../provider/backends/elsewhere.ts";
import { ollama } from "../../provider/backends/ollama.ts";
import { modelName } from "../init_providers/report.ts";
import type { CheckLine, CheckTools } from "./check.ts";
import { tokensText } from "./models.ts";

/** Models that are named in one kind of warning before the rest is counted. */
const NAMED = 10;

/** Asks a few small questions more; whatever cannot be found out is left out. */
export async function furtherFindings(
  endpoint: Endpoint,
  { provider, list }: { provider: ProviderEntry; list: ModelList },
  { client, timeoutMs, readMetadata }: Pick<CheckTools, "client" | "timeoutMs" | "readMetadata">,
): Promise<{ server: string | null; lines: CheckLine[] }> {
  const recognized = await recognize(client, endpoint, { answer: list, timeoutMs });
  const server = recognized?.server ?? null;
  const served = new Set(list.models.map((model) => model.id));
  // Ollama takes a name without tag for the one tagged `latest`, and lists it with the tag.
  const isServed = ({ id }: ModelEntry) => served.has(id) || served.has(`${id}:latest`);
  const models = provider.models.filter(isServed);
  const windows = await findWindows(inquire(client, endpoint, { list, timeoutMs }), server, models.map(({ id }) => id));
  const told = (await Promise.all(models.map(async (model) => {
    const learnt = windows.has(model.id)
      ? null
      : (await readMetadata?.({ baseUrl: endpoint.baseUrl, model: model.id }))?.window ?? null;
    return windowLines(model, { found: windows.get(model.id), learnt });
  }))).flat();
  const gone = provider.models.filter((model) => !isServed(model)).map(({ id }) =>
    `${id} is configured but not served`
  );
  const lines: CheckLine[] = [
    ...(recognized === null ? [] : [{ kind: "ok" as const, text: `server recognized: ${recognized.label}` }]),
    ...(provider.models.length === 0 ? servedLines(provider, [...served]) : []),
    ...some("warn", gone),
    ...some("warn", told.flatMap(({ kind, text }) => kind === "warn" ? [text] : [])),
    ...some("ok", told.flatMap(({ kind, text }) => kind === "ok" ? [text] : [])),
    ...some("warn", elsewhere({ provider, endpoint, recognized })),
  ];
  return { server, lines };
}

/** The first lines of a kind; the rest is counted. */
function some(kind: "ok" | "warn", texts: readonly string[]): CheckLine[] {
  const lines = texts.slice(0, NAMED).map((text): CheckLine => ({ kind, text }));
  if (texts.length > NAMED) lines.push({ kind, text: `and ${texts.length - NAMED} more like this` });
  return lines;
}

/** Suggests served models to add: a server that requires a key could not be queried when its entry was written. */
function servedLines({ name }: ProviderEntry, ids: readonly string[]): CheckLine[] {
  const [first] = ids;
  if (first === undefined) return [{ kind: "warn", text: "it serves no models" }];
  return [
    { kind: "ok", text: `serves: ${listed(ids.map(modelName), NAMED)}` },
    { kind: "try", text: `agentcli providers model add ${name} ${modelName(first)}` },
  ];
}

/** The window that a model is used with, and where that is from; none where nothing is known of it. */
function windowLines(
  { id, contextWindow }: ModelEntry,
  { found, learnt }: { found: ContextWindow | undefined; learnt: number | null },
): CheckLine[] {
  const window = (text: string): CheckLine[] => [{ kind: "ok", text: `context window of ${id}: ${text}` }];
  if (contextWindow === undefined) {
    if (found !== undefined) return window(`${tokensText(found.tokens)}, from the server (${found.source})`);
    if (learnt === null) return [];
    return window(
      `${tokensText(learnt)}, learned from a rejected prompt; context_window in providers.yaml overrides it`,
    );
  }
  if (found === undefined || found.tokens === contextWindow) {
    return window(`${tokensText(contextWindow)}, from providers.yaml`);
  }
  const server = `the server provides ${tokensText(found.tokens)} (${found.source})`;
  return contextWindow > found.tokens
    ? [{ kind: "warn", text: `${id} is configured with ${tokensText(contextWindow)}, ${server}` }]
    : window(`${tokensText(contextWindow)}, from providers.yaml; ${server}`);
}

/** A local address does not mean a local model: what can be seen of that. */
function elsewhere(
  { provider, endpoint, recognized }: { provider: ProviderEntry; endpoint: Endpoint; recognized: Recognized | null },
): string[] {
  if (!endpoint.local || recognized === null || provider.local) return [];
  if (recognized.gateway) {
    return [
      `${recognized.label} passes requests on to other servers: it counts as remote unless its entry says local: true`,
    ];
  }
  if (recognized.server !== ollama.id) return [];
  return provider.models.filter(({ id }) => namesCloudModel(id))
    .map(({ id }) => `${id} runs in the cloud although the address is local: it counts as remote`);
}
