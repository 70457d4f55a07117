/**
 * The environment variables that child processes get, and those that make the runtime copy text elsewhere. Source:
 * specification of the boundary §7, threats 97 and 109.
 */

/** Matches variables that usually hold keys. */
const KEY = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_ID)?$/i;

/** Matches variables for telemetry, TLS session keys, debug logs, coverage and profiles, which copy data elsewhere. */
const COPYING =
  /^(?:OTEL_|SSLKEYLOGFILE$|NODE_(?:DEBUG|V8_COVERAGE)$|NODE_DEBUG_|DENO_(?:LOG|TRACE|INSPECT|COVERAGE|AUTO_SERVE|SERVE|V8_FLAGS))/i;

/** Those of them that affect this process. `OTEL_*` does nothing without the first. */
const ACTING: readonly string[] =
  "OTEL_DENO SSLKEYLOGFILE NODE_DEBUG NODE_V8_COVERAGE DENO_LOG DENO_TRACE_PERMISSIONS DENO_COVERAGE_DIR DENO_V8_FLAGS"
    .split(" ");

/** Returns whether a variable may hold a key or belongs to agentcli: children never get it. */
export function isSecretVariable(name: string): boolean {
  return KEY.test(name) || /^AGENTCLI_/i.test(name);
}

/** Returns whether a variable makes a runtime write or send its data elsewhere. */
export function isCopyingVariable(name: string): boolean {
  return COPYING.test(name);
}

/** Returns our variables but those that no child gets; `secret` are names that hold resolved keys, `kept` stay. */
export function harmlessEnvironment(
  environment: Readonly<Record<string, string>>,
  secret: readonly string[],
  { kept = [] }: { kept?: readonly string[] } = {},
): Record<string, string> {
  const hidden = new Set(secret.map((name) => name.toUpperCase()));
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) =>
      !hidden.has(name.toUpperCase()) && (kept.includes(name.toUpperCase()) || !isSecretVariable(name)) &&
      !isCopyingVariable(name)
    ),
  );
}

/** Returns the names of the set variables that make this process copy text elsewhere. */
export function copyingVariables(env: (name: string) => string | undefined): string[] {
  return ACTING.filter((name) => {
    const value = env(name);
    return value !== undefined && value !== "" && !(name === "OTEL_DENO" && /^(?:0|false)$/i.test(value));
  });
}

/** Of these, commands in a sandbox get ours: programs need them, and none of them usually holds a key. */
const KEPT = new Set(["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "CI"]);

/** Returns our variables for a command in a sandbox: also `named` ones (`sandbox.env`), never `secret` ones (keys). */
export async function sandboxEnvironment(
  environment: Readonly<Record<string, string>>,
  { named, secret, holdsProtected }: {
    named: readonly string[];
    secret: readonly string[];
    holdsProtected?: ((text: string) => Promise<boolean>) | undefined;
  },
): Promise<Record<string, string>> {
  const kept = Object.entries(environment).filter(([name]) =>
    /^[A-Za-z_]\w*$/.test(name) && !secret.includes(name) && !/^AGENTCLI_/.test(name) &&
    (KEPT.has(name) || /^LC_[A-Z]+$/.test(name) && !isSecretVariable(name) || named.includes(name))
  );
  const all = kept.map(([, value]) => value).join("\n");
  if (holdsProtected === undefined || !await holdsProtected(all)) return Object.fromEntries(kept);
  const open: Record<string, string> = {};
  for (const [name, value] of kept) {
    if (!await holdsProtected(value)) open[name] = value;
  }
  return open;
}
