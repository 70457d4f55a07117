/** Looks for syntax errors that a change of a file introduced, with a parser of ours or an installed one. */
import { cutText } from "../platform/text.ts";
import { collectText } from "../platform/process.ts";
import { findProgram } from "../boundary/programs.ts";
import { runWatched } from "../boundary/sandbox/watched_run.ts";
import type { ResolvedPath } from "../boundary/workspace/workspace.ts";
import { readyCommand, watchOptions } from "./bash/start.ts";
import type { ToolContext } from "./tool.ts";

/** An error as a parser reports it; the line is null where it names none. */
interface SyntaxProblem {
  line: number | null;
  message: string;
}

/** An installed program that reads a text from its standard input and says what is wrong with it. */
interface Program {
  program: string;
  args: readonly string[];
  /** Finds `line` and `message` in its output. */
  says: RegExp;
}

/** A way to check a text: a parser of ours, or the first of these programs that is installed. */
interface Checker {
  own?: (text: string) => Promise<SyntaxProblem | null>;
  programs?: (text: string, extension: string) => readonly Program[];
}

/** Milliseconds that a program has; a slower one is ignored. */
const PROGRAM_MS = 300;
/** Longer texts are not checked, in UTF-16 units. */
const TEXT_LIMIT = 512 * 1024;
/** Bytes of a program's output that are read. */
const OUTPUT_LIMIT = 16 * 1024;
/** Most errors that are reported to the model. */
const SHOWN = 3;

const PYTHON = `import ast, sys
try:
    compile(sys.stdin.buffer.read(), "file", "exec", ast.PyCF_ONLY_AST)
except (SyntaxError, ValueError) as error:
    print("%s: %s" % (getattr(error, "lineno", 1), getattr(error, "msg", error)))`;

const TOML = `import sys
try:
    import tomllib
except ImportError:
    sys.exit()
try:
    tomllib.loads(sys.stdin.buffer.read().decode())
except ValueError as error:
    print(error)`;

const python = (script: string, says: RegExp): Program => ({
  program: "python3",
  // Isolated: nothing of the project or the user is imported.
  args: ["-I", "-S", "-W", "ignore", "-c", script],
  says,
});

const denoFormat = (_: string, extension: string): Program => ({
  program: "deno",
  args: ["fmt", "--no-config", "--ext", extension, "--check", "-"],
  says: /Error: (?<message>[^\n]+)[^]*?_stdin\.\w+:(?<line>\d+):\d+/g,
});

