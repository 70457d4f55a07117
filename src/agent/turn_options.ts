/** The options of a turn, its hooks, and the question whether a tool call may run. */
import type { ToolResultItem, UserItem } from "../session/item.ts";
import type { Chat } from "../provider/types.ts";
import type { CallOptions } from "./tool_call.ts";
import type { TurnState } from "./turn_result.ts";
import type { Label } from "../boundary/policy/label.ts";

/** A message that the user sent while the turn ran, admitted like a prompt. */
export interface SteeredMessage {
  item: UserItem;
  /** As it was typed or sent. */
  text: string;
  /** The client's name for it. */
  id: string | undefined;
}

export interface TurnOptions extends CallOptions {
  chat: Chat;
  /** Yields what the user has said meanwhile; asked after the results of each assistant message with tool calls. */
  steered?(): AsyncIterable<SteeredMessage>;
  /** End after this many responses. */
  maxTurns: number | undefined;
  /** No prompt can follow, so nobody answers a question of the model. */
  isSingle?: boolean;
}

/** The options of a turn that runs, with what is counted. */
export interface RunningTurn extends TurnOptions {
  state: TurnState;
}

/** A message by which the model continues its turn, and the notice of it for the person. */
export interface ContinuePrompt {
  text: string;
  notice: string;
}

/** A tool call as hooks see it. */
export interface HookedCall {
  toolName: string;
  callId: string;
  input: Record<string, unknown>;
  /** The label of the session: hooks do not see protected content. */
  label: Label;
}

/**
 * The decision of a hook before a tool call. `pass` leaves the decision to the rules; deny rules hold whatever a hook
 * says.
 */
export interface BeforeVerdict {
  behavior: "pass" | "allow" | "ask" | "deny";
  /** For the model; of `ask` and `deny`. */
  message: string;
  input?: Record<string, unknown> | undefined;
  /** For the model, added to the result; empty for nothing. */
  context: string;
  /** Whether the turn ends. */
  stop: boolean;
}

export interface AfterVerdict {
  context: string;
  stop: boolean;
}

/** Hooks of a turn. They throw the abort reason and nothing else; a hook that cannot be run denies. */
export interface TurnHooks {
  before(call: HookedCall, signal: AbortSignal): Promise<BeforeVerdict>;
  after(call: HookedCall, result: ToolResultItem, signal: AbortSignal): Promise<AfterVerdict>;
  /** Asked before a turn ends with an answer; a text continues it. `again`: this has happened before in the turn. */
  end(again: boolean, signal: AbortSignal): Promise<string | null>;
}

/** A tool call that needs permission. */
export interface PermissionQuestion {
  toolName: string;
  /** The name that permission rules know the call by, where that is another one. */
  ruleName?: string;
  callId: string;
  input: Record<string, unknown>;
  /** The command or the path, as it will be used. */
  subject: string;
  reason: string;
}

/** An answer. `input` replaces what the model gave; `message` is for the model, `shown` for the person who denied. */
export type PermissionAnswer =
  | { behavior: "allow"; input?: Record<string, unknown> }
  | { behavior: "deny"; message: string; shown?: string; interrupt?: boolean };

/** Returns the denial of a person, with words for the model; empty for none. */
export function deniedByPerson(words: string): PermissionAnswer {
  return words === ""
    ? { behavior: "deny", message: "The user denied this call.", shown: "You said no." }
    : { behavior: "deny", message: `The user denied this call. They said: ${words}`, shown: `You said no: ${words}` };
}

/** Asks; null where nobody can answer. */
export type AskPermission = (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer | null>;
