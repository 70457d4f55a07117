/** What differs between the surfaces of a session: a command, a chat, a client of a protocol. */
import type { Io } from "../platform/io.ts";
import type { Tool } from "../tools/tool.ts";

/** What a surface brings. */
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
  /** Tells a person something that may be left out where quiet is wanted. Texts are not cleaned for a terminal. */
  notice(text: string): void | Promise<void>;
  /** Tells a person something that is never left out. */
  warn(text: string): void | Promise<void>;
  /** Shows that the server loads its model, until the returned function is called. */
  loading?(): () => Promise<void>;
}
