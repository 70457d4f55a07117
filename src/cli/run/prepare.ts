/** From options to a session that can run: model chosen, server addressed, project opened, tools and rules selected. */
import { baseBytes } from "../../agent/chat_request.ts";
import { openContentNet } from "../../agent/content_net.ts";
import { connectServer } from "../../agent/connected_server.ts";
import { ASSUMED_WINDOW, replyLimit } from "../../agent/limits.ts";
import { profileFor } from "../../agent/profile.ts";
import type { ToolProtocol } from "../../agent/context_state.ts";
import { carryOver, restoredSystem, restoreSession } from "../../agent/restore.ts";
import { UNKNOWN_SERVER } from "../../agent/server.ts";
import { createSession, type Session, sessionLabel, type SessionModel } from "../../agent/session.ts";
import { buildSystemPrompt } from "../../agent/system_prompt.ts";
import { byteLength } from "../../agent/tokens.ts";
import type { AskModel } from "../../agent/turn.ts";
import { findMarkers, type MarkerState } from "../../boundary/marker.ts";
import { createSessionMask } from "../../boundary/mask/session_mask.ts";
import { isLocal } from "../../boundary/locality.ts";
import { findProjectRoot } from "../../boundary/project.ts";
import type { Workspace } from "../../boundary/workspace.ts";
import { openWorkspace } from "../../boundary/workspace_disk.ts";
import { effectiveBaseUrl, resolveEndpoint } from "../../config/endpoint.ts";
import { loadConfiguration } from "../../config/load.ts";
import { selectModel, type ServedModels } from "../../config/select.ts";
import type { Configuration, ModelEntry, ProviderEntry, Selection } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { resolve } from "../../platform/path.ts";
import { chat } from "../../provider/chat.ts";
import { type HttpDoor, openDoor } from "../../provider/http.ts";
import type { ModelKnowledge } from "../../provider/known_models.ts";
import { listModels } from "../../provider/models.ts";
import { openPlacements, type PlacedModel } from "../../provider/placement.ts";
import type { Endpoint } from "../../provider/types.ts";
import type { SessionContext } from "../../session/line.ts";
import type { StoredSession } from "../../session/load.ts";
import type { UndoStore } from "../../session/undo.ts";
import { clean } from "../../terminal/clean.ts";
import { offersGit } from "../../tools/git/offer.ts";
import { type Profile, profileTools } from "../../tools/profile.ts";
import { builtinTools, readRules, selectTools } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Values } from "../option.ts";
import { configuredRules } from "../permission_settings.ts";
import type { Context } from "../verb.ts";
import { clientModel } from "./client_model.ts";
import { askHere } from "./ask_here.ts";
import { findCompactModel, knowServer } from "./find_server.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { splitRules } from "./rules.ts";
import type { SessionStore, StorePlace } from "./store.ts";
import { createUndo, turnOf } from "./undo.ts";
import type { RUN_OPTIONS } from "./verb.ts";

/** A session ready for its next turn. */
export interface Prepared {
  session: Session;
  model: AskModel;
  recorder: Recorder;
  /** What the session's changes to files replaced. */
  undo: () => Promise<UndoStore>;
  /** Absolute path of the transcript; null where none is written. */
  transcriptFile: string | null;
  /** For stderr. */
  notices: string[];
  /** Ends what was opened for the session: connections, the demo server, its transcript. */
  close(): Promise<void>;
  /** {@link Prepared.close} but for the transcript, which a session with another model goes on writing. */
  release(): Promise<SessionStore>;
}

/** What a session has besides the options. */
export interface PrepareExtras {
  /** Tools besides the built-in ones. */
  tools?: readonly Tool[];
  /** The session to go on with in this process; its connections are closed. */
  previous?: Prepared;
  /** Models are named as clients of the protocol name them. */
  clientNames?: boolean;
  /** Puts itself around the workspace, for instance to keep what tools replace. */
  workspace?(opened: Workspace): Workspace;
}

/** How long the server's list of models is waited for when a model is not configured, in milliseconds. */
const LIST_TIMEOUT_MS = 5000;

