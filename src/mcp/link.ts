/** The connection to one server, however it is reached: requests and notifications, without their meaning. */
import { AgentcliError } from "../errors.ts";
import type { JsonRecord } from "../platform/record.ts";
import { RpcError } from "../rpc/message.ts";
import { cleanText } from "./tool_info.ts";

/** The revision that needs no handshake. */
export const MODERN = "2026-07-28";
/** The revisions with a handshake, newest first. */
export const LEGACY: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** The codes of errors that have a meaning of their own. */
export const MCP_CODES = { unsupportedVersion: -32022, missingCapability: -32021, headerMismatch: -32020 } as const;

/** A failure of a server, as one clause; never what it sent of the request. */
export class ServerFailed extends Error {
  override readonly name = "ServerFailed";
  /** `gone`: this connection is useless now, but another one may work. */
  readonly kind: "gone" | "failed" | "timeout" | "unauthorized";

  constructor(message: string, kind: ServerFailed["kind"] = "failed") {
    super(message);
    this.kind = kind;
  }
}

export interface LinkRequest {
  signal: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

export interface LinkHandlers {
  /** Answers a request of the server. Throws `RpcError` for what is not supported. */
  request(method: string, params: JsonRecord, signal: AbortSignal): Promise<unknown>;
  notification(method: string, params: JsonRecord): void;
  /** Called once when the server prints something that is not a message. */
  junk?(): void;
}

export interface Link {
  /** Throws `RpcError` for an error of the server, {@link ServerFailed}, or the signal's reason. */
  request(method: string, params: JsonRecord, options: LinkRequest): Promise<JsonRecord>;
  notify(method: string, params: JsonRecord): Promise<void>;
  /** Sets the revision to use from now on. */
  settle(revision: string): void;
  /** Listens for what a server from before 2026-07-28 asks outside of any request of ours, on a stream of its own. */
  listen?(): void;
  /** Null as long as it can be used; else why not, one clause. */
  readonly ended: string | null;
  close(): Promise<void>;
}

/** Returns what went wrong as a clause without a subject. */
export function failureOf(error: unknown): string {
  if (error instanceof ServerFailed) return error.message;
  if (error instanceof RpcError) return `answered with an error: ${cleanText(error.message, 300)}`;
  if (error instanceof AgentcliError) return `cannot be reached: ${error.message}`;
  throw error;
}
