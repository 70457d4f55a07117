/** The plan of what a command sees, and what all backends have in common: the programs that make a sandbox. */
import { realPath, stat } from "../../platform/files.ts";
import { dirname } from "../../platform/path.ts";

/**
 * One step; later ones lie over earlier ones. `pin` mounts a directory on itself, so that it cannot be renamed: what is
 * hidden below it would come to light under another name.
 */
export interface PlanStep {
  kind: "read" | "write" | "pin" | "freeze" | "link" | "scratch" | "hide_file" | "hide_directory";
  path: string;
  /** The real place of what is shown at `path`, where that is another one; of a link its target. */
  source?: string;
}

/** A command, and what it sees. */
export interface SandboxPlan {
  steps: readonly PlanStep[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
  /** The network of the host; none otherwise. */
  network: boolean;
}

/** One program, or set of programs, that can make a sandbox of a plan. */
export interface SandboxBackend {
  /** For messages: `bubblewrap`, `unshare`, `sandbox-exec`. */
  name: string;
  /** Returns what to start, `env` for the program that makes the sandbox; null when a path cannot be expressed. */
  line(plan: SandboxPlan): { argv: [string, ...string[]]; env: Record<string, string> } | null;
}

/** Says where to look for backends; `programs` are places for tests. */
export interface BackendOptions {
  os: "linux" | "darwin" | "windows";
  home: string;
  programs?: readonly string[];
}

/**
 * Shell: closes every file but the three of a command, before a sandbox is made. What our own caller left open comes down
 * to us, and a directory among it leads past every mount. A shell that cannot close a file of two digits ends here, and the
 * command does not run.
 */
export const CLOSE_FILES = `if [ -d /proc/self/fd ]; then
for f in /proc/self/fd/*; do f=\${f##*/}; [ "$f" -le 2 ] || eval "exec $f>&-"; done
else f=3; while [ "$f" -lt 1024 ]; do eval "exec $f>&-"; f=$((f + 1)); done; fi`;

/** UTF-16 units of one variable: the system takes less than 128 KiB for each. */
const LONGEST_VARIABLE = 40_000;

/**
 * Returns a text as variables of a shell, which joins them as `text` and forgets them by `forget`. Command lines can be read by
 * every user of the machine, an environment only by its owner.
 */
export function asVariables(text: string): { env: Record<string, string>; text: string; forget: string } {
  const env: Record<string, string> = {};
  for (let start = 0; start < text.length;) {
    const end = start + LONGEST_VARIABLE;
    // Never between the halves of one character.
    const cut = /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
    env[`A${Object.keys(env).length}`] = text.slice(start, cut);
    start = cut;
  }
  const names = Object.keys(env);
  return { env, text: names.map((name) => `\${${name}}`).join(""), forget: `unset ${names.join(" ")}` };
}

/** Where programs that make sandboxes are looked for: a `bwrap` on PATH could be anybody's. */
const TRUSTED_PLACES = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/wrappers/bin", "/run/current-system/sw/bin"];

/**
 * Returns the absolute path of a program that may be trusted to make a sandbox: at a fixed place, and it and its directory belong to
 * root and can be written by nobody else, as named and as linked. Null when there is none. `places` for tests.
 */
export async function trustedProgram(
  name: string,
  options: { places?: readonly string[]; owner?: number } = {},
): Promise<string | null> {
  for (const place of options.places ?? TRUSTED_PLACES) {
    const real = await realPath(`${place}/${name}`).catch(() => null);
    if (real === null) continue;
    const owner = options.owner ?? 0;
    if (await ownedBy(owner, real) && await ownedBy(owner, dirname(real))) return real;
  }
  return null;
}

async function ownedBy(owner: number, path: string): Promise<boolean> {
  const found = await stat(path);
  return found !== null && found.owner === owner && found.mode !== null && (found.mode & 0o022) === 0;
}

/** Returns the shell that {@link CLOSE_FILES} needs: Bash, because not every `sh` can close all files. */
export async function closingShell(): Promise<string | null> {
  return await trustedProgram("bash") ?? await trustedProgram("sh");
}
