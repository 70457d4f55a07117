/** The state of one session: its items, what it may use, and what was counted. */
import { byteLength } from "../platform/text.ts";
import type { SessionSandbox } from "../boundary/sandbox/sandbox.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import type { ModelEntry } from "../config/types.ts";
import { plainProfile, type RequestProfile } from "../provider/profiles/profile.ts";
import type { ToolSchema } from "../provider/types.ts";
import { positionOfCall, type SessionItem } from "../session/item.ts";
import type { PermissionPolicy } from "../tools/permission.ts";
import { toolSchemas } from "../tools/registry.ts";
import type { SessionMemory, Tool, ToolContext } from "../tools/tool.ts";
import type { FindChecks } from "./ending/turn_check.ts";
import type { WorkDone } from "./ending/unfinished.ts";
import type { ContentScanner } from "./content_scanner.ts";
import type { Explorer } from "./explore.ts";
import { type ContextState, createContextState } from "./context/context_state.ts";
import type { LoopGuard } from "./loop_guard.ts";
import { assumedWindow, responseLimit, resultLimit } from "./context/tokens.ts";
import { type SessionServer, UNKNOWN_SERVER } from "./server.ts";
import type { SystemPrompt } from "./system_prompt.ts";
import type { ToolProtocol } from "./chat_request.ts";
import type { SessionContext } from "../session/line.ts";

/**
 * The source of a context window. An `assumed` window grows with the prompts that the server accepts; a `guessed` one,
 * after a refusal without a number, holds for the rest of the turn and is neither shown nor stored.
 */
export type WindowSource = "configured" | "found" | "learned" | "assumed" | "guessed";

export interface SessionModel {
  provider: string;
  baseUrl: string;
  /** The common name of its server, where the provider has one of our ids; absent elsewhere. */
  product?: string | undefined;
  local: boolean;
  /** Its server did not say where it runs: it is asked again with the next prompt. */
  isInDoubt?: boolean | undefined;
  keySource: string;
  entry: ModelEntry;
  /** Tokens, by the configuration, otherwise by the server, otherwise assumed. */
  contextWindow: number;
  windowSource: WindowSource;
  /** Most tokens of one response. */
  maxTokens: number;
  /** Requested by the caller; without it `maxTokens` follows the window. */
  askedMaxTokens: number | undefined;
  temperature: number | undefined;
}

/** Watches what commands change in the project, for undo. */
export interface CommandWatch {
  /** Called before a command. Throws the signal's reason. */
  begin(signal: AbortSignal): Promise<void>;
  /** Called when it has ended. */
  end(): Promise<void>;
  /** Called around a turn, in which a command may run on in the background. */
  turnStart(signal: AbortSignal): Promise<void>;
  turnEnd(): Promise<void>;
  /** Called before a tool changes a file, by its real path. */
  note(path: string): void;
}

/** One session. Only the engine and its owner in `src/runtime` change it. */
export interface Session {
  readonly id: string;
  readonly system: SystemPrompt;
  readonly workspace: Workspace;
  readonly tools: readonly Tool[];
  readonly schemas: ToolSchema[];
  readonly model: SessionModel;
  /** Metadata of the server, and the cache of it. */
  readonly server: SessionServer;
  /** How requests are made beside their messages. */
  profile: RequestProfile;
  /**
   * Returns the model of searches, or null if it has to be the session's own and is not; absent without the tool
   * Explore.
   */
  readonly explorer?: ((limits: { ownOnly: boolean }) => Promise<Explorer | null>) | undefined;
  readonly policy: PermissionPolicy;
  /** The sandbox of commands where paths are protected; without it none run there. */
  readonly sandbox?: SessionSandbox | undefined;
  /** Looks for protected content in what leaves; absent in tests alone. */
  readonly scanner?: ContentScanner | undefined;
  /** Finds the commands that check what a turn changed; absent for none. */
  readonly findChecks?: FindChecks | undefined;
  /** Keeps what changes to files replace. */
  readonly keepPrevious?: ToolContext["keepPrevious"];
  /** Watches what commands change from the first one on; absent where nobody could undo it. */
  readonly watchCommands?: (() => Promise<CommandWatch>) | undefined;
  commandWatch?: CommandWatch | undefined;
  /** Asks an editor for its text of a file; absent where none can be asked. */
  readonly unsaved?: ToolContext["unsaved"];
  readonly memory: SessionMemory;
  /** The effects of its calls so far; claims of the model are checked against them. */
  readonly work: WorkDone;
  readonly items: SessionItem[];
  readonly context: ContextState;
  /** Absent before the first call. */
  guard?: LoopGuard;
  /** Tool name → whether its last call was denied with nobody there to ask (exit code 6). */
  readonly deniedUnasked: Map<string, boolean>;
  /** Names of variables that hold keys: children do not get them. */
  readonly secretVariables: readonly string[];
}

