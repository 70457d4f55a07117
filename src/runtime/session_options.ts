/** The options of a session, and which transcript it resumes or starts. */
import type { FileView } from "../boundary/workspace/disk.ts";
import type { PermissionMode } from "../config/types.ts";
import { AgentcliError } from "../errors.ts";
import type { McpServer } from "../mcp/server.ts";
import type { Thinking } from "../provider/profiles/profile.ts";
import { isSessionId } from "../session/paths.ts";

/** The options of one session, which each surface reads in its own way; lists are empty by default. */
export interface SessionOptions extends StoreOptions {
  /** `provider`, `provider:model` or `demo`; absent: the configured model. */
  model?: string | undefined;
  /** How much the model reasons, where that can be set. */
  thinking?: Thinking | undefined;
  /** Most tokens of one response. */
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
  /**
   * MCP servers besides those of the configuration and the project, from a command line or a client; null for none at
   * all.
   */
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

/** Returns the session to resume, as `findSession` takes it; undefined for a new one. */
export function sessionToResume({ resume, continue: last }: StoreOptions): string | undefined {
  return resume ?? (last ? "latest" : undefined);
}

/** Returns the id that events name until a session is open: the one that the options give it, otherwise a new one. */
export function eventSessionId({ sessionId, resume, forkSession }: StoreOptions): string {
  const named = (sessionId ?? (forkSession ? "" : resume ?? "")).toLowerCase();
  return isSessionId(named) ? named : crypto.randomUUID();
}

/** Throws `usage` for options that contradict each other. */
export function checkStoreOptions(options: StoreOptions): void {
  const { resume, sessionId, forkSession: fork } = options;
  if (sessionId !== undefined && !isSessionId(sessionId.toLowerCase())) {
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
      hint: "add --fork-session to continue in a copy with that id",
    });
  }
}
