/** The facts that `private_status` reports of a project, from the configuration and the markers alone. */
import { rootKey } from "../boundary/policy/identity.ts";
import { openProject } from "../boundary/policy/project.ts";
import { rememberedRules } from "../boundary/policy/path_rules.ts";
import { isLocalProvider } from "../config/endpoint.ts";
import { DEMO, splitSelector } from "../config/find.ts";
import { loadConfiguration } from "../config/load.ts";
import type { Home } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";

/**
 * Returns the name under which the home keeps a project's data: it moves along, and another project at its path has
 * another.
 */
export function placeOf(root: string): string {
  const key = rootKey(root);
  // Without a creation time, a later directory can have the same key.
  return key.endsWith(":0") ? `${root} ${key}` : key;
}

/** Returns whether a local server is configured, and how many lines of markers protect something. */
export async function factsOf(
  home: Home,
  { io, root, model }: { io: Pick<Io, "env">; root: string; model: string | undefined },
): Promise<{ ready: boolean; rules: number }> {
  const [{ providers }, { localEndpoints, records }] = await Promise.all([
    loadConfiguration(home),
    openProject(home, root, { create: false }),
  ]);
  const named = model === undefined ? undefined : splitSelector(model)?.provider ?? model;
  const ready = named === DEMO ||
    providers.some((provider) =>
      (named === undefined || provider.name === named) &&
      isLocalProvider(provider, io, localEndpoints)
    );
  return { ready, rules: rememberedRules(records).rules.length };
}