/** Prepares a session. Throws configuration, usage and policy errors; leaves nothing open then. */
export async function prepare(
  options: Values<typeof RUN_OPTIONS>,
  context: Context,
  extras: PrepareExtras = {},
): Promise<Prepared> {
  const { io, globals } = context;
  const { previous } = extras;
  const carried = previous === undefined ? null : await previous.release();
  const home = await openHome(io);
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const [configuration, project] = await Promise.all([
    loadConfiguration(home),
    findProjectRoot(globals.cwd, userHome).then(async (root) => ({ root, markers: await findMarkers(root) })),
  ]);
  const door = openDoor(io);
  const opened: (() => Promise<void>)[] = [() => Promise.resolve(door.close())];
  let storing: Promise<SessionStore> | null = carried === null ? null : Promise.resolve(carried);
  const release = async () => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  const close = async () => {
    const transcript = (await storing?.catch(() => null))?.transcript;
    await release();
    await transcript?.close();
  };
  try {
    const wanted = extras.clientNames ? { ...options, model: clientModel(options.model, configuration) } : options;
    const chosen = await choose(wanted, context, { configuration, door, markers: project.markers });
    const demo = await demoFor(chosen.selection, opened);
    const { provider, model: entry } = chosen.selection;
    const endpoint = await endpointOf(provider, context, project.markers);
    const know = (): Promise<ModelKnowledge> =>
      demo === null
        ? knowServer({
          io,
          quiet: globals.quiet,
          home,
          door,
          endpoint,
          entry,
          later: (work) => opened.push(() => work),
        })
        : Promise.resolve({ window: demo.contextWindow });
    const open = () =>
      openWorkspace({
        root: project.root,
        additional: options.addDir.map((directory) => resolve(globals.cwd, directory)),
        cwd: globals.cwd,
        home: home.path,
        userHome,
        markers: project.markers,
        provider: { local: endpoint.local, name: provider.name, baseUrl: endpoint.baseUrl },
      });
    const isProtected = project.markers.paths.length > 0;
    storing ??= storeOf(options, context, { home, projectRoot: project.root, isProtected, model: entry.id });
    // Its failure is told where it is waited for.
    storing.catch(() => {});
    // A server elsewhere hears nothing before the project is known to allow it.
    const [opening, known] = endpoint.local ? await Promise.all([open(), know()]) : [await open(), await know()];
    const workspace = extras.workspace?.(opening) ?? opening;
    const store = await storing;
    const stored = carried === null ? store.stored : null;
    const before = stored !== null && stored.model === entry.id ? stored.context : null;
    const model = sessionModel({ provider, model: entry }, { endpoint, known, options });
    const toolProtocol = entry.toolCalls ?? storedProtocol(before) ?? known.toolCalls ?? "native";
    const knownWindow = model.windowSource === "assumed" ? undefined : model.contextWindow;
    const profile = profileFor(knownWindow);
    const git = await offersGit(workspace);
    const offered = toolProtocol === "none" ? [] : offeredTools(options, { profile, entry, git });
    const tools = toolProtocol === "none" ? [] : [...offered, ...extras.tools ?? []];
    const system = await buildSystemPrompt(workspace, {
      replace: options.systemPrompt,
      append: options.appendSystemPrompt,
      os: io.os,
      text: tools.length === 0 ? "plain" : profile,
      window: knownWindow,
    });
    const placements = openPlacements(door, io.clock);
    const onlyHere = (asking: AskModel, placed: PlacedModel) =>
      askHere(asking, { placements, placed, label: () => sessionLabel(session) });
    const undo = previous?.undo ?? createUndo(options.noSessionPersistence ? null : home, store, io);
    const session: Session = createSession({
      id: store.id,
      keepPrevious: async (change) => (await undo()).record({ ...change, turn: turnOf(session, store) }),
      system: restoredSystem(system, before, [options.systemPrompt, options.appendSystemPrompt]),
      workspace,
      tools,
      model,
      toolProtocol,
      server: demo !== null ? UNKNOWN_SERVER : connectServer({
        door,
        endpoint,
        model: entry.id,
        home,
        clock: io.clock,
        known,
        findCompactModel: () =>
          findCompactModel({
            io,
            door,
            configuration,
            session: provider,
            protectedProject: isProtected,
            servedModels: servedBy(context, { door, markers: project.markers }),
            endpointOf: (side) => endpointOf(side, context, project.markers),
            onlyHere,
          }),
      }),
      policy: policyOf(options, configuration),
      net: openContentNet(workspace),
      mask: createSessionMask({
        os: io.os,
        settings: configuration.sandbox,
        home: home.path,
        roots: [workspace.root, ...workspace.additional],
        userHome,
        path: io.env("PATH") ?? "",
      }),
      secretVariables: secretVariables(configuration),
    });
    const direct: AskModel = (request, asked) => chat(door, { endpoint, request }, { ...asked, clock: io.clock });
    // The demo is this process itself.
    const ask = demo !== null ? direct : onlyHere(direct, { endpoint, model: entry.id, trusted: provider.local });
    if (previous !== undefined) carryOver(session, previous.session);
    else if (stored !== null) restoreSession(session, { ...stored, context: before });
    const notices = [
      ...configuration.warnings,
      ...project.markers.warnings,
      ...chosen.notices,
      ...stored === null ? [] : storedNotices(stored),
    ];
    if (globals.verbose) notices.push(breakdown(session));
    return {
      session,
      model: ask,
      recorder: createRecorder(session, store.transcript),
      undo,
      transcriptFile: store.transcript?.file ?? null,
      notices,
      close,
      release: () => release().then(() => store),
    };
  } catch (error) {
    // The transcript of a session that is carried over stays with it: it may go on with another model.
    await (carried === null ? close() : release());
    throw error;
  }
}

/** Loaded while the server is asked. */
async function storeOf(
  options: Values<typeof RUN_OPTIONS>,
  { io, globals }: Context,
  place: Pick<StorePlace, "home" | "projectRoot" | "isProtected" | "model">,
): Promise<SessionStore> {
  const { openStore } = await import("./store.ts");
  return await openStore(options, {
    ...place,
    cwd: globals.cwd,
    clock: io.clock,
    onTrouble: (text) => void io.stderr.write(`agentcli: ${clean(text)}\n`),
  });
}

