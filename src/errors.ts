/**
 * The one error class and the one list of codes. Thrown deep, shown once, turned into an exit code here.
 *
 * Exit codes are a public contract (docs: `agentcli help exit-codes`, README).
 */

/** Every failure a person or a program can be told about, with the process exit code it ends in. */
export const EXIT_CODE_OF = {
  turn_failed: 1,
  provider_error: 1,
  invalid_reply: 1,
  empty_reply: 1,
  output_failed: 1,
  internal: 1,
  runtime_too_old: 1,
  usage: 2,
  config_invalid: 3,
  config_write_failed: 3,
  home_unusable: 3,
  key_store_unusable: 3,
  unknown_provider: 3,
  unknown_model: 3,
  unknown_role: 3,
  unknown_session: 3,
  session_in_use: 3,
  no_provider: 3,
  no_model: 3,
  provider_unreachable: 4,
  connection_lost: 4,
  provider_timeout: 4,
  provider_busy: 4,
  auth_failed: 5,
  key_missing: 5,
  policy_refused: 6,
  permission_denied: 6,
  max_turns: 7,
  context_overflow: 7,
  loop_detected: 7,
  timeout: 7,
  check_failed: 8,
  interrupted: 130,
  terminated: 143,
} as const;

/** One of the enumerated codes; also `error_code` of result events and of `--json` errors. */
export type ErrorCode = keyof typeof EXIT_CODE_OF;

/** Optional parts of an error besides its message. */
export interface ErrorDetails {
  /** The next step: one line, an imperative sentence or a command. */
  hint?: string;
  cause?: unknown;
}

/**
 * A failure that people can act on. `message` says what failed and on what, in one line; `hint` says what to do.
 * Neither ever holds a key, protected content, or a server's echo of the request.
 */
export class AgentcliError extends Error {
  override readonly name = "AgentcliError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
  }

  /** The exit code of the process that ends with this error. */
  get exitCode(): number {
    return EXIT_CODE_OF[this.code];
  }
}

/**
 * A failure that can be shown. A permission that Deno was not given is reported as that; anything else that is no
 * {@link AgentcliError} is a bug of ours and is said to be one, without what it was working on.
 */
export function asAgentcliError(error: unknown): AgentcliError {
  if (error instanceof AgentcliError) return error;
  const name = error instanceof Error ? error.name : typeof error;
  if (error instanceof Error && name === "NotCapable") {
    const [needed = "", flag = "start it with more permissions"] = error.message.split(", ");
    return new AgentcliError("usage", `Deno does not permit this: ${needed}`, { hint: flag, cause: error });
  }
  return new AgentcliError("internal", `internal error (${name})`, {
    hint: "run again with --verbose and report what it prints",
    cause: error,
  });
}
