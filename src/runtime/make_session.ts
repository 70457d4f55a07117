/** Puts a session together from what was opened for it: system prompt, tools, rules, server and sandbox. */
import { ContentScanner } from "../agent/content_scanner.ts";
import { connectServer, type SessionServer, UNKNOWN_SERVER } from "../agent/server.ts";
import type { FindChecks } from "../agent/ending/turn_check.ts";
import { buildSystemPrompt, ownTexts, profileFor } from "../agent/system_prompt.ts";
import { createSession, restoredSystem, type Session } from "../agent/session.ts";
import { sessionLabel } from "../agent/labels.ts";
import { admitted, notLocalText } from "../agent/admission.ts";
import type { Chat } from "../provider/types.ts";
import type { ProtectedProjects } from "../boundary/policy/project.ts";
import { createSessionSandbox, type SessionSandbox } from "../boundary/sandbox/sandbox.ts";
import type { AllowedFragments } from "../boundary/scan/leak_scanner.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { keyVariables } from "../config/endpoint.ts";
import type { Io } from "../platform/io.ts";
import { once } from "../platform/sleep.ts";
import { chat, chatWithinLimit } from "../provider/chat/chat.ts";
import { createChatCache } from "../provider/chat/request_body.ts";
import { EFFORT_TOKENS, withThinking } from "../provider/profiles/profile.ts";
import type { ModelFacts } from "../provider/backends/backend.ts";
import type { ModelMetadata } from "../provider/backends/model_metadata.ts";
import { currentTurn } from "../session/item.ts";
import type { SessionContext } from "../session/line.ts";
import type { UndoStore } from "../session/undo.ts";
import type { Tool } from "../tools/tool.ts";
import {
  type ChosenModel,
  locatedModel,
  mayHaveServers,
  type ModelAccess,
  type PlacedModel,
  profileOf,
  serverName,
  sessionModel,
  toolProtocolOf,
} from "./model.ts";
import type { Host } from "./host.ts";
import type { SessionOptions } from "./session_options.ts";
import type { SessionStore } from "./store.ts";
import type { ProjectContext } from "./project_context.ts";
import { offeredTools, offersGit, policyOf } from "./tools_and_rules.ts";
import type { OpenSession } from "./open_session.ts";

export interface OpenedParts {
  host: Host;
  project: ProjectContext;
  models: ModelAccess;
  projects: ProtectedProjects;
  chosen: ChosenModel;
  known: ModelMetadata;
  workspace: Workspace;
  store: SessionStore;
  /** The content before the first item of a stored session of the same model. */
  before: SessionContext | null;
  previous: Session | null;
  tools: readonly Tool[];
  undo(): Promise<UndoStore>;
  /** Opens the project for another model. */
  openWorkspace(model: PlacedModel): Promise<Workspace>;
  /** Called with work that has to be done before the process ends. */
  later(work: Promise<unknown>): void;
  /** Ends what the session started. */
  opened: AsyncDisposableStack;
}

/** A session without items, and its model ready to be asked. Throws `usage` for tools and rules that do not exist. */
export async function makeSession(
  options: SessionOptions,
  parts: OpenedParts,
): Promise<Pick<OpenSession, "session" | "chat" | "runsHere" | "servers">> {
  const { host, project, models: { client }, chosen, known, workspace, store, before, previous, projects } = parts;
  const { io } = host;
  const { provider, entry } = chosen;
  const product = await serverName(provider.name, known.server);
  const model = { ...sessionModel(chosen, { known, options }), product };
  const toolProtocol = toolProtocolOf(chosen, { known, before });
  const knownWindow = model.windowSource === "assumed" ? undefined : model.contextWindow;
  const profile = profileFor(knownWindow);
  const sandbox = sandboxOf(project, workspace, { io, projects });
  const current = () => session;
  const scan = (place: Workspace, before: Session["scanner"]) =>
    new ContentScanner(place, {
      allowed: allowedFragments(place, current, io),
      previous: before,
      notify: host.notice,
    });
  const scanner = scan(workspace, previous?.scanner);
  const hasServers = toolProtocol !== "none" && mayHaveServers(options, project);
  let holder = previous;
  const servers = !hasServers ? null : await (await import("./mcp_servers.ts")).openServers(options, {
    ...{ host, project, client, workspace, sandbox, scanner, provider: provider.name, window: model.contextWindow },
    label: () => holder === null ? "open" : sessionLabel(holder),
    opened: parts.opened,
  });
  const tools = toolProtocol === "none" ? [] : [
    ...offeredTools(options, { window: knownWindow, profile, entry, git: offersGit(workspace) }),
    ...servers?.tools ?? [],
    ...parts.tools,
  ];
  const system = await buildSystemPrompt(workspace, {
    replace: options.systemPrompt,
    append: options.appendSystemPrompt,
    os: io.os,
    text: tools.length === 0 ? "plain" : profile,
    window: knownWindow,
  });
  const { ownChat, runsHere } = connectModel(parts, current);
  const roles = () => import("./role_models.ts");
  const profileWith = async (facts: ModelFacts, server = known.server) => {
    const { thinking } = options;
    const maxReasoning = thinking === undefined ? undefined : EFFORT_TOKENS[thinking];
    const limited = maxReasoning === undefined ? chosen : { ...chosen, entry: { ...entry, maxReasoning } };
    return withThinking(await profileOf(limited, { model, server, facts }), thinking);
  };
  const session: Session = createSession({
    ...keptChanges(options, parts, current),
    id: store.id,
    unsaved: host.unsaved?.bind(host),
    system: restoredSystem(system, before, [options.systemPrompt, options.appendSystemPrompt]),
    workspace,
    tools,
    model,
    toolProtocol,
    profile: await profileWith(known.facts ?? {}),
    server: serverOf(options, parts, {
      // Nothing else says anything about a template.
      profileWith: (facts) => profileWith(facts, "llama.cpp"),
      findCompactModel: async () => await (await roles()).findCompactModel(session, parts),
    }),
    explorer: tools.some(({ name }) => name === "Explore")
      ? async (limits) => await (await roles()).findExplorer(session, parts, { ...limits, ownChat, scan })
      : undefined,
    policy: await policyOf(options, project),
    scanner,
    findChecks: checksOf(options, parts),
    sandbox,
    secretVariables: keyVariables(project.configuration.providers),
  });
  holder = session;
  return { session, chat: ownChat(current), servers: servers?.offer ?? null, runsHere };
}