function storedProtocol(context: SessionContext | null): ToolProtocol | undefined {
  const protocol = context?.toolProtocol;
  return protocol === "native" || protocol === "text" || protocol === "none" ? protocol : undefined;
}

/** What the user must know of a session that was read back. */
function storedNotices(stored: StoredSession): string[] {
  const withheld = stored.withheld === 0 ? [] : [
    `${stored.withheld} parts of the session were protected and not stored; placeholders stand for them`,
  ];
  return [...stored.problems, ...withheld];
}

/** Starts the stand-in server where it is chosen, and puts its address in. */
async function demoFor({ provider }: Selection, opened: (() => Promise<void>)[]) {
  if (provider.name !== "demo") return null;
  const { startDemo } = await import("../../demo/server.ts");
  const demo = await startDemo();
  opened.push(() => demo.close());
  provider.baseUrl = demo.baseUrl;
  return demo;
}

function sessionModel(
  { provider, model: entry }: Pick<Selection, "provider" | "model">,
  given: { endpoint: Endpoint; known: ModelKnowledge; options: Values<typeof RUN_OPTIONS> },
): SessionModel {
  const { endpoint, options } = given;
  const found = given.known.window ?? undefined;
  const window = entry.contextWindow ?? found ?? ASSUMED_WINDOW;
  return {
    provider: provider.name,
    local: endpoint.local,
    keySource: endpoint.keySource,
    entry,
    contextWindow: window,
    windowSource: entry.contextWindow !== undefined ? "configured" : found !== undefined ? "found" : "assumed",
    maxTokens: replyLimit(window, entry, options.maxTokens),
    askedMaxTokens: options.maxTokens,
    temperature: options.temperature,
  };
}

/** Asks a provider what it serves; null where that cannot be found out. */
function servedBy({ io }: Pick<Context, "io">, found: { door: HttpDoor; markers: MarkerState }): ServedModels {
  return async (provider) => {
    try {
      const endpoint = await endpointOf(provider, { io }, found.markers);
      const list = await listModels(found.door, endpoint, { timeoutMs: LIST_TIMEOUT_MS });
      return list.models.map((model) => model.id);
    } catch {
      // Whatever is wrong with the server, the turn itself says it better than its list would.
      return null;
    }
  };
}

async function choose(
  options: Values<typeof RUN_OPTIONS>,
  { io }: Context,
  found: { configuration: Configuration; door: HttpDoor; markers: MarkerState },
): Promise<{ selection: Selection; notices: string[] }> {
  const environment = io.env("AGENTCLI_MODEL");
  const { selection, warning } = await selectModel(found.configuration, {
    ...(options.model === undefined ? {} : { option: options.model }),
    ...(environment === undefined || environment === "" ? {} : { environment }),
  }, servedBy({ io }, found));
  const notices = warning === undefined ? [] : [warning];
  return { selection: { ...selection, provider: { ...selection.provider } }, notices };
}

async function endpointOf(
  provider: ProviderEntry,
  { io }: Pick<Context, "io">,
  markers: MarkerState,
): Promise<Endpoint> {
  const local = isLocal(effectiveBaseUrl(provider, io.env), markers.localEndpoints);
  return await resolveEndpoint(provider, { env: io.env, local, stores: io });
}

function offeredTools(
  options: Values<typeof RUN_OPTIONS>,
  { profile, entry, git }: { profile: Profile; entry: ModelEntry; git: boolean },
): Tool[] {
  const bare = splitRules(options.disallowedTools).filter((rule) => /^\w+$/.test(rule));
  const named = options.tools.length > 0;
  const selected = selectTools(builtinTools({ git }), {
    ...(named ? { only: splitRules(options.tools).filter((name) => name !== "none") } : {}),
    without: bare,
  });
  return profileTools(selected, { profile, edit: entry.edit ?? "replace", named });
}

function policyOf(options: Values<typeof RUN_OPTIONS>, configuration: Configuration): Session["policy"] {
  const configured = configuredRules(configuration);
  return {
    mode: options.permissionMode ?? "default",
    allow: [...configured.allow, ...readRules(splitRules(options.allowedTools))],
    deny: [...configured.deny, ...readRules(splitRules(options.disallowedTools))],
  };
}

/** Variables that providers take their keys from. */
function secretVariables(configuration: Configuration): string[] {
  return configuration.providers.flatMap((provider) => {
    const name = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(provider.apiKey ?? "")?.[1];
    return name === undefined ? [] : [name];
  });
}

/** What the first request holds before the user's words, by part, in bytes and roughly in tokens. */
function breakdown(session: Session): string {
  const total = baseBytes(session);
  const tools = Math.max(total - byteLength(JSON.stringify(session.system.text)), 0);
  const parts = [...session.system.parts, { name: `${session.schemas.length} tools`, bytes: tools }];
  const listed = parts.map((part) => `${part.name} ${part.bytes}`).join(", ");
  return `prompt before your words: ${total} bytes, about ${Math.ceil(total / 4)} tokens (${listed})`;
}
