/** What a turn is given besides its session. */
import type { Clock } from "../platform/io.ts";
import type { UserItem } from "../session/item.ts";
import type { ChatDelta, ChatReply, ChatRequest, RetryNotice } from "../provider/types.ts";
import type { CallOptions } from "./call.ts";
import type { TurnCount } from "./result.ts";

/** Asks the session's model for one reply. Throws what the client throws; a reply is always complete. */
export type AskModel = (
  request: ChatRequest,
  options: {
    signal: AbortSignal;
    /** Called before each attempt; what it throws ends the request before anything is sent. */
    beforeSend?(): Promise<void>;
    /** The request is on its way; called again for each attempt. */
    onSent?(): void;
    /** A reply begins; `server` is what the server calls itself. What it throws ends the request. */
    onResponse?(server: string): void | Promise<void>;
    onDelta(delta: ChatDelta): void | Promise<void>;
    /** Where the notice says so, what was handed on is void. */
    onRetry(notice: RetryNotice): void | Promise<void>;
  },
) => Promise<ChatReply>;

/** A message that the user sent while the turn ran, admitted as a prompt is. */
export interface SteeredMessage {
  item: UserItem;
  /** As it was typed or sent. */
  text: string;
  /** The client's name for it. */
  id: string | undefined;
}

/** What a turn needs besides the session. */
export interface TurnOptions extends Omit<CallOptions, "io"> {
  io: CallOptions["io"] & { clock: Clock };
  model: AskModel;
  /** Yields what the user has said since; asked after the results of each assistant message with tool calls. */
  steered?(): AsyncIterable<SteeredMessage>;
  /** End after this many replies. */
  maxTurns: number | undefined;
}

/** The options of a turn that runs, with what is counted. */
export interface RunningTurn extends TurnOptions {
  count: TurnCount;
}
