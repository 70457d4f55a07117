/** Choosing the model of a chat: at its first start, and while it runs. Loaded when one is chosen. */
import { productOf, providerLabel } from "../../../config/base_url.ts";
import { isLocalProvider, resolveEndpoint } from "../../../config/endpoint.ts";
import type { ProviderEntry } from "../../../config/types.ts";
import { asAgentcliError } from "../../../errors.ts";
import type { HttpClient } from "../../../provider/http/client.ts";
import { backendOf } from "../../../provider/backends/backends.ts";
import { findWindows, inquire } from "../../../provider/backends/inquiry.ts";
import { listModels, type ModelList } from "../../../provider/backends/model_list.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { tokensText } from "../../run/text_output.ts";
import { findProjectContext } from "../../../runtime/project_context.ts";
import type { Context } from "../../command.ts";
import { sessionLabel } from "../../../agent/labels.ts";
import { itemsBeforeProtected } from "../../../session/item.ts";
import { clean } from "../../../terminal/clean.ts";
import { row } from "../../../terminal/style.ts";
import { selectorOf } from "../../../runtime/agent_session.ts";
import { estimateOf } from "../../../agent/chat_request.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { costText } from "../view/activity.ts";
import type { CommandTarget } from "./commands.ts";
import { entryRows } from "../view/event_rows.ts";
import { defaultSelector, DEMO, modelName } from "../../../config/find.ts";
import { openHome } from "../../../platform/home.ts";
import { discover, type Discovered } from "../../../provider/backends/discovery.ts";
import type { Choice } from "../../../terminal/picker.ts";
import { mergeFound, setDefaultModel } from "../../init_providers/run.ts";
import { modelText as servedText } from "../../init_providers/report.ts";
import { modelText } from "../view/first_screen.ts";
import type { ChatView } from "../begin.ts";
import { withClient } from "../../result.ts";

/** Longest wait for a server, in milliseconds. */
const TIMEOUT_MS = 3000;

/** One model, or a server that does not answer (`id` null). */
interface OfferedModel {
  provider: string;
  id: string | null;
  /** Beside the name: how it is known, or what is wrong. */
  note: string;
}

/**
 * All providers are asked at the same time; configured models of a server that does not answer are listed too. Throws
 * the signal's reason.
 */
export async function offeredModels(context: Context, signal: AbortSignal): Promise<OfferedModel[]> {
  const { io } = context;
  const { configuration, localEndpoints } = await findProjectContext({ io, cwd: context.globals.cwd });
  const usual = defaultSelector(configuration);
  return await withClient(context, async (client) => {
    const ask = async (provider: ProviderEntry): Promise<OfferedModel[]> => {
      const local = isLocalProvider(provider, io, localEndpoints);
      const place = local ? "local" : "remote";
      const isDefault = (id: string) => usual?.provider === provider.name && usual.model === id;
      const offered = (id: string | null, note: string): OfferedModel => ({ provider: provider.name, id, note });
      try {
        const endpoint = await resolveEndpoint(provider, { env: io.env, local, stores: io });
        const limits = { timeoutMs: TIMEOUT_MS, signal };
        const list = await listModels(client, endpoint, limits);
        const notes = await modelNotes(client, endpoint, { list, provider, ...limits });
        return list.models.map(({ id }, at) => {
          const parts = [notes[at] ?? "", place, isDefault(id) ? "default" : ""];
          return offered(id, parts.filter((part) => part !== "").join(" · "));
        });
      } catch (error) {
        signal.throwIfAborted();
        const reason = asAgentcliError(error).message;
        const configured = provider.models.map(({ id }) => offered(id, `${place}, configured; ${reason}`));
        return configured.length > 0 ? configured : [offered(null, `${place}; ${reason}`)];
      }
    };
    return (await Promise.all(configuration.providers.map(ask))).flat();
  });
}

/** Models of one server that are looked up beyond its list. */
const MOST_MODELS = 200;

