/**
 * A plan as a profile of macOS's `sandbox-exec`. Written from the profiles that the system ships; not run yet: no test of
 * this project has seen a Mac. The self-check decides there as everywhere, so a profile that does not hold means refusal.
 */
import { stat } from "../../platform/files.ts";
import type { BackendOptions, PlanStep, SandboxBackend, SandboxPlan } from "./backend.ts";

/** The one place of the program; it cannot be replaced under System Integrity Protection. */
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const TEMPORARY = "/private/tmp";

/** The rules of each step; the last one that fits a path holds, and a plan names what is denied behind what is allowed. */
const STEP: Readonly<Partial<Record<PlanStep["kind"], (path: string) => string>>> = {
  write: (path) => `(allow file-write* (subpath ${path}))`,
  // A name that stays in place: without it, what is hidden below comes to light under another name.
  pin: (path) => `(deny file-write-unlink (literal ${path}))`,
  freeze: (path) => `(deny file-write* (subpath ${path}))`,
  hide_file: (path) => `(deny file-read* file-write* (literal ${path}))`,
  hide_directory: (path) => `(deny file-read* file-write* (subpath ${path}))`,
};

/** Returns a path as a string of the profile language. */
function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Returns the profile: everything may be read but what is hidden, written only in the roots and scratch places. */
function seatbeltProfile(plan: SandboxPlan, home: string): string {
  return [
    "(version 1)",
    "(allow default)",
    ...plan.network ? [] : ["(deny network*)"],
    // Services that act for others: launchd, the keychain, Apple events, the pasteboard.
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

/** Returns how `sandbox-exec` can be started: it hands the variables that it starts with on to the command. */
export async function seatbeltBackends({ home }: BackendOptions): Promise<SandboxBackend[]> {
  if (await stat(SANDBOX_EXEC) === null) return [];
  return [{
    name: "sandbox-exec",
    line(plan) {
      // The language of profiles has no escape for control characters.
      // deno-lint-ignore no-control-regex -- control characters are what is looked for
      if (plan.steps.some(({ path }) => /[\x00-\x1f]/.test(path))) return null;
      const argv: [string, ...string[]] = [SANDBOX_EXEC, "-p", seatbeltProfile(plan, home), ...plan.argv];
      return { argv, env: { ...plan.env, HOME: TEMPORARY, TMPDIR: TEMPORARY } };
    },
  }];
}
