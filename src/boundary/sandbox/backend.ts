/** The plan of what a command sees, and what all sandbox backends have in common. */
import { statSync } from "../../platform/files.ts";
import { realOrNull } from "../../platform/real_path.ts";
import { dirname } from "../../platform/path.ts";

/**
 * One mount; later ones cover earlier ones. `pin` mounts a directory on itself so that it cannot be renamed, because
 * its hidden content would be visible under the new name. What is hidden cannot be opened; an `empty_directory` can.
 */
export interface PlanStep {
  kind: "read" | "write" | "pin" | "freeze" | "link" | "scratch" | "hide_file" | "hide_directory" | "empty_directory";
  path: string;
  /** The real path of what is shown at `path`, if different; for a link its target. */
  source?: string;
}

/** A command and what it sees. */
export interface SandboxPlan {
  steps: readonly PlanStep[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
  /** Whether it has the host's network; otherwise it has none. */
  network: boolean;
}

/** A way to run a plan: one program or a set of programs. */
export interface SandboxBackend {
  /** For messages: `bubblewrap`, `unshare`, `sandbox-exec`. */
  name: string;
  /** Returns what to start, with the environment of the sandbox program itself; null if a path cannot be expressed. */
  line(plan: SandboxPlan): { argv: [string, ...string[]]; env: Record<string, string> } | null;
}

/** Where to look for backends; `programs` are directories for tests. */
export interface BackendOptions {
  os: "linux" | "darwin" | "windows";
  home: string;
  programs?: readonly string[];
}

/**
 * Shell code that closes all file descriptors but the standard three before the sandbox starts, and standard input too
 * if it is a directory. We inherit what our caller left open, and an open directory leads past every mount. A shell
 * that cannot close two-digit descriptors exits here, and the command does not run.
 */
export const CLOSE_FILES = `[ ! -d /dev/stdin ] || exec < /dev/null
if [ -d /proc/self/fd ]; then
for f in /proc/self/fd/*; do f=\${f##*/}; [ "$f" -le 2 ] || eval "exec $f>&-"; done
else f=3; while [ "$f" -lt 1024 ]; do eval "exec $f>&-"; f=$((f + 1)); done; fi`;

/** UTF-16 units of one variable: the system takes less than 128 KiB for each. */
const LONGEST_VARIABLE = 40_000;

/**
 * Splits a text into shell variables; the shell joins them with `text` and drops them with `forget`. Every user of the
 * machine can read command lines, but only the owner can read an environment.
 */
export function asVariables(text: string): { env: Record<string, string>; text: string; forget: string } {
  const env: Record<string, string> = {};
  for (let start = 0; start < text.length;) {
    const end = start + LONGEST_VARIABLE;
    // Never split a surrogate pair.
    const cut = /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
    env[`A${Object.keys(env).length}`] = text.slice(start, cut);
    start = cut;
  }
  const names = Object.keys(env);
  return { env, text: names.map((name) => `\${${name}}`).join(""), forget: `unset ${names.join(" ")}` };
}

/** Where sandbox programs are looked for: a `bwrap` on PATH could be anybody's. */
const TRUSTED_PLACES = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/wrappers/bin", "/run/current-system/sw/bin"];

/**
 * Returns the absolute path of a program that can be trusted to make a sandbox, or null: it is at a fixed place, and it
 * and its directory belong to root and nobody else can write them, also after resolving links. `places` is for tests.
 */
export function trustedProgram(
  name: string,
  { places = TRUSTED_PLACES, owner = 0 }: { places?: readonly string[] | undefined; owner?: number } = {},
): string | null {
  const found = places.map((place) => realOrNull(`${place}/${name}`)).filter((real) => real !== null);
  return found.find((real) => ownedBy(owner, real) && ownedBy(owner, dirname(real))) ?? null;
}

function ownedBy(owner: number, path: string): boolean {
  const found = statSync(path);
  return found !== null && found.owner === owner && found.mode !== null && (found.mode & 0o022) === 0;
}

/** Returns the shell that {@link CLOSE_FILES} needs: Bash, because not every `sh` can close all files. */
export function closingShell(): string | null {
  return trustedProgram("bash") ?? trustedProgram("sh");
}
