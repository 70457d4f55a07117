/** What a command in a sandbox sees, step by step, before anything is said in the words of one tool. */

/**
 * One step; later ones lie over earlier ones. `source` is the real place of what is shown at `path`, where that is another
 * one. `pin` mounts a directory on itself, so that it cannot be renamed: what is hidden below it would come to light under
 * another name.
 */
export type PlanStep =
  | { kind: "read" | "write"; path: string; source?: string }
  | { kind: "pin" | "freeze"; path: string }
  | { kind: "link"; path: string; target: string }
  | { kind: "scratch"; path: string }
  | { kind: "hide_file" | "hide_directory"; path: string };

/** What is to be run, and what it sees. */
export interface SandboxPlan {
  steps: readonly PlanStep[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
  /** The network of the host; none otherwise. */
  network: boolean;
}

/** What to start for a plan: `env` is that of the program which makes the sandbox, not of the command. */
export interface StartLine {
  argv: [string, ...string[]];
  env: Record<string, string>;
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
 * A text as variables of a shell, which joins them as `text` and forgets them by `forget`. Command lines can be read by
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
