/** What a command gets of the environment: everything but keys and what makes a runtime write its insides elsewhere. */

/** Names that go. Source: specification of the boundary §7, threats 97 and 109. */
const REMOVED: readonly RegExp[] = [
  // Keys, by the way they are named.
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_ID)?$/i,
  /^AGENTCLI_/i,
  // Runtimes that copy text out: telemetry, session keys of TLS, debug logs.
  /^OTEL_/i,
  /^SSLKEYLOGFILE$/i,
  /^NODE_(?:DEBUG|V8_COVERAGE)$/i,
  /^NODE_DEBUG_/i,
  /^DENO_(?:LOG|TRACE|INSPECT|COVERAGE|AUTO_SERVE|SERVE)/i,
];

/** What every command finds set: nobody is there to page or to answer. */
const SET: Readonly<Record<string, string>> = {
  TERM: "dumb",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  PAGER: "cat",
};

/** The variables of a child process, from ours. `secret` are the names that hold resolved keys. */
export function childEnvironment(
  environment: Readonly<Record<string, string>>,
  secret: readonly string[],
): Record<string, string> {
  const hidden = new Set(secret.map((name) => name.toUpperCase()));
  const kept = Object.entries(environment).filter(([name]) =>
    !hidden.has(name.toUpperCase()) && !REMOVED.some((form) => form.test(name))
  );
  return { ...Object.fromEntries(kept), ...SET };
}
