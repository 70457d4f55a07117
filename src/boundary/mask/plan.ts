/** What a masked command sees, step by step, before anything is said in the words of one tool. */

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
export interface MaskPlan {
  steps: readonly PlanStep[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
}
