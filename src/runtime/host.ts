/** The host that a surface hands to a session, and how it watches a turn. */
import type { AskPermission, TurnHooks } from "../agent/turn_options.ts";
import type { Io } from "../platform/io.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import type { FormAnswer, ServerForm } from "../mcp/elicit.ts";
import type { Tool, UnsavedText } from "../tools/tool.ts";

/** The part of a session that differs between surfaces. */
export interface Host {
  io: Io;
  /** Absolute. */
  cwd: string;
  /** The version of this program, for transcripts. */
  version: string;
  /** The session has one prompt: a new transcript may be opened after its request was sent. */
  isSingleTurn?: boolean;
  /** Models are named as clients of stream-json name them. */
  clientNames?: boolean;
  /** Reports the size of the first request, part by part. */
  verbose?: boolean;
  /** Returns tools besides the built-in ones; asked whenever the session is opened. */
  tools?(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Lets a person fill in a form of an MCP server; absent where there is nobody. */
  elicit?(form: ServerForm, signal: AbortSignal): Promise<FormAnswer>;
  /** Asks an editor for its text of a file; absent where none can be asked. */
  unsaved?: UnsavedText;
  /** Shows a notice, which `--quiet` hides. Texts are not cleaned for a terminal. */
  notice(text: string): void | Promise<void>;
  /** Shows a warning, which nothing hides. */
  warn(text: string): void | Promise<void>;
  /** Shows what is waited for, until the returned function is called or something else is shown. */
  waiting?(label: string): () => Promise<void>;
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
