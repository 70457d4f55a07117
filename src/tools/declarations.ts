/** Declares the built-in tools: all that a session needs of them before their first call, when their code is loaded. */
import type { PlainSchema } from "../mcp/signature.ts";
import type { SessionMemory, ToolDeclaration } from "./tool.ts";
import bash from "./bash/prompt.md" with { type: "text" };
import bashOutput from "./bash_output/prompt.md" with { type: "text" };
import edit from "./edit/prompt.md" with { type: "text" };
import explore from "./explore/prompt.md" with { type: "text" };
import git from "./git/prompt.md" with { type: "text" };
import glob from "./glob/prompt.md" with { type: "text" };
import grep from "./grep/prompt.md" with { type: "text" };
import read from "./read/prompt.md" with { type: "text" };
import todoWrite from "./todo_write/prompt.md" with { type: "text" };
import write from "./write/prompt.md" with { type: "text" };

const string = { type: "string" } as const;
const integer = { type: "integer" } as const;
const boolean = { type: "boolean" } as const;

/** The schema of an object: the first `required` names have to be given. */
function object(properties: Record<string, PlainSchema>, required = 1): PlainSchema {
  return { type: "object", properties, required: Object.keys(properties).slice(0, required) };
}

export interface ReadInput {
  file_path: string;
  offset?: number;
  limit?: number;
}

export const readDeclaration: ToolDeclaration<ReadInput> = {
  name: "Read",
  description: read.trim(),
  parameters: object({
    file_path: string,
    offset: { type: "integer", description: "first line, from 1" },
    limit: integer,
  }),
  kind: "read",
  subject: (input) => input.file_path,
};

export interface WriteInput {
  file_path: string;
  content: string;
}

export const writeDeclaration: ToolDeclaration<WriteInput> = {
  name: "Write",
  description: write.trim(),
  parameters: object({ file_path: string, content: string }, 2),
  kind: "write",
  subject: (input) => input.file_path,
};

export interface EditInput extends Partial<EditPart> {
  file_path: string;
  replace_all?: boolean;
  /** Several changes of one file, all or none. */
  edits?: EditPart[];
  /** The lines to replace, where old_string is not found; from one before the first on, nothing is replaced. */
  start_line?: number;
  end_line?: number;
  /** How often old_string occurs in the file, where all of them are meant. */
  expected_replacements?: number;
}

/** One change. In a list, an empty `old_string` stands for the end of the file. */
export interface EditPart {
  old_string: string;
  new_string: string;
  /** A line before the place, where old_string occurs several times. */
  after?: string;
}

export const editDeclaration: ToolDeclaration<EditInput> = {
  name: "Edit",
  description: edit.trim(),
  parameters: object({ file_path: string, old_string: string, new_string: string, replace_all: boolean }, 3),
  taken: {
    properties: {
      edits: { type: "array", items: object({ old_string: string, new_string: string, after: string }, 2) },
      start_line: integer,
      end_line: integer,
      expected_replacements: integer,
    },
    instead: [["file_path", "edits"], ["file_path", "new_string", "start_line", "end_line"]],
  },
  kind: "write",
  subject: (input) => input.file_path,
};

export interface GlobInput {
  pattern: string;
  /** Directory to search; the working directory when absent. */
  path?: string;
}

export const globDeclaration: ToolDeclaration<GlobInput> = {
  name: "Glob",
  description: glob.trim(),
  parameters: object({ pattern: string, path: string }),
  kind: "read",
  subject: (input) => input.pattern,
};

const OUTPUT_MODES = ["content", "files_with_matches", "count"] as const;

export interface GrepInput {
  pattern: string;
  /** File or directory; the working directory when absent. */
  path?: string;
  /** Pattern of the files, by name or path below `path`. */
  glob?: string;
  output_mode?: typeof OUTPUT_MODES[number];
  /** Lines shown before and after each match. */
  context?: number;
}

export const grepDeclaration: ToolDeclaration<GrepInput> = {
  name: "Grep",
  description: grep.trim(),
  parameters: object({
    pattern: string,
    path: { type: "string", description: "file or directory" },
    glob: { type: "string", description: "only these files, e.g. *.ts" },
    output_mode: { type: "string", enum: [...OUTPUT_MODES] },
    context: { type: "integer", description: "lines around a match" },
  }),
  kind: "read",
  subject: (input) => input.pattern,
};

export interface BashInput {
  command: string;
  /** Milliseconds. */
  timeout?: number;
  /** Declared only beside BashOutput. */
  background?: boolean;
}

export const bashDeclaration: ToolDeclaration<BashInput> = {
  name: "Bash",
  description: bash.trim(),
  parameters: object({ command: string, timeout: { type: "integer", description: "ms, at most 600000" } }),
  kind: "execute",
  subject: (input) => input.command,
};

export interface TodoWriteInput {
  todos: SessionMemory["todos"];
}

export const todoWriteDeclaration: ToolDeclaration<TodoWriteInput> = {
  name: "TodoWrite",
  description: todoWrite.trim(),
  parameters: object({
    todos: {
      type: "array",
      items: object(
        { content: string, status: { type: "string", enum: ["pending", "in_progress", "completed"] } },
        2,
      ),
    },
  }),
  kind: "note",
  subject: ({ todos: { length } }) => `${length} todo${length === 1 ? "" : "s"}`,
};

const GIT_ACTIONS = ["status", "diff", "log", "show", "add", "commit", "branch", "switch", "stash"] as const;

export interface GitInput {
  action: typeof GIT_ACTIONS[number];
  /** Files or directories, relative to the project; all when absent, but for `add`. */
  paths?: string[];
  message?: string;
  /** A commit, or two with `..` between them; a branch for `branch` and `switch`; what to do for `stash`. */
  rev?: string;
  staged?: boolean;
  /** A new branch. */
  create?: boolean;
  count?: number;
}

export const gitDeclaration: ToolDeclaration<GitInput> = {
  name: "Git",
  description: git.trim(),
  parameters: object({
    action: { type: "string", enum: [...GIT_ACTIONS] },
    paths: { type: "array", items: string },
    message: { type: "string", description: "for commit, stash" },
    rev: {
      type: "string",
      description: "commit, commit:path, a..b; branch; for stash: push, list, show, apply, pop",
    },
    staged: { type: "boolean", description: "for diff" },
    create: { type: "boolean", description: "for switch" },
    count: { type: "integer", description: "for log" },
  }),
  kind: "execute",
  subject: (input) => [input.action, ...input.rev === undefined ? [] : [input.rev], ...input.paths ?? []].join(" "),
};

export interface BashOutputInput {
  /** As Bash named it. */
  id: string;
  end?: boolean;
}

export const bashOutputDeclaration: ToolDeclaration<BashOutputInput> = {
  name: "BashOutput",
  description: bashOutput.trim(),
  parameters: object({ id: string, end: boolean }),
  kind: "note",
  mayRepeat: true,
  subject: (input) => input.end === true ? `end ${input.id}` : input.id,
};

export interface ExploreInput {
  task: string;
}

/** Not of kind `read`: a local model does one thing after the other. */
export const exploreDeclaration: ToolDeclaration<ExploreInput> = {
  name: "Explore",
  description: explore.trim(),
  parameters: object({ task: string }),
  kind: "note",
  subject: (input) => input.task,
};
