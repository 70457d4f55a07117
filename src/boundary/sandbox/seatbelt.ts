/**
 * Runs a plan with macOS's `sandbox-exec`. Written after the profiles that macOS ships, and not run yet: no test of
 * this project has seen a Mac. The self-check decides there, too, so a profile that leaks means refusal.
 */
import { statSync } from "../../platform/files.ts";
import type { BackendOptions, PlanStep, SandboxBackend, SandboxPlan } from "./backend.ts";

/** System Integrity Protection keeps this program from being replaced. */
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const TEMPORARY = "/private/tmp";

/** The rules for each step. The last match wins, and plans list denied paths after allowed ones. */
const STEP: Readonly<Partial<Record<PlanStep["kind"], (path: string) => string>>> = {
  write: (path) => `(allow file-write* (subpath ${path}))`,
  // Keeps a directory from being renamed, because its hidden content would be visible under the new name.
  pin: (path) => `(deny file-write-unlink (literal ${path}))`,
  freeze: (path) => `(deny file-write* (subpath ${path}))`,
  hide_file: (path) => `(deny file-read* file-write* (literal ${path}))`,
  hide_directory: (path) => `(deny file-read* file-write* (subpath ${path}))`,
  empty_directory: (path) => `(deny file-read* file-write* (subpath ${path}))`,
};

/** Returns a path quoted for the profile language. */
function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Returns the profile: commands may read what is not hidden, and write only in the roots and scratch places. */
function seatbeltProfile(plan: SandboxPlan, home: string): string {
  return [
    "(version 1)",
    "(allow default)",
    ...plan.network ? [] : ["(deny network*)"],
    // Services that act on behalf of others: launchd, the keychain, Apple events, the pasteboard.
    "(deny mach-lookup)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.logger"))',
    "(deny appleevent-send)",
    "(deny process-info* (target others))",
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/tty") (literal "/dev/zero"))',
    `(allow file-write* (subpath ${quoted(TEMPORARY)}))`,
    ...plan.steps.flatMap(({ kind, path }) => STEP[kind]?.(quoted(path)) ?? []),
    `(deny file-read* file-write* (subpath ${quoted(home)}))`,
  ].join("\n");
}

/** Returns the way to start `sandbox-exec`, which passes its own environment on to the command. */
export function seatbeltBackends({ home }: BackendOptions): SandboxBackend[] {
  if (statSync(SANDBOX_EXEC) === null) return [];
  return [{
    name: "sandbox-exec",
    line(plan) {
      // The profile language has no escape for control characters.
      // deno-lint-ignore no-control-regex -- control characters are what is searched for
      if (plan.steps.some(({ path }) => /[\x00-\x1f]/.test(path))) return null;
      // It has no option for the working directory.
      const inside = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', plan.cwd, ...plan.argv];
      const argv: [string, ...string[]] = [SANDBOX_EXEC, "-p", seatbeltProfile(plan, home), ...inside];
      return { argv, env: { ...plan.env, HOME: TEMPORARY, TMPDIR: TEMPORARY } };
    },
  }];
}
