/** Whether the guard stands on every event that it is for, and is what was written from here. */
import type { HookEvent } from "../events.ts";
import type { FoundArtifact } from "../found.ts";
import { SCAFFOLDS } from "../scaffold_ids.ts";
import type { Finding } from "./finding.ts";
import type { Origin } from "./own.ts";

/** What puts the guard right. */
export const GUARD_FIX = "agentcli editor add hook no-cloud-guard --force";

/** Whether a command line runs the guard that comes with the program. */
export function isGuard(entry: unknown): boolean {
  return /no-cloud-guard/.test(JSON.stringify(entry ?? null));
}

/**
 * What is to be said of the events without a guard. `installed`: the ledger says that it was installed here. A project that
 * never had one is warned; one that has lost some of it does not get what was promised. `isStopped`: a file cannot be
 * used, so that nothing can be added to it before it is right again.
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

/** A guard that was not run: nothing shows that it blocks. */
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
