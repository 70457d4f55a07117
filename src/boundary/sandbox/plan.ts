/** What a sandboxed command sees, step by step, before anything is said in the words of one tool. */

/**
 * One step; later ones lie over earlier ones. `pin` mounts a directory on itself, so that it cannot be renamed: what is
 * hidden below it would come to light under another name.
 */
export type PlanStep =
  | { kind: "read" | "write" | "pin" | "freeze"; path: string }
  | { kind: "link"; path: string; target: string }
  | { kind: "scratch"; path: string }
  | { kind: "hide_file" | "hide_directory"; path: string };

/** What is to be run, and what it sees. */
export interface SandboxPlan {
  steps: readonly PlanStep[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
}

/**
 * Shell: closes every file but the three of a command. What our own caller left open comes down to us, and a directory
 * among it leads past every mount. A shell that cannot close a file of two digits ends here, and the command does not run.
 */
export const CLOSE_FILES = `if [ -d /proc/self/fd ]; then
for f in /proc/self/fd/*; do f=\${f##*/}; [ "$f" -le 2 ] || eval "exec $f>&-"; done
else f=3; while [ "$f" -lt 1024 ]; do eval "exec $f>&-"; f=$((f + 1)); done; fi`;