/** Quantization in the name of a model or of its file. */
const QUANTIZED =
  /(?:^|[-_.:/@])((?:UD-)?I?Q[1-8](?:_[A-Z0-9]+)*|[BF]F?16|FP8|MXFP4|NVFP4|AWQ|GPTQ|[48]bit)(?=$|[-_.:/@])/i;

/** Returns a note for each model of a server that answered, in their order. Throws only the signal's reason. */
async function modelNotes(
  client: HttpClient,
  endpoint: Endpoint,
  { list, provider, timeoutMs, signal }: {
    list: ModelList;
    provider: ProviderEntry;
    timeoutMs: number;
    signal: AbortSignal;
  },
): Promise<string[]> {
  const inquiry = inquire(client, endpoint, { answer: list, limits: { timeoutMs, signal } });
  const server = (await inquiry.recognize())?.server ?? null;
  const models = list.models.slice(0, MOST_MODELS).map(({ id }) => id);
  const [traits, windows] = await Promise.all([
    backendOf(server)?.traits?.(inquiry),
    findWindows(inquiry, server, models),
  ]);
  return list.models.map(({ id, state }) => {
    const entry = provider.models.find((model) => model.id === id);
    const { bytes, quantization, isLoaded, tools, vision } = traits?.get(id) ?? {};
    const window = entry?.contextWindow ?? windows.get(id)?.tokens;
    const loaded = state === undefined ? isLoaded : state === "loaded";
    return [
      bytes === undefined ? "" : sizeText(bytes),
      clean(quantization ?? QUANTIZED.exec(id)?.[1] ?? ""),
      window === undefined ? "" : `${tokensText(window)} window`,
      loaded === undefined ? "" : loaded ? "loaded" : "not loaded",
      tools === undefined ? "" : tools ? "tools" : "no tools",
      (vision ?? entry?.images) === true ? "vision" : "",
    ].filter((part) => part !== "").join(" · ");
  });
}

