/**
 * Messages of JSON-RPC 2.0: one line each, read into a tagged union once and trusted afterwards. Parameters are by
 * name.
 */
import { isRecord, parseJson } from "../platform/record.ts";

export type RpcId = string | number | null;

export type RpcParams = Record<string, unknown>;

/** Error codes of JSON-RPC, and the one of a canceled request. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  cancelled: -32800,
} as const;

/** An error as it is answered; `message` is for people. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type RpcOutcome = { result: unknown } | { error: RpcError };

/** A parsed line. `broken` says what is wrong, and what to answer if it was a request. */
export type RpcMessage =
  | { kind: "request"; id: RpcId; method: string; params: RpcParams }
  | { kind: "notification"; method: string; params: RpcParams }
  | { kind: "response"; id: RpcId; outcome: RpcOutcome }
  | { kind: "broken"; error: RpcError; id: RpcId; isJson: boolean };

/** The error for an unknown method. It repeats the name, which comes from the other side. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(RPC_CODES.methodNotFound, `unknown method: ${method.slice(0, 100)}`);
}

/** Reads one line; null for an empty one. Never throws; the problem of a broken line does not quote it. */
export function readRpcLine(line: string | null): RpcMessage | null {
  if (line === null) return broken("the line is too long", { isJson: true });
  if (line.trim() === "") return null;
  const value = parseJson(line);
  if (value === undefined) return broken("the line is not JSON", { code: RPC_CODES.parseError });
  if (Array.isArray(value)) return broken("batches are not supported: send one message per line", { isJson: true });
  if (!isRecord(value)) return broken("the message is not an object", { isJson: true });
  return readMessage(value);
}

function readMessage(value: Record<string, unknown>): RpcMessage {
  const { jsonrpc, method, params = null } = value;
  const isNamed = Object.hasOwn(value, "id");
  if (isNamed && !isId(value.id)) return broken("the id is not a string or a number", { isJson: true });
  const id = isNamed ? value.id as RpcId : null;
  if (jsonrpc !== "2.0") return broken('the message is not JSON-RPC 2.0: "jsonrpc" is missing', { id, isJson: true });
  if (method === undefined && isNamed) return readResponse(id, value);
  if (typeof method !== "string") return broken("the message has no method", { id, isJson: true });
  if (params !== null && !isRecord(params)) {
    const code = RPC_CODES.invalidParams;
    return broken("params are not an object", { id, code, isJson: true });
  }
  return isNamed
    ? { kind: "request", id, method, params: params ?? {} }
    : { kind: "notification", method, params: params ?? {} };
}

function readResponse(id: RpcId, value: Record<string, unknown>): RpcMessage {
  if (Object.hasOwn(value, "result")) return { kind: "response", id, outcome: { result: value.result } };
  if (!isRecord(value.error)) return broken("the message has no method, result or error", { id, isJson: true });
  const { code, message, data } = value.error;
  const error = new RpcError(
    typeof code === "number" ? code : RPC_CODES.internalError,
    typeof message === "string" ? message : "unknown error",
    data,
  );
  return { kind: "response", id, outcome: { error } };
}

function broken(
  problem: string,
  { id = null, code = RPC_CODES.invalidRequest, isJson = false }: { id?: RpcId; code?: number; isJson?: boolean },
): RpcMessage {
  return { kind: "broken", error: new RpcError(code, problem), id, isJson };
}

function isId(value: unknown): value is RpcId {
  return value === null || typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}

/** A request as a line. */
export function requestLine(id: RpcId, method: string, params: RpcParams): string {
  return lineOf({ id, method, params });
}

/** A notification as a line. */
export function notificationLine(method: string, params: RpcParams): string {
  return lineOf({ method, params });
}

/** An answer as a line. */
export function responseLine(id: RpcId, outcome: RpcOutcome): string {
  if ("result" in outcome) return lineOf({ id, result: outcome.result ?? {} });
  const { code, message, data } = outcome.error;
  return lineOf({ id, error: { code, message, data } });
}

function lineOf(message: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n";
}
