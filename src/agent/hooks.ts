/** What may look at a turn from outside and change it: passed in, like the answer to a permission question. */
import type { Label } from "../boundary/policy/label.ts";
import type { ToolResultItem } from "../session/item.ts";

/** A call as hooks are told of it. */
export interface HookedCall {
  toolName: string;
  callId: string;
  input: Record<string, unknown>;
  /** Of the session: what holds protected content is not told in full. */
  label: Label;
}

/** What came of asking before a call. `pass` leaves the decision to the rules; deny rules hold whatever a hook says. */
export interface BeforeVerdict {
  behavior: "pass" | "allow" | "ask" | "deny";
  /** For the model; of `ask` and `deny`. */
  message: string;
  /** In place of the model's arguments. */
  input?: Record<string, unknown> | undefined;
  /** For the model, added to the result; empty for nothing. */
  context: string;
  /** The turn shall end. */
  stop: boolean;
}

/** What came of asking after a call. */
export interface AfterVerdict {
  context: string;
  stop: boolean;
}

/** Hooks of a turn. They never throw but for the abort reason; one that cannot be asked denies. */
export interface TurnHooks {
  before(call: HookedCall, signal: AbortSignal): Promise<BeforeVerdict>;
  after(call: HookedCall, result: ToolResultItem, signal: AbortSignal): Promise<AfterVerdict>;
  /** Asked before a turn ends with an answer; text makes it go on. `again` says that this happened already. */
  end(again: boolean, signal: AbortSignal): Promise<string | null>;
}
