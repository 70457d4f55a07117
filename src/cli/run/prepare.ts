/** From options to a session that can run: model chosen, project opened, server asked, session made or read back. */
import { carryOver, restoreSession } from "../../agent/restore.ts";
import type { Session } from "../../agent/session.ts";
import type { AskModel } from "../../agent/turn.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import { openWorkspace } from "../../boundary/workspace/disk.ts";
import type { WantedModel } from "../../config/select.ts";
import type { Home } from "../../platform/home.ts";
import { resolve } from "../../platform/path.ts";
import { type HttpDoor, openDoor } from "../../provider/http.ts";
import type { ModelKnowledge } from "../../provider/known_models.ts";
import type { UndoStore } from "../../session/undo.ts";
import { clean } from "../../terminal/clean.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Context } from "../verb.ts";
import { chooseModel, type ChosenModel } from "./choose_model.ts";
import { clientModel } from "./client_model.ts";
import { knowServer } from "./find_server.ts";
import { makeSession } from "./make_session.ts";
import { breakdown, endpointNotices, permissionNotices, serverNotices, storedNotices } from "./notices.ts";
import { reachProviders } from "./provider_reach.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import type { SessionStore } from "./store.ts";
import { sessionToGoOn } from "./store_options.ts";
import { findSurroundings, type Surroundings } from "./surroundings.ts";
import { createUndo } from "./undo.ts";
import { unusedServers } from "./unused_servers.ts";
import type { RunOptions } from "./verb.ts";

/** A session ready for its next turn. */
export interface Prepared {
  session: Session;
  model: AskModel;
  recorder: Recorder;
  /** What the session's changes to files replaced. */
  undo: () => Promise<UndoStore>;
  /** Absolute path of the transcript; null where none is written. */
  transcriptFile: string | null;
  /** Names of the servers of `--mcp-config` that nothing comes of: only a client of the protocol brings tools of some. */
  unusedServers: readonly string[];
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
  /** One turn is all: the transcript of a new session may be opened while its request is on its way. */
  storeLate?: boolean;
}

/** Prepares a session. Throws configuration, usage and policy errors; leaves nothing open then. */
export async function prepare(
  options: RunOptions,
  context: Context,
  extras: PrepareExtras = {},
): Promise<Prepared> {
  const { io, globals } = context;
  const { previous } = extras;
  const carried = previous === undefined ? null : await previous.release();
  const surroundings = await findSurroundings(context, options);
  const { home, configuration, markers } = surroundings;
  const opened = new AsyncDisposableStack();
  let storing: Promise<SessionStore> | null = carried === null ? null : Promise.resolve(carried);
  const close = async () => {
    const transcript = (await storing?.catch(() => null))?.transcript;
    await opened.disposeAsync();
    await transcript?.close();
  };
  try {
    const door = openDoor(io);
    opened.defer(() => door.close());
    const reach = reachProviders(door, { io, markers });
    const named = extras.clientNames ? clientModel(options.model, configuration) : options.model;
    const chosen = await chooseModel(named, {
      io,
      configuration,
      reach,
      opened,
      stored: storedModel(options, surroundings),
    });
    const { entry, endpoint } = chosen;
    storing ??= startStore(options, context, { surroundings, chosen, late: extras.storeLate === true });
    // Its failure is told where it is waited for.
    storing.catch(() => {});
    const open = () => openProject(options, context, { surroundings, chosen });
    const later = (work: Promise<unknown>) => opened.defer(() => work.then(() => {}, () => {}));
    const know = () => knowModel(chosen, { context, home, door, later });
    // A server elsewhere hears nothing before the project is known to allow it.
    const [workspace, known] = endpoint.local ? await Promise.all([open(), know()]) : [await open(), await know()];
    const store = await storing;
    const stored = carried === null ? store.stored : null;
    const before = stored?.model === entry.id ? stored.context : null;
    const undo = previous?.undo ?? createUndo(options.noSessionPersistence ? null : home, store, io);
    const { session, model } = await makeSession(options, {
      context,
      surroundings,
      door,
      reach,
      chosen,
      known,
      workspace,
      store,
      before,
      tools: extras.tools ?? [],
      undo,
      later,
    });
    const unused = extras.tools === undefined ? await unusedServers(options.mcpConfig) : [];
    if (previous !== undefined) carryOver(session, previous.session);
    else if (stored !== null) restoreSession(session, { ...stored, context: before });
    return {
      session,
      model,
      recorder: createRecorder(session, store.transcript),
      undo,
      transcriptFile: store.transcript?.file ?? null,
      unusedServers: unused,
      notices: [
        ...configuration.warnings,
        ...surroundings.notices,
        ...endpointNotices(markers),
        ...markers.warnings,
        ...markers.damaged === undefined ? [] : [`${markers.damaged}; everything counts as protected`],
        ...chosen.notices,
        ...stored === null ? [] : storedNotices(stored),
        ...serverNotices(unused),
        ...previous === undefined ? permissionNotices(session) : [],
        ...globals.verbose ? [breakdown(session)] : [],
      ],
      close,
      release: () => opened.disposeAsync().then(() => store),
    };
  } catch (error) {
    // The transcript of a session that is carried over stays with it: it may go on with another model.
    await (carried === null ? close() : opened.disposeAsync());
    throw error;
  }
}

/** Asks the session that goes on for its model; undefined for a new session. */
function storedModel(options: RunOptions, { home, projectRoot }: Surroundings): WantedModel["session"] {
  const wanted = sessionToGoOn(options);
  if (wanted === undefined) return undefined;
  return async () => {
    const { findSession } = await import("../../session/list.ts");
    return await findSession(home, wanted, { projectRoot });
  };
}

/** Loaded while the server is asked. */
async function startStore(
  options: RunOptions,
  { io, globals }: Context,
  { surroundings, chosen, late }: { surroundings: Surroundings; chosen: ChosenModel; late: boolean },
): Promise<SessionStore> {
  const { openStore } = await import("./store.ts");
  const { home, projectRoot, isProtected } = surroundings;
  return await openStore(options, {
    home,
    projectRoot,
    isProtected,
    model: chosen.entry.id,
    provider: chosen.provider.name,
    local: chosen.endpoint.local,
    cwd: globals.cwd,
    clock: io.clock,
    onTrouble: (text) => io.stderr.write(`agentcli: ${clean(text)}\n`),
  }, { late });
}

async function openProject(
  { addDir }: RunOptions,
  { globals }: Context,
  { surroundings, chosen }: { surroundings: Surroundings; chosen: ChosenModel },
): Promise<Workspace> {
  const { home, userHome, projectRoot, markers, records } = surroundings;
  const { provider, endpoint } = chosen;
  return await openWorkspace({
    root: projectRoot,
    additional: addDir.map((directory) => resolve(globals.cwd, directory)),
    cwd: globals.cwd,
    home: home.path,
    userHome,
    markers,
    records,
    provider: { local: endpoint.local, name: provider.name, baseUrl: endpoint.baseUrl },
    ownProcess: true,
  });
}

async function knowModel(
  { entry, endpoint, demo }: ChosenModel,
  { context: { io, globals }, home, door, later }: {
    context: Context;
    home: Home;
    door: HttpDoor;
    later(work: Promise<unknown>): void;
  },
): Promise<ModelKnowledge> {
  if (demo !== null) return { window: demo.contextWindow };
  return await knowServer({ io, quiet: globals.quiet, home, door, endpoint, entry, later });
}