/** State that every session begins anew. */
type Begun = "schemas" | "memory" | "work" | "items" | "context" | "guard" | "deniedUnasked" | "commandWatch";

/** Parts of a new session. Without a server it is one that cannot be asked, without a profile one that adds nothing. */
export interface SessionParts
  extends Omit<Session, Begun | "server" | "profile">, Partial<Pick<Session, "server" | "profile">> {
  /** Default: what the model's entry says, else native. */
  toolProtocol?: ToolProtocol;
}

/** A new session without items. */
export function createSession(options: SessionParts): Session {
  const { toolProtocol, server, ...parts } = options;
  const { entry } = parts.model;
  const profile = parts.profile ?? plainProfile(entry);
  return {
    ...parts,
    server: server ?? UNKNOWN_SERVER,
    profile,
    schemas: toolSchemas([...parts.tools]),
    memory: { files: new Map(), warned: new Set(), failedEdits: new Map(), todos: [] },
    work: { changes: 0, commands: 0, failed: false },
    items: [],
    context: createContextState(toolProtocol ?? entry.toolCalls ?? "native", {
      keepReasoning: profile.keepsReasoning,
      vision: entry.images ?? null,
    }),
    deniedUnasked: new Map(),
  };
}

/**
 * Returns the position of the next item in the whole session, which never repeats, even after a compaction or a resume.
 */
export function nextPosition(session: Session): number {
  const counted = session.context.removed + session.items.length;
  const last = session.items.findLast((item) => item.kind === "assistant" && item.calls.length > 0);
  const id = last?.kind === "assistant" ? last.calls.at(-1)?.id : undefined;
  // A restored session may not know how much was removed from it; the ids of its calls show it.
  const held = id === undefined ? NaN : positionOfCall(id);
  return Number.isSafeInteger(held) ? Math.max(counted, held + 1) : counted;
}

/** Returns whether the configuration or the server named the window. */
export function isWindowKnown({ windowSource }: SessionModel): boolean {
  return windowSource !== "assumed" && windowSource !== "guessed";
}

/** Discards a guessed window. */
export function forgetGuess(session: Session): void {
  const { model, context } = session;
  const { windowSource, entry } = model;
  if (windowSource !== "guessed") return;
  if (entry.contextWindow !== undefined) setWindow(session, entry.contextWindow, "configured");
  else setWindow(session, Math.max(assumedWindow(model), context.provenTokens), "assumed");
}

/** Sets the window; the response limit follows unless it is fixed. */
export function setWindow(session: Session, tokens: number, source: WindowSource): void {
  const { model } = session;
  model.contextWindow = tokens;
  model.windowSource = source;
  model.maxTokens = responseLimit(tokens, model.entry, model.askedMaxTokens);
}

/**
 * Returns the system message of a resumed session: the stored one, so that the server's prompt cache still applies,
 * unless it lacks what the caller now wants in it.
 */
export function restoredSystem(
  built: SystemPrompt,
  stored: SessionContext | null,
  wanted: readonly (string | undefined)[],
): SystemPrompt {
  if (stored === null) return built;
  const { text, label, files = [] } = stored.system;
  if (wanted.some((words) => words !== undefined && !text.includes(words))) return built;
  // A label that has risen since stays risen.
  const risen = built.label === "open" ? label : built.label;
  return {
    text,
    label: risen,
    files: [...new Set([...files, ...built.files])],
    parts: [{ name: "stored system message", bytes: byteLength(text) }],
  };
}

/** Returns the most bytes that one result may have, among `count` results of a response. */
export function resultRoom({ model: { contextWindow, entry }, context }: Session, count: number): number {
  const { bytesPerToken } = context;
  return resultLimit({ window: contextWindow, bytesPerToken, count, most: entry.maxResult });
}