const node = (text: string, extension: string): Program => {
  const isModule = extension === "mjs" || (extension === "js" && /^[ \t]*(?:import|export)\b/m.test(text));
  return {
    program: "node",
    args: [`--input-type=${isModule ? "module" : "commonjs"}`, "--check", "-"],
    // Only its project knows which of the two a file is.
    says:
      /^\[stdin\]:(?<line>\d+)[^]*?^SyntaxError: (?<message>(?!await is only|Cannot use 'import|Illegal return).+)$/gm,
  };
};

const GO: Program = {
  program: "gofmt",
  args: ["-e", "-l"],
  says: /^<standard input>:(?<line>\d+):\d+: (?<message>.+)$/gm,
};
const RUBY: Program = { program: "ruby", args: ["-c"], says: /^-:(?<line>\d+): (?<message>.+)$/gm };
const PHP: Program = {
  program: "php",
  args: ["-n", "-l"],
  says: /(?:Parse|Fatal) error:\s+(?<message>.+) in Standard input code on line (?<line>\d+)/g,
};
const BASH: Program = {
  program: "bash",
  args: ["-n"],
  says: /^\S*bash: (?:line (?<line>\d+): )?(?<message>(?:syntax error|unexpected EOF).*)$/gm,
};

const SCRIPTS: Checker = { programs: (text, extension) => [node(text, extension), denoFormat(text, extension)] };
const TYPED: Checker = { programs: (text, extension) => [denoFormat(text, extension)] };
const SHELL: Checker = { programs: (text) => /^#!.*\b(?:zsh|fish|csh|tcsh|ksh)\b/.test(text) ? [] : [BASH] };

/** Extension → how its texts are checked. */
const CHECKERS: Readonly<Record<string, Checker>> = {
  json: { own: jsonProblem },
  yaml: { own: yamlProblem },
  yml: { own: yamlProblem },
  toml: { programs: () => [python(TOML, /^(?<message>.*) \(at line (?<line>\d+)/gm)] },
  py: { programs: () => [python(PYTHON, /^(?<line>\d+): (?<message>.+)$/gm)] },
  js: SCRIPTS,
  mjs: SCRIPTS,
  cjs: SCRIPTS,
  jsx: TYPED,
  ts: TYPED,
  mts: TYPED,
  cts: TYPED,
  tsx: TYPED,
  go: { programs: () => [GO] },
  rb: { programs: () => [RUBY] },
  php: { programs: () => [PHP] },
  sh: SHELL,
  bash: SHELL,
};

/** Files that are named as JSON and read with comments. */
const WITH_COMMENTS =
  /(?:^|\/)(?:[tj]sconfig[^/]*|deno|devcontainer|\.eslintrc|\.swcrc|\.babelrc)\.json$|\.vscode\/|\.zed\//;

/**
 * A sentence about the syntax errors in `after` that `before` does not have, to follow the result of a change; empty
 * for none, for an unknown language, and where nothing installed can check in time. Protected files are checked
 * by our own parsers alone.
 */
export async function syntaxNote(
  path: ResolvedPath,
  { before, after }: { before: string; after: string },
  context: ToolContext,
): Promise<string> {
  try {
    const found = await problemsOf(path, after, context);
    const known = found.length === 0 || before === "" ? [] : await problemsOf(path, before, context);
    const shown = found.filter(({ message }) => !known.some((one) => one.message === message)).slice(0, SHOWN);
    if (shown.length === 0) return "";
    const errors = shown.map(({ line, message }) => `${line === null ? "" : `line ${line}: `}${cutText(message, 160)}`);
    return `\nThe file has a syntax error now: ${errors.join("; ")}. Call Edit to mend it.`;
  } catch {
    // The change stands, whatever happens to the checker.
    return "";
  }
}

async function problemsOf(path: ResolvedPath, text: string, context: ToolContext): Promise<SyntaxProblem[]> {
  const extension = /\.(\w+)$/.exec(path.path)?.[1]?.toLowerCase() ?? "";
  const checker = Object.hasOwn(CHECKERS, extension) ? CHECKERS[extension] : undefined;
  if (checker === undefined || text.length > TEXT_LIMIT || WITH_COMMENTS.test(path.path)) return [];
  if (checker.own !== undefined) {
    const problem = await checker.own(text);
    return problem === null ? [] : [problem];
  }
  const isOpen = context.workspace.ambientLabel === "open" && context.workspace.ruleAt(path) === null;
  return isOpen ? await askProgram(text, checker.programs?.(text, extension) ?? [], context) : [];
}

async function askProgram(
  text: string,
  programs: readonly Program[],
  context: ToolContext,
): Promise<SyntaxProblem[]> {
  const { workspace, io } = context;
  const search = { path: io.env("PATH") ?? "", roots: [workspace.root, ...workspace.additional], io };
  for (const { program, args, says } of programs) {
    const found = await findProgram(program, search);
    if (found === null) continue;
    const output = await outputOf([found, ...args], text, context);
    return [...output.matchAll(says)].map(({ groups = {} }) => ({
      line: groups.line === undefined ? null : Number(groups.line),
      // deno-lint-ignore no-control-regex -- control characters are what is removed
      message: (groups.message ?? "").replace(/[\x00-\x1f\x7f]+/g, " ").trim(),
    }));
  }
  return [];
}

/** Returns a program's output about a text; it runs like a command. Empty when it times out or may not run. */
async function outputOf(argv: [string, ...string[]], text: string, context: ToolContext): Promise<string> {
  const { said, onOutput } = collectText(OUTPUT_LIMIT);
  const stdin = new TextEncoder().encode(text);
  const options = { stdin, signal: context.signal, timeoutMs: PROGRAM_MS, onOutput };
  // Outside of the project: some programs choose their version by a file where they start.
  const cwd = context.io.os === "windows" ? context.workspace.root : "/";
  const ready = await readyCommand({ argv, cwd, env: { NO_COLOR: "1" } }, context);
  if (typeof ready === "string") return "";
  const outcome = await runWatched(ready.program, { ...options, ...watchOptions(context) });
  return outcome.ended !== "exit" || outcome.exposed !== null ? "" : said.stdout + said.stderr;
}

// deno-lint-ignore require-await -- as the parser that is loaded
async function jsonProblem(text: string): Promise<SyntaxProblem | null> {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const said = error instanceof Error ? error.message : "";
    const at = /at position (\d+)/.exec(said)?.[1];
    const line = at === undefined ? text.trimEnd().split("\n").length : text.slice(0, Number(at)).split("\n").length;
    // Without the position, and without the quotation of the text.
    const message = said.replace(/ (?:in JSON )?at position \d+.*$/s, "").replace(/, (?:\.\.\.)?".*$/s, "");
    return text.trim() === "" ? null : { line, message };
  }
}

async function yamlProblem(text: string): Promise<SyntaxProblem | null> {
  // Templates are not YAML yet.
  if (text.includes("{{") || text.includes("{%")) return null;
  const { structureProblem } = await import("../config/yaml.ts");
  return structureProblem(text);
}
