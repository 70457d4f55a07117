/** Picks the variables that a command in a sandbox gets: those of a list of names, not all but those of a list. */
import { isSecretVariable } from "../policy/leaky_environment.ts";

/** Programs need these to find their way about; none of them is a place for keys. */
const KEPT = new Set(["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "CI"]);

/** The options of {@link sandboxEnvironment}. */
export interface EnvironmentOptions {
  /** Names that the user lets through: `sandbox.env`. */
  named: readonly string[];
  /** Names that hold resolved keys of providers: never let through. */
  secret: readonly string[];
  /** Whether a text holds protected content; without it none is looked for. */
  holdsProtected?: ((text: string) => Promise<boolean>) | undefined;
}

/** Returns the variables for a command in a sandbox, from ours. One that holds protected content is left out. */
export async function sandboxEnvironment(
  environment: Readonly<Record<string, string>>,
  { named, secret, holdsProtected }: EnvironmentOptions,
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
