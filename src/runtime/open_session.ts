/** Opens a session: from its options to one that takes prompts. */
import { ContentScanner } from "../agent/content_scanner.ts";
import { breakdown } from "../agent/chat_request.ts";
import { notLocalText } from "../agent/admission.ts";
import type { Session } from "../agent/session.ts";
import type { Chat } from "../provider/types.ts";
import type { ProtectionRule } from "../boundary/policy/protection_rule.ts";
import type { Refusal, ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { sandboxReason } from "../boundary/sandbox/sandbox.ts";
import type { OpenJudge } from "../boundary/sandbox/unfinished.ts";
import { openWorkspace } from "../boundary/workspace/disk.ts";
import type { WantedModel } from "../config/select.ts";
import type { Home } from "../platform/home.ts";
import { hasAllPermissions } from "../platform/runtime.ts";
import { once } from "../platform/sleep.ts";
import type { StoredSession } from "../session/load.ts";
import { resolve } from "../platform/path.ts";
import type { ModelMetadata } from "../provider/backends/model_metadata.ts";
import { HttpClient } from "../provider/http/client.ts";
import type { UndoStore } from "../session/undo.ts";
import type { McpOffer } from "../mcp/offer.ts";
import type { Tool } from "../tools/tool.ts";
import {
  accessModels,
  chooseModel,
  type ChosenModel,
  clientModel,
  findModelMetadata,
  locatedModel,
  type PlacedModel,
} from "./model.ts";
import { type Host } from "./host.ts";
import { type SessionOptions, sessionToResume } from "./session_options.ts";
import { makeSession, type OpenedParts } from "./make_session.ts";
import { protectedProjects } from "../boundary/policy/project.ts";
import { findProjectContext, type ProjectContext } from "./project_context.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import type { SessionStore } from "./store.ts";

/** A session ready for its next turn. */
export interface OpenSession {
  session: Session;
  chat: Chat;
  recorder: Recorder;
  undo: () => Promise<UndoStore>;
  /** Its MCP servers; null where there are none. */
  servers: McpOffer | null;
  /** Whether the model is proven to run here, by its address and by its server's own word. */
  runsHere(signal: AbortSignal): Promise<boolean>;
  /** Absolute path of the transcript; null where none is written. */
  transcriptFile: string | null;
  /** Ends what was opened for the session: connections, the demo server, its transcript. */
  close(): Promise<void>;
  /** {@link OpenSession.close} but for what a session with another model continues: the transcript and the undo. */
  release(): Promise<{ store: SessionStore; undoStore(): Promise<UndoStore> }>;
}

/** Returns the MCP servers of a session as events name them. */
export function serverStatus({ servers }: Pick<OpenSession, "servers">): { name: string; status: string }[] {
  return servers?.hub.states.filter(({ server }) => server.enabled).map(({ server, problem }) => ({
    name: server.name,
    status: problem === null ? "connected" : "failed",
  })) ?? [];
}

/** Parts taken over from another session, or from the surface. */
interface OpenExtras {
  /** Besides the built-in ones. */
  tools: readonly Tool[];
  /** The session to continue in this process; its connections are closed. */
  previous: OpenSession | null;
}

/**
 * Chooses the model, opens the project, asks the server, and makes the session or reads it back. Throws configuration,
 * usage and policy errors, and leaves nothing open then.
 */
export async function openSession(
  options: SessionOptions,
  host: Host,
  { previous, tools }: OpenExtras,
): Promise<OpenSession> {
  const { io } = host;
  const carried = await previous?.release() ?? null;
  const project = await findProjectContext(host, options);
  const { home } = project;
  const opened = new AsyncDisposableStack();
  const later = (work: Promise<unknown>) => opened.defer(() => work.then(() => {}, () => {}));
  let storing: Promise<SessionStore> | null = carried === null ? null : Promise.resolve(carried.store);
  let session: Session | undefined;
  const close = async () => {
    await session?.memory.commands?.endAll();
    const transcript = (await storing?.catch(() => null))?.transcript;
    await opened.disposeAsync();
    await transcript?.close();
  };
  try {
    const client = new HttpClient(io);
    opened.defer(() => client.close());
    const projects = protectedProjects(home);
    const models = accessModels(client, { options, io, project, projects });
    const { chosen, know } = await placeModel(options, host, { project, models, opened, later });
    storing ??= startStore(options, host, { project, chosen });
    // A failure is reported where the store is awaited.
    storing.catch(() => {});
    const open = (model: PlacedModel, before: Workspace | undefined) =>
      openProjectWorkspace(options, host, { project, chosen: model, previous: before });
    const openingWorkspace = open(chosen, previous?.session.workspace);
    // A remote server is asked nothing before the project is known to allow it.
    if (chosen.place.kind === "remote") await openingWorkspace;
    const [workspace, known] = await Promise.all([openingWorkspace, know()]);
    const store = await storing;
    const stored = carried === null ? store.stored : null;
    const before = stored?.model === chosen.entry.id ? stored.context : null;
    const undoStore = carried?.undoStore ?? once(async () => {
      const { openUndoStore } = await import("../session/undo.ts");
      return await openUndoStore(options.noSessionPersistence ? null : home, {
        sessionId: store.id,
        activity: { home, root: workspace.root },
        onTrouble: host.warn,
      });
    });
    const undo = async () => (await import("./rewind.ts")).withoutProtected(await undoStore(), made.session);
    const made = await makeSession(options, {
      ...{ host, project, projects, models, chosen, known, workspace, store, before, tools, undo, later, opened },
      previous: previous?.session ?? null,
      openWorkspace: (model) => open(model, workspace),
    });
    session = made.session;
    if (previous !== null) {
      (await import("../agent/restore.ts")).carryOver(session, previous.session);
      await endUnsandboxed(session, host);
    } else if (stored !== null) {
      (await import("../agent/restore.ts")).restoreSession(session, { ...stored, context: before });
    }
    await recoverUnfinished(session, home, host);
    const notices = [
      ...await hiddenNotices(session),
      ...project.notices,
      ...chosen.notices,
      ...stored === null ? [] : storedNotices(stored),
      ...previous === null ? permissionNotices(session) : [],
      ...host.verbose ? [breakdown(session)] : [],
    ];
    for (const notice of notices) await host.notice(notice);
    return {
      ...made,
      recorder: createRecorder(session, store.transcript),
      undo,
      transcriptFile: store.transcript?.file ?? null,
      close,
      release: () => opened.disposeAsync().then(() => ({ store, undoStore })),
    };
  } catch (error) {
    // A session that is carried over keeps its transcript: it may continue with another model.
    await (carried === null ? close() : opened.disposeAsync());
    throw error;
  }
}

/** Chooses the model and finds out where it runs; `know` asks its server, once. The demo is this process itself. */
async function placeModel(
  options: SessionOptions,
  host: Host,
  { project, models, opened, later }: Pick<OpenedParts, "project" | "models" | "opened" | "later">,
): Promise<{ chosen: ChosenModel; know(): Promise<ModelMetadata> }> {
  const { home, configuration } = project;
  const named = host.clientNames ? clientModel(options.model, configuration) : options.model;
  const stored = storedModel(options, project);
  const selected = await chooseModel(named, { host, configuration, models, opened, stored });
  const { provider, entry, endpoint, demo } = selected;
  if (demo !== null) {
    return {
      chosen: { ...selected, place: { kind: "here" } },
      know: () => Promise.resolve({ window: demo.contextWindow }),
    };
  }
  // While a server loads its model, it says nothing of where that runs.
  const know = once(() => findModelMetadata({ host, home, client: models.client, endpoint, entry, later }));
  const place = await models.placeOf(locatedModel(selected), know);
  if (place.kind === "remote" && endpoint.local && await models.mayHoldBack()) {
    await host.warn(notLocalText(provider.name, place.reason));
  }
  return { chosen: { ...selected, place }, know };
}

/** Has what commands of an earlier process left unfinished judged, and warns of it. */
async function recoverUnfinished({ sandbox, scanner, workspace }: Session, home: Home, host: Host): Promise<void> {
  const openJudge: OpenJudge = (roots) =>
    ContentScanner.at(home, roots, { near: workspace.root, own: scanner, notify: host.notice });
  for (const notice of await sandbox?.recoverUnfinished(workspace.root, openJudge) ?? []) await host.warn(notice);
  await workspace.protection.reread();
}

/** Returns the first line of a remote session of a project with protected paths. */
async function hiddenNotices({ workspace, scanner }: Session): Promise<string[]> {
  if (workspace.local || !workspace.protection.any) return [];
  return [await (await import("./marker_report.ts")).hiddenNotice(workspace, scanner)];
}

/** Returns notices about a session that was read back. */
function storedNotices(stored: StoredSession): string[] {
  const redacted = stored.redacted === 0 ? [] : [
    `${stored.redacted} parts of the session were protected and not stored; placeholders stand for them`,
  ];
  return [...stored.problems, ...redacted];
}

/**
 * Warns that a link can redirect a write: with narrow permissions, Deno resolves paths before it passes them to the
 * system.
 */
function permissionNotices({ tools }: Pick<Session, "tools">): string[] {
  if (hasAllPermissions() || !tools.some(({ kind }) => kind === "write")) return [];
  return [
    "Deno's permissions are narrow: a file can land outside the project when its directory is replaced by a link " +
    "during the write; only -A rules that out",
  ];
}

/**
 * Ends background commands that run outside a sandbox, where the new model's commands need one: it can change what they
 * run.
 */
async function endUnsandboxed(session: Session, { notice }: Host): Promise<void> {
  const { commands } = session.memory;
  if (commands === undefined || commands.ids().length === 0) return;
  if (await sandboxReason(session) === null) return;
  await commands.endAll();
  await notice("background commands were ended: commands of this model run in a sandbox");
}

/** Returns what finds the model of the session to resume; undefined for a new session. */
function storedModel(options: SessionOptions, { home, projectRoot }: ProjectContext): WantedModel["session"] {
  const wanted = sessionToResume(options);
  if (wanted === undefined) return undefined;
  return async () => {
    const { findSession } = await import("../session/list.ts");
    return await findSession(home, wanted, { projectRoot });
  };
}

/** Loaded while the server is asked. */
async function startStore(
  options: SessionOptions,
  { io, cwd, version, isSingleTurn, warn }: Host,
  { project, chosen }: { project: ProjectContext; chosen: ChosenModel },
): Promise<SessionStore> {
  const { openStore } = await import("./store.ts");
  const { home, projectRoot, records, isProtected } = project;
  const place = {
    home,
    projectRoot,
    roots: records.map(({ root }) => root),
    isProtected,
    model: chosen.entry.id,
    provider: chosen.provider.name,
    local: chosen.place.kind === "here",
    cwd,
    clock: io.clock,
    version,
    onTrouble: warn,
  };
  return await openStore(options, place, { late: isSingleTurn === true });
}

async function openProjectWorkspace(
  { addDir, view, changes }: SessionOptions,
  { cwd, io, notice }: Host,
  { project, chosen, previous }: {
    project: ProjectContext;
    chosen: PlacedModel;
    previous: Workspace | undefined;
  },
): Promise<Workspace> {
  const { home, user, projectRoot, localEndpoints, records } = project;
  const { provider, endpoint, place } = chosen;
  return await openWorkspace({
    root: projectRoot,
    additional: addDir.map((directory) => resolve(cwd, directory)),
    cwd,
    home: home.path,
    user,
    localEndpoints,
    records,
    view,
    narrow: changes === undefined ? undefined : (path, rule) => narrowed(path, { rule, changes }),
    protection: previous?.protection,
    notify: (message) => void notice(message),
    provider: { local: place.kind === "here", name: provider.name, baseUrl: endpoint.baseUrl },
    ownProcess: io.ownProcess ?? false,
  });
}

/** Returns why a file may not be changed in this session; null where it may be. */
function narrowed(
  { real, display }: ResolvedPath,
  { rule, changes }: { rule: ProtectionRule | null; changes: NonNullable<SessionOptions["changes"]> },
): Refusal | null {
  if (changes.only.includes(real) && (changes.open || rule !== null)) return null;
  const reason = changes.only.includes(real) ? "is not protected" : "is not among the files that were named";
  return { refused: "write_protected", message: `${display} ${reason}, and only such files may be changed here` };
}
