/** Parameters of a surface: the options of a session, which transcript it goes on with, and the host. */
import type { AskPermission, TurnHooks } from "../agent/turn_options.ts";
import type { FileView } from "../boundary/workspace/disk.ts";
import type { PermissionMode } from "../config/types.ts";
import { AgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import type { Thinking } from "../provider/profiles/profile.ts";
import type { FormAnswer, ServerForm } from "../mcp/elicit.ts";
import type { McpServer } from "../mcp/server.ts";
import type { Tool, UnsavedText } from "../tools/tool.ts";

/** The options of one session. A surface has its own way to ask for them; lists are empty where nothing is asked for. */
export interface SessionOptions extends StoreOptions {
  /** `provider`, `provider:model` or `demo`; absent: the configured model. */
  model?: string | undefined;
  /** The model answers without reasoning, where it can. */
  thinking?: Thinking | undefined;
  /** Tokens of one response, at most. */
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  systemPrompt?: string | undefined;
  appendSystemPrompt?: string | undefined;
  /** Lets the next prompt that holds protected content go to a remote model, once. */
  allowProtectedPrompt: boolean;
  /** Files that are attached to the first prompt. */
  file: readonly string[];
  /** Directories besides the project that tools may use. */
  addDir: readonly string[];
  permissionMode?: PermissionMode | undefined;
  allowedTools: readonly string[];
  disallowedTools: readonly string[];
  /** Names of the tools that are offered; `none` for none. */
  tools: readonly string[];
  /** MCP servers besides those of the configuration and the project, from a command line or a client; null for none at all. */
  mcpServers?: readonly McpServer[] | null | undefined;
  /** Protected files are read in another form: what may be seen of them. */
  view?: FileView;
  /** The only files that tools may change, as real paths; `open`: those of them that are not protected, too. */
  changes?: { only: readonly string[]; open: boolean };
  /** The command that checks what a turn changed; `none` for none. Absent: that of the project or the configuration. */
  check?: string | undefined;
  maxTurns?: number | undefined;
  timeout?: number | undefined;
}

export interface StoreOptions {
  resume?: string | undefined;
  continue: boolean;
  forkSession: boolean;
  sessionId?: string | undefined;
  noSessionPersistence: boolean;
}

/** The session to go on with, as `findSession` takes it; undefined for a new one. */
export function sessionToResume({ resume, continue: last }: StoreOptions): string | undefined {
  return resume ?? (last ? "latest" : undefined);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id that events name until a session is open: the one that it will have where the options say it, else a new one. */
export function eventSessionId({ sessionId, resume, forkSession }: StoreOptions): string {
  const named = sessionId ?? (forkSession ? undefined : resume);
  return named !== undefined && UUID.test(named) ? named.toLowerCase() : crypto.randomUUID();
}

/** Throws `usage` for options that do not go together. */
export function checkStoreOptions(options: StoreOptions): void {
  const { resume, sessionId, forkSession: fork } = options;
  if (sessionId !== undefined && !UUID.test(sessionId)) {
    throw new AgentcliError("usage", "--session-id is not a UUID", { hint: "leave it out to have one made" });
  }
  if (resume === "") {
    throw new AgentcliError("usage", "--resume needs a session", {
      hint: "see: agentcli sessions list; agentcli chat --resume lets you choose one",
    });
  }
  if (resume !== undefined && options.continue) {
    throw new AgentcliError("usage", "--resume and --continue name two sessions", { hint: "give one of them" });
  }
  const goesOn = sessionToResume(options) !== undefined;
  if (fork && !goesOn) {
    throw new AgentcliError("usage", "--fork-session needs --resume or --continue");
  }
  if (sessionId !== undefined && goesOn && !fork && sessionId.toLowerCase() !== resume?.toLowerCase()) {
    throw new AgentcliError("usage", "--session-id names a new session, --resume or --continue an old one", {
      hint: "add --fork-session to go on in a copy of that id",
    });
  }
}

export interface Host {
  io: Io;
  /** Absolute. */
  cwd: string;
  /** The version of this program, for transcripts. */
  version: string;
  /** One prompt is all: the transcript of a new session may be opened while its request is on its way. */
  isSingleTurn?: boolean;
  /** Models are named as clients of the protocol name them. */
  clientNames?: boolean;
  /** Tells the size of the first request, part by part. */
  verbose?: boolean;
  /** Returns tools besides the built-in ones; asked whenever the session is opened. */
  tools?(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Lets a person fill in a form of an MCP server; absent where nobody is there to. */
  elicit?(form: ServerForm, signal: AbortSignal): Promise<FormAnswer>;
  /** Asks an editor for its text of a file; absent where none can be asked. */
  unsaved?: UnsavedText;
  /** Tells a person something that may be left out where quiet is wanted. Texts are not cleaned for a terminal. */
  notice(text: string): void | Promise<void>;
  /** Tells a person something that is never left out. */
  warn(text: string): void | Promise<void>;
  /** Shows that the server loads its model, until the returned function is called. */
  loading?(): () => Promise<void>;
}

/** How a surface watches one turn, and answers for it. */
export interface TurnSurface {
  signal: AbortSignal;
  onEvent: TurnListener;
  /** Asked where no rule decides about a call; null: nobody is there. */
  ask: AskPermission;
  /** Made once the session is open; null for none. */
  hooks?(): PromptHooks | null;
}

/** Hooks of a turn that are also asked about its prompt. */
export interface PromptHooks extends TurnHooks {
  /** Asked before the prompt is part of the session; null stands for one that may not leave it. */
  submit(text: string | null, signal: AbortSignal): Promise<{ blocked: string | null; context: string }>;
}
