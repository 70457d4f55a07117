/** The state of the guard and the origin of what is installed. */
import { type HookEvent, SCAFFOLDS } from "../hooks/events.ts";
import type { FoundArtifact } from "../resources/found.ts";
import type { Finding } from "./try_server.ts";
import { resourceHash } from "../resources/artifact.ts";
import { hashOnDisk, textsOnDisk } from "../plan/draft.ts";
import { canonical } from "../resources/json_tree.ts";
import type { Installed, Ledger } from "../plan/ledger.ts";
import { artifactsInWorktree, worktreesAround } from "../plan/other_places.ts";

export const GUARD_FIX = "agentcli editor add hook no-cloud-guard --force";

/** Returns whether a command line runs the guard that comes with the program. */
export function isGuard(entry: unknown): boolean {
  return /no-cloud-guard/.test(JSON.stringify(entry ?? null));
}

/**
 * Returns the findings about the events without a guard. `installed`: the ledger says that it was installed here. A
 * project that never had one gets a warning; one that has lost a part of it a failure. `isStopped`: a file cannot be
 * used, so that nothing can be added to it before it is repaired.
 */
export function missingGuards(
  found: readonly FoundArtifact[],
  { installed, isStopped }: { installed: boolean; isStopped: boolean },
): Finding[] {
  const guards = found.filter(({ kind, entry, otherAgent }) =>
    kind === "hook" && otherAgent !== true && isGuard(entry)
  );
  if (guards.length === 0 && !installed) {
    const message = "no no-cloud-guard is installed";
    return [{ level: "warning", subject: "guard", message, fix: "agentcli editor add hook no-cloud-guard" }];
  }
  const without = (event: HookEvent) => !guards.some((guard) => guard.event === event);
  return SCAFFOLDS["no-cloud-guard"].events.filter(without).map((event): Finding => ({
    level: "failure",
    subject: event,
    message: "no guard is set on this event, so the editor lets every such action pass",
    fix: isStopped ? `once the file that cannot be used is right: ${GUARD_FIX}` : GUARD_FIX,
  }));
}

/** Returns the finding for a guard that was not run: nothing shows that it blocks. */
export function unprovenGuard(subject: string, origin: Origin): Finding {
  return origin === "changed"
    ? {
      level: "failure",
      subject,
      message: "the guard is not as it was written from here, so it was not run, and nothing shows that it blocks",
      fix: GUARD_FIX,
    }
    : {
      level: "failure",
      subject,
      message: "others wrote this guard, so it was not run, and nothing shows that it blocks",
      fix: `look at it; --foreign runs it, and ${GUARD_FIX} makes it ours`,
    };
}

/** `own`: unchanged, with its scripts; `changed`: ours, but edited; `foreign`: somebody else's. */
export type Origin = "own" | "changed" | "foreign";

/** Returns where a hook or a server comes from. `root` is the project. */
export async function originOf(
  found: FoundArtifact,
  { ledger, root }: { ledger: Ledger; root: string },
): Promise<Origin> {
  const artifacts = [...ledger.artifacts, ...artifactsInWorktree(ledger, root, worktreesAround(root))];
  const owner = artifacts.find((one) => one.kind === found.kind && holds(one, found));
  if (owner === undefined) return found.ours ? "changed" : "foreign";
  for (const { resource, written, adopted, backup } of owner.resources) {
    // An adopted one was not written from here: whoever wrote it, it is as they left it.
    if (adopted && backup !== undefined && await resourceHash(backup) === written) return "foreign";
    // A missing script is not a changed one: its line must be run to show the result.
    const now = resource.kind === "file" ? await hashOnDisk(resource, textsOnDisk()) : null;
    if (now !== null && now !== written) return "changed";
  }
  return "own";
}

function holds({ resources }: Installed, { path, event, name, entry }: FoundArtifact): boolean {
  return resources.some(({ resource, written }) => {
    if (written === null || resource.path !== path) return false;
    if (resource.kind !== "item" && resource.kind !== "member") return false;
    const isPlace = resource.kind === "item" ? resource.at.at(-1) === event : resource.at.at(-1) === name;
    return isPlace && canonical(resource.value) === canonical(entry);
  });
}
