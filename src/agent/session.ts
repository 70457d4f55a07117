/** The state of one session: what was said, what may be used, and what was counted. */
import type { Label } from "../boundary/label.ts";
import { highestLabel } from "../boundary/label.ts";
import type { Workspace } from "../boundary/workspace.ts";
import type { ModelEntry, PermissionMode } from "../config/types.ts";
import type { ToolSchema } from "../provider/types.ts";
import type { SessionItem } from "../session/item.ts";
import type { Rule } from "../tools/permission.ts";
import { toolSchemas } from "../tools/registry.ts";
import type { SessionMemory, Tool } from "../tools/tool.ts";
import { type CallGuard, createCallGuard } from "./guards.ts";
import type { SystemPrompt } from "./system_prompt.ts";

/** Where the session's requests go, as far as messages and limits need it. */
export interface SessionModel {
  provider: string;
  local: boolean;
  keySource: string;
  entry: ModelEntry;
  /** Tokens; what the configuration says, else what the server says, else the assumption of the specification. */
  contextWindow: number;
  /** Most tokens of one reply. */
  maxTokens: number;
  temperature: number | undefined;
}

/** What permission decisions read. */
export interface SessionPolicy {
  mode: PermissionMode;
  allow: readonly Rule[];
  deny: readonly Rule[];
}

/** One session. The engine alone changes it. */
export interface Session {
  readonly id: string;
  readonly system: SystemPrompt;
  readonly workspace: Workspace;
  readonly tools: readonly Tool[];
  readonly schemas: ToolSchema[];
  readonly model: SessionModel;
  readonly policy: SessionPolicy;
  readonly memory: SessionMemory;
  readonly items: SessionItem[];
  readonly guard: CallGuard;
  /** Tool name → whether its last call was denied with nobody there to ask (exit code 6). */
  readonly deniedUnasked: Map<string, boolean>;
  /** Names of variables that hold keys: children do not get them. */
  readonly secretVariables: readonly string[];
}

/** Assumed when neither configuration nor server tells the window, until an overflow teaches better. */
export const ASSUMED_WINDOW = 8192;
/** No reply needs more; some servers refuse larger limits. */
const REPLY_LIMIT = 32_768;

/** Reply limit in tokens: what was asked for, else what the model's entry says, else a quarter of the window. */
export function replyLimit(window: number, entry: ModelEntry, asked: number | undefined): number {
  return asked ?? entry.maxTokens ?? Math.min(Math.max(Math.floor(window / 4), 256), REPLY_LIMIT);
}

/** A new session without items. */
export function createSession(
  given: Pick<Session, "id" | "system" | "workspace" | "tools" | "model" | "policy" | "secretVariables">,
): Session {
  return {
    ...given,
    schemas: toolSchemas([...given.tools]),
    memory: { files: new Map(), todos: [] },
    items: [],
    guard: createCallGuard(),
    deniedUnasked: new Map(),
  };
}

/** The highest label of anything the session holds. */
export function sessionLabel(session: Session): Label {
  return highestLabel([session.system.label, ...session.items.map((item) => item.label)]);
}