/** Returns how a session keeps for undo what its tools and commands change. */
function keptChanges(
  { noSessionPersistence }: SessionOptions,
  { host: { isSingleTurn, warn }, project: { home }, undo }: OpenedParts,
  current: () => Session,
): Pick<Session, "watchCommands" | "keepPrevious"> {
  const turn = () => currentTurn(current().items);
  return {
    // Nothing of a single turn that is not stored can be undone later.
    watchCommands: isSingleTurn === true && noSessionPersistence
      ? undefined
      : async () =>
        (await import("./command_changes.ts")).watchCommands({ session: current(), home, undo, turn, warn }),
    async keepPrevious({ path, before: bytes, after, mode, label }) {
      const before = bytes === null ? { kind: "absent" } as const : { kind: "file", bytes, mode } as const;
      const change = { turn: turn(), path, before, after: { kind: "file", bytes: after, mode }, label } as const;
      current().commandWatch?.note(path);
      await (await undo()).record([change]);
    },
  };
}

function serverOf(
  { noSessionPersistence }: SessionOptions,
  { host, project, models: { client }, chosen: { endpoint, entry, demo }, known, later }: OpenedParts,
  ways: Pick<Parameters<typeof connectServer>[0], "profileWith" | "findCompactModel">,
): SessionServer {
  if (demo !== null) return UNKNOWN_SERVER;
  // What the server says may depend on what the session reads, and would reveal it to others.
  const home = noSessionPersistence ? null : project.home;
  return connectServer({ ...ways, client, endpoint, model: entry.id, home, clock: host.io.clock, known, later });
}

function checksOf(
  options: SessionOptions,
  { project: { home, configuration }, workspace }: OpenedParts,
): FindChecks | undefined {
  if (options.check === "none") return undefined;
  const load = once(async () =>
    (await import("./project_checks.ts")).projectChecks(options, { home, configuration, workspace })
  );
  return async () => await (await load())();
}

/** Connects the session's own model; each request is admitted by what the session that asks it holds. */
function connectModel({ host, models, chosen, known, later }: OpenedParts, session: () => Session) {
  const { io } = host;
  const { client, localities } = models;
  const { provider, endpoint, demo } = chosen;
  const located = locatedModel(chosen);
  const onRemote = (reason: string) => void host.warn(notLocalText(provider.name, reason));
  const ownChat = (asker: () => Session): Chat => {
    const cache = createChatCache({
      refused: known.refused,
      onRefused: (refused) => void later(session().server.remember({ refused })),
    });
    const once: Chat = (request, options) =>
      chat(client, { endpoint, request }, { ...options, cache, clock: io.clock });
    const limited: Chat = (request, options) => chatWithinLimit(once, { request, profile: asker().profile }, options);
    // The demo is this process itself.
    if (demo !== null) return limited;
    return admitted(limited, { located, localities, onRemote }, asker);
  };
  const runsHere = async (signal: AbortSignal) =>
    demo !== null || (await localities.of(located, signal)).kind === "here";
  return { ownChat, runsHere };
}

/** Returns the sandbox of a project's commands, which costs nothing until it is used. */
export function sandboxOf(
  { home, configuration }: ProjectContext,
  { root, additional }: Workspace,
  { io, projects }: { io: Io; projects: ProtectedProjects },
): SessionSandbox {
  const { sandbox: settings } = configuration;
  return createSessionSandbox({ settings, home: home.path, roots: [root, ...additional], io, projects });
}

/** All that agentcli itself tells models, normalized. */
const ownText = once(async () => {
  const { keyOf, normalizeBytes } = await import("../boundary/scan/normalize.ts");
  return keyOf(normalizeBytes(new TextEncoder().encode(ownTexts().join("\n"))));
});

/** Loaded with the first hit: our own words, what the user allowed, then what was open when the project was new. */
function allowedFragments(workspace: Workspace, session: () => Session, io: Io): AllowedFragments {
  return async (fragments) => {
    const text = await ownText();
    const own = new Set(fragments.map(({ normalized }) => normalized).filter((fragment) => text.includes(fragment)));
    const [record] = workspace.records;
    if (record === undefined) return own;
    const { allowedByRecord } = await import("../boundary/scan/leak_scanner.ts");
    const allowed = own.union(await allowedByRecord(record, fragments));
    const left = fragments.filter(({ normalized }) => !allowed.has(normalized));
    if (left.length === 0 || record.firstHead === null) return allowed;
    const { standingInCommit } = await import("../tools/git/first_head.ts");
    const { memory, sandbox, secretVariables } = session();
    const { signal } = new AbortController();
    const context = { workspace, memory, sandbox, secretVariables, io, signal, resultBytes: 0 };
    return allowed.union(await standingInCommit(record, left, context));
  };
}
