/** Scaffolded hooks that an earlier version of the program wrote, as this one writes them. */
import { type Artifact, decodeBase64, resourceHash } from "../resources/artifact.ts";
import { DIALECTS } from "../dialect.ts";
import { isEvent, isScaffold, SCAFFOLDS } from "./events.ts";
import type { Installed } from "../plan/ledger.ts";
import { makeScaffold } from "../resources/make_artifact.ts";
import { type AssistantId, ASSISTANTS, isAssistant } from "../assistants.ts";
import { handlersOf } from "../resources/hook_entry.ts";
import { makeAssistantGuard } from "../resources/make_assistant.ts";
import { parametersOf, type Scripts, scriptsOf } from "./scaffold.ts";
import { dirname } from "../../platform/path.ts";

/**
 * Returns a hook as this version writes it, in the places and with the parameters and events that it has. Null for
 * everything else: anything but a scaffold, adopted ones, and those with an unfinished change.
 */
export function scaffoldAsNow({ kind, name, scope, base, dialect, resources }: Installed): Artifact | null {
  if (kind !== "hook" || !isScaffold(name)) return null;
  if (resources.some(({ written, adopted, also, removing }) => written === null || (adopted ?? also ?? removing))) {
    return null;
  }
  const script = resources.map(({ resource }) => resource).find(({ path }) => path.endsWith(`/${name}.sh`));
  const items = resources.flatMap(({ resource }) => resource.kind === "item" ? resource : []);
  const [first] = items;
  if (script?.kind !== "file" || first === undefined) return null;
  const scripts = scriptsOf(name, parametersOf(name, new TextDecoder().decode(decodeBase64(script.content))));
  const places = { scope, base, hooks: first.path, scripts: dirname(script.path) };
  if (isAssistant(dialect)) return guardAsNow(dialect, scripts, { ...places, items });
  return makeScaffold(name, scripts, {
    ...SCAFFOLDS[name],
    events: items.map(({ at }) => at.at(-1) ?? "").filter(isEvent),
    to: { dialect: DIALECTS[dialect], places },
  });
}

/** Returns the guard of an assistant; of one line, for the system for which it was written. */
function guardAsNow(
  id: AssistantId,
  scripts: Scripts,
  { scope, items, ...places }: Pick<Installed, "scope" | "base"> & {
    hooks: string;
    scripts: string;
    items: readonly { value?: unknown }[];
  },
): Artifact | null {
  if (scope === "system") return null;
  const isWindows = items.some(({ value }) =>
    handlersOf(value).some(({ command }) => typeof command === "string" && !command.startsWith("bash "))
  );
  return makeAssistantGuard(scripts, {
    dialect: ASSISTANTS[id],
    places: { ...places, scope, servers: "", rule: null },
    os: isWindows ? "windows" : "linux",
  });
}

/** Returns those of the installed hooks that an earlier version wrote, as this one does. */
export async function upgradedScaffolds(installed: readonly Installed[]): Promise<Artifact[]> {
  const upgraded: Artifact[] = [];
  for (const one of installed) {
    const now = scaffoldAsNow(one);
    if (now === null) continue;
    const hashes = await Promise.all(now.resources.map(resourceHash));
    if (hashes.some((hash) => !one.resources.some(({ written }) => written === hash))) upgraded.push(now);
  }
  return upgraded;
}

/** Returns the notices about those that an earlier version wrote, one sentence each. */
export async function earlierVersions(installed: readonly Installed[]): Promise<string[]> {
  return (await upgradedScaffolds(installed)).map(({ name }) =>
    `an earlier version wrote hook:${name}: agentcli editor apply upgrades it`
  );
}
