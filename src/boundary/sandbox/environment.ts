/** Picks the variables that a command in a sandbox gets, by an allow list. */
import { isSecretVariable } from "../policy/leaky_environment.ts";

/** Programs need these, and none of them usually holds a key. */
const KEPT = new Set(["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "CI"]);

/**
 * Returns the variables for a command in a sandbox, taken from ours, without any that contains protected content:
 * `named` are those of the user's `sandbox.env`, `secret` those with keys of providers, which are never passed.
 */
export async function sandboxEnvironment(
  environment: Readonly<Record<string, string>>,
  { named, secret, holdsProtected }: {
    named: readonly string[];
    secret: readonly string[];
    holdsProtected?: ((text: string) => Promise<boolean>) | undefined;
  },
): Promise<Record<string, string>> {
  const never = new Set(secret);
  const kept = Object.entries(environment).filter(([name]) =>
    /^[A-Za-z_]\w*$/.test(name) && !never.has(name) && !/^AGENTCLI_/.test(name) &&
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
