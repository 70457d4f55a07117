/** The declaration of Git for models: all that a session needs of the tool before its first call. */
import type { ToolDeclaration } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

const ACTIONS = ["status", "diff", "log", "show", "add", "commit", "branch", "switch", "stash"] as const;

/** Arguments of a call. */
export interface GitInput {
  action: typeof ACTIONS[number];
  /** Files or directories, relative to the project; all when absent, but for `add`. */
  paths?: string[];
  /** Of a commit or a stash. */
  message?: string;
  /** A commit, or two with `..` between them; a branch for `branch` and `switch`; what to do for `stash`. */
  rev?: string;
  /** For `diff`: what is staged. */
  staged?: boolean;
  /** For `switch`: a new branch. */
  create?: boolean;
  /** For `log`: how many commits. */
  count?: number;
}

/** The name, the prompt and the parameters. */
export const gitDeclaration: ToolDeclaration<GitInput> = {
  name: "Git",
  description: prompt.trim(),
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      paths: { type: "array", items: { type: "string" } },
      message: { type: "string", description: "for commit, stash" },
      rev: {
        type: "string",
        description: "commit, commit:path, a..b; branch; for stash: push, list, show, apply, pop",
      },
      staged: { type: "boolean", description: "for diff" },
      create: { type: "boolean", description: "for switch" },
      count: { type: "integer", description: "for log" },
    },
    required: ["action"],
  },
  kind: "execute",
  subject: (input) => [input.action, ...input.rev === undefined ? [] : [input.rev], ...input.paths ?? []].join(" "),
};