/** Bytes as people write sizes of models: `4.7 GB`. */
function sizeText(bytes: number): string {
  const gigabytes = bytes / 1e9;
  return gigabytes >= 1 ? `${gigabytes.toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}

/** The `/model` command. Throws what is wrong with a name. */
export async function switchModel(
  argument: string,
  { chat, view, context, signal }: Pick<CommandTarget, "chat" | "view" | "context" | "signal">,
): Promise<void> {
  const before = chat.opened === null ? null : selectorOf(chat.opened);
  const selector = argument === "" ? await chooseModel({ view, context, signal, current: before }) : argument;
  if (selector === null) return;
  const prepared = await view.during("changing the model", chat.setModel(selector));
  const { session } = prepared;
  if (session.model.local || sessionLabel(session) === "open") {
    if (selectorOf(prepared) !== before) printCost(prepared, view);
    view.print([row(`model: ${modelText(session.model)} (${session.model.local ? "local" : "remote"})`, "dim")]);
    return;
  }
  const kept = itemsBeforeProtected(session.items);
  view.print([
    row(
      `This session has read protected content, and ${clean(selector)} is remote, so it cannot continue there.`,
      "warning",
    ),
  ]);
  const choice = await view.pick({
    title: "What now?",
    choices: [
      { label: "stay with the local model", note: before ?? "" },
      { label: "fork before the protected content", note: `keeps ${kept} of ${session.items.length} items` },
    ],
  });
  if (choice === 1) {
    const forked = await view.during("forking the session", chat.forkOpen(selector));
    view.print([row(`a new session, model: ${modelText(forked.session.model)}; the other session is kept`, "dim")]);
  } else if (before !== null) {
    await view.during("going back", chat.setModel(before));
    view.print([row(`model: still ${clean(before)}`, "dim")]);
  }
}

/** Prints before the next turn what the server of another model has to read. */
function printCost({ session }: OpenSession, view: ChatView): void {
  if (session.items.length === 0) return;
  view.print([row(`  another model: ${costText(estimateOf(session), null)}`, "dim")]);
}

/** A model in a list, with the server's own name first. */
export function choiceOf({ provider, id, note }: OfferedModel): { label: string; note: string } {
  return { label: id === null ? providerLabel(provider) : modelText({ provider, entry: { id } }), note };
}

async function chooseModel(
  { view, context, signal, current }: Pick<CommandTarget, "view" | "context" | "signal"> & { current: string | null },
): Promise<string | null> {
  const offered = await view.during("asking the servers", offeredModels(context, signal));
  const models = offered.flatMap(({ provider, id, note }) => id === null ? [] : [{ provider, model: id, note }]);
  const choices = models.map(({ provider, model, note }) => {
    const label = `${provider}:${model}`;
    return { label, note: label === current ? `current · ${note}` : note };
  });
  choices.push({ label: "demo", note: "a fixed script, no language model" });
  const makeDefault = async (index: number) => {
    const chosen = models[index];
    if (chosen === undefined) return "that cannot be the default model";
    await setDefaultModel(await openHome(context.io), chosen);
    return `${clean(choices[index]?.label ?? "")} is the default model from now on`;
  };
  const title = "Which model? (type to search, Ctrl-S makes one the default)";
  const chosen = await view.pick({ title, choices, onSave: makeDefault });
  return choices[chosen ?? -1]?.label ?? null;
}

/** Milliseconds for one address. */
const TIMEOUT = 2000;

interface Offer {
  choice: Choice;
  /** Makes it the default model; returns its selector. */
  take(): Promise<string>;
}

/**
 * Returns the selector of the chosen model, which is now the default; null when none was. Throws configuration errors,
 * and the signal's reason.
 */
export async function chooseFirstModel(
  { view, context, signal }: { view: ChatView; context: Context; signal: AbortSignal },
): Promise<string | null> {
  const offers = await view.during("looking for model servers", findOffers(context, signal));
  if (offers.length === 0) {
    const columns = { column: 33, width: view.width() };
    view.print([
      row("No model server answers on the usual ports (11434, 1234, 8000, 8080), and none is configured."),
      ...entryRows("agentcli models suggest", "models that fit this machine", columns),
      ...entryRows("agentcli local-model serve --help", "start a server", columns),
      ...entryRows("agentcli providers add --help", "add one that listens elsewhere", columns),
      row("The demo needs no server: a script that reads files and answers with an outline of them.", "dim"),
    ]);
  }
  const demo: Offer = {
    choice: { label: "the demo", note: "no language model: a fixed script, to try things out" },
    take: () => Promise.resolve(DEMO),
  };
  const all = [...offers, demo];
  const chosen = await view.pick({ title: "Which model?", choices: all.map(({ choice }) => choice) });
  return await all[chosen ?? -1]?.take() ?? null;
}

async function findOffers(context: Context, signal: AbortSignal): Promise<Offer[]> {
  const home = await openHome(context.io);
  return await withClient(context, async (client) => {
    const [configured, found] = await Promise.all([
      offeredModels(context, signal),
      discover(client, { hosts: ["localhost"], timeoutMs: TIMEOUT, signal }),
    ]);
    const known = configured.flatMap((offered): Offer[] => {
      const { provider, id: model } = offered;
      return model === null ? [] : [{
        choice: choiceOf({ ...offered, id: modelName(model) }),
        take: async () => {
          await setDefaultModel(home, { provider, model });
          return `${provider}:${model}`;
        },
      }];
    });
    const fresh = found.filter(({ state }) => state === "serving").flatMap((server) =>
      server.models.map((model): Offer => ({
        choice: {
          label: `${nameOf(server)} · ${servedText({ ...model, id: modelName(model.id) })}`,
          note: `local, ${server.host}:${server.port}`,
        },
        take: async () => {
          const { plan } = await mergeFound(home, found, context.io);
          const provider = plan.names.get(server.baseUrl) ?? server.runtime ?? `port-${server.port}`;
          await setDefaultModel(home, { provider, model: model.id });
          return `${provider}:${model.id}`;
        },
      }))
    );
    return known.length > 0 ? known : fresh;
  });
}

/** The server's own name, else the one that its port suggests. */
function nameOf({ server, runtime, port }: Discovered): string {
  return clean(server?.label ?? "") || productOf(runtime ?? "") || `port ${port}`;
}
