/**
 * Names of environment variables that must not reach a child process, or that make the runtime itself copy text out.
 * Source: specification of the boundary §7, threats 97 and 109.
 */

/** Keys, by the way they are named. */
const KEY = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_ID)?$/i;

/** Telemetry, session keys of TLS, debug logs, coverage, profiles: what a runtime writes elsewhere when told to. */
const COPYING =
  /^(?:OTEL_|SSLKEYLOGFILE$|NODE_(?:DEBUG|V8_COVERAGE)$|NODE_DEBUG_|DENO_(?:LOG|TRACE|INSPECT|COVERAGE|AUTO_SERVE|SERVE|V8_FLAGS))/i;

/** Of those, the ones that make this very process do it. `OTEL_*` does nothing without the first. */
const ACTING: readonly string[] = [
  "OTEL_DENO",
  "SSLKEYLOGFILE",
  "NODE_DEBUG",
  "NODE_V8_COVERAGE",
  "DENO_LOG",
  "DENO_TRACE_PERMISSIONS",
  "DENO_COVERAGE_DIR",
  "DENO_V8_FLAGS",
];

/** Whether a variable of that name may hold a key or belongs to the tool itself: children never get it. */
export function isSecretVariable(name: string): boolean {
  return KEY.test(name) || /^AGENTCLI_/i.test(name);
}

/** Whether a variable of that name makes a runtime write or send its insides elsewhere. */
export function isCopyingVariable(name: string): boolean {
  return COPYING.test(name);
}

/** The variables that make this process copy text out, as they are set now. A few look-ups by name. */
export function copyingVariables(env: (name: string) => string | undefined): string[] {
  return ACTING.filter((name) => {
    const value = env(name);
    return value !== undefined && value !== "" && !(name === "OTEL_DENO" && /^(?:0|false)$/i.test(value));
  });
}
