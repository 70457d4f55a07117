/** Failures as a client of the protocol is told of them. */
import { asAgentcliError, type ErrorCode } from "../../errors.ts";
import { RPC_CODES, RpcError } from "../../rpc/message.ts";

/** The protocol's own error codes. */
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

const CODES: Partial<Record<ErrorCode, number>> = {
  usage: RPC_CODES.invalidParams,
  unknown_provider: RPC_CODES.invalidParams,
  unknown_model: RPC_CODES.invalidParams,
  policy_refused: RPC_CODES.invalidParams,
  session_in_use: RPC_CODES.invalidRequest,
  unknown_session: NOT_FOUND,
  // The client then offers the methods of `initialize`, one of which looks for servers.
  no_provider: AUTH_REQUIRED,
};

/** The error that a request is answered with. The message holds the hint: many clients show nothing else. */
export function rpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const { code, message, hint } = asAgentcliError(error);
  const text = hint === undefined ? message : `${message} (${hint})`;
  return new RpcError(CODES[code] ?? RPC_CODES.internalError, text, { code, hint });
}

/** The error for parameters that cannot be used. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message);
}

/** Failures by which a prompt did not become part of the session: its author is told, and can change it. */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set(["usage", "policy_refused", "permission_denied"]);
