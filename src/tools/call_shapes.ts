/** Turns the forms of calls that models were trained on, by tool, into the arguments that our tools take. */
import { shellWord } from "../shell/quote.ts";
import { meantParameter } from "../provider/trained_names.ts";
import { isPatch, type Patch, readPatch } from "./edit/patch.ts";
import { isRecord, parseJson } from "../platform/record.ts";
import { basename } from "../platform/path.ts";

export type Input = Record<string, unknown>;

/** Another tool or other arguments, and what the model is told of it; null for a call that is good as it is. */
type Shaped = { name: string; input: Input; note?: string } | { problem: string } | null;

/** Tool → what else its calls can mean. `plain` is the name that the model used. */
export const SHAPES: Readonly<Record<string, (input: Input, plain: string) => Shaped>> = {
  Read: shapeRead,
  Edit(input, plain) {
    const texts = withTexts(input, plain);
    return shapeEditor(texts) ?? shapePatch(texts) ?? shapeList(texts) ?? shapeDiff(texts) ??
      (texts === input ? null : { name: "Edit", input: texts });
  },
  Write: shapeWrite,
  Grep: shapeSearch,
  Bash: shapeCommand,
  TodoWrite: shapeTodos,
};

/** First and last line become an offset and a number of lines; what lists a directory lists the project. */
function shapeRead(input: Input, plain: string): Shaped {
  const { view_range: range, offset, limit, ...rest } = input;
  const [from, to] = Array.isArray(range)
    ? range
    : [rest.start_line ?? rest.line_start ?? offset, rest.end_line ?? rest.line_end];
  const [first, last] = [Number(from ?? 1), Number(to)];
  const lines = to === undefined || to === null || !(last >= first) ? limit : last - first + 1;
  const given = Object.keys(rest).length > 0 || !/^(?:list|ls|dir)/.test(plain) ? rest : { file_path: "." };
  if (range === undefined && to === undefined && given === rest) return null;
  const { start_line: _1, line_start: _2, end_line: _3, line_end: _4, ...other } = given as Input;
  return { name: "Read", input: { ...other, ...from === undefined ? {} : { offset: first }, limit: lines ?? null } };
}

/** The commands of the editor that several models were trained with. */
function shapeEditor(input: Input): Shaped {
  const { command, file_text: content, insert_line: line, new_str, insert_text, ...rest } = input;
  const isString = typeof new_str === "string" || typeof insert_text === "string";
  switch (command) {
    case "view":
      return shapeRead(rest, "view") ?? { name: "Read", input: rest };
    case "create":
      return { name: "Write", input: { ...rest, ...content === undefined ? {} : { content } } };
    case "str_replace": {
      const { command: _, ...replace } = input;
      return { name: "Edit", input: replace };
    }
    case "insert": {
      if (!isString || !Number.isSafeInteger(Number(line))) return null;
      const place = { start_line: Number(line) + 1, end_line: Number(line) };
      return { name: "Edit", input: { ...rest, new_string: new_str ?? insert_text, ...place } };
    }
    case "undo_edit":
      return { problem: "Edits cannot be taken back by a call. Call Edit with the text as it was." };
    default:
      return null;
  }
}

const TEXTS: Input = { old_string: null, new_string: null, content: null };

/** The argument that means one of {@link TEXTS}, whatever it is called. */
function meantEntry(
  entries: [name: string, value: unknown][],
  wanted: string,
): [name: string, value: unknown] | undefined {
  return entries.find(([name]) => meantParameter(name, TEXTS) === wanted);
}

/**
 * The arguments with every text as a string: a list of lines is joined, null is the empty text, and so is an absent one
 * for the tool that allows it.
 */
function withTexts(input: Input, plain: string): Input {
  const path = pathOf(input);
  const isCode = typeof path === "string" && !HOLDS_ANYTHING.test(basename(path.trim()));
  const given: [name: string, value: unknown][] = Object.entries(input).map(([name, value]) => {
    const meant = meantParameter(name, TEXTS);
    if (meant === null) return [name, value];
    const text = meant === "new_string" && value === null ? "" : joined(value);
    return [name, isCode && typeof text === "string" ? withoutFence(text) : text];
  });
  // Without a new text, `str_replace` removes the old one. Source: the documentation of the text editor tool.
  const isRemoval = plain.startsWith("strreplace") && meantEntry(given, "old_string") &&
    !meantEntry(given, "new_string");
  if (isRemoval) given.push(["new_string", ""]);
  if (given.every(([name, value]) => input[name] === value)) return input;
  const [old, now] = [meantEntry(given, "old_string"), meantEntry(given, "new_string")];
  // A text from a fence ends like the text beside it.
  if (typeof old?.[1] === "string" && typeof now?.[1] === "string" && now[1] !== "" && input[now[0]] !== now[1]) {
    if (old[1].endsWith("\n") && !now[1].endsWith("\n")) now[1] += "\n";
  }
  return Object.fromEntries(given);
}

/** A text that is one fence, without the fence and its last line end; any other as it is. */
function withoutFence(text: string): string {
  const inside = /^\s*```[\w.+-]*[ \t]*\n([^]*?)\n?[ \t]*```\s*$/.exec(text)?.[1];
  return inside === undefined || inside.includes("```") ? text : inside;
}

/** A list of lines as one text; any other value as it is. */
function joined(value: unknown): unknown {
  if (!Array.isArray(value) || value.length === 0 || !value.every((line) => typeof line === "string")) return value;
  return value.slice(0, -1).some((line) => line.endsWith("\n")) ? value.join("") : value.join("\n");
}

/** A diff as new_string, whose old side is old_string. */
function shapeDiff(input: Input): Shaped {
  const entries = Object.entries(input);
  const [, old] = meantEntry(entries, "old_string") ?? [];
  const [name = "", text] = meantEntry(entries, "new_string") ?? [];
  if (typeof old !== "string" || typeof text !== "string" || !/^-/m.test(text) || !/^\+/m.test(text)) return null;
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines.every((line) => /^[ +-]/.test(line))) return null;
  const side = (other: string) =>
    lines.filter((line) => !line.startsWith(other)).map((line) => line.slice(1)).join("\n");
  return side("+") === old.replace(/\n$/, "")
    ? { name: "Edit", input: { ...input, [name]: side("-") + (old.endsWith("\n") ? "\n" : "") } }
    : null;
}

const HOLDS_ANYTHING = /\.(?:md|mdx|markdown|rst|adoc|txt|text|log|csv|tsv|diff|patch|html?)$|^[^.]*$/i;
/** One fence, after a line or two that announce it. */
const FENCED = /^(?:[^\n`]{1,200}\n){0,2}\s*```[\w.+-]*[ \t]*\n([^]*?\n)?```\s*$/;

/**
 * A content as the file that it is meant to be: a list of lines, an object of JSON, without a fence or line numbers.
 */
function shapeWrite(input: Input): Shaped {
  const [name, given] = meantEntry(Object.entries(input), "content") ?? [];
  const path = pathOf(input);
  if (name === undefined || typeof path !== "string") return null;
  const file = basename(path.trim());
  const write = (content: string, note?: string): Shaped => ({
    name: "Write",
    input: { ...input, [name]: content },
    ...note === undefined ? {} : { note: `[${note}]` },
  });
  if (typeof given !== "string") {
    if (/\.json\w?$/.test(file) && typeof given === "object" && given !== null) {
      return write(`${JSON.stringify(given, null, 2)}\n`);
    }
    const text = joined(given);
    return typeof text === "string" ? write(text.endsWith("\n") ? text : `${text}\n`) : null;
  }
  if (HOLDS_ANYTHING.test(file)) return null;
  const patch = isPatch(given) ? readPatch(given) : null;
  if (patch?.kind === "edits" && patch.path !== undefined && basename(patch.path) === file) return callOf(patch, path);
  const fenced = FENCED.exec(given);
  if (fenced !== null && !(fenced[1] ?? "").includes("\n```")) {
    return write(fenced[1] ?? "", "the code fence around content was left out");
  }
  const plain = withoutNumbers(given);
  if (plain !== null) return write(plain, "the line numbers in content were left out");
  // A text that was escaped twice: no file is one line that ends with a backslash and an n.
  if (!given.includes("\n") && /\\n$/.test(given)) {
    const text = parseJson(`"${given}"`);
    if (typeof text === "string") return write(text, "\\\\n in content was taken as the end of a line");
  }
  return null;
}

/** A text without line numbers, where every line has one and they count up from 1. */
function withoutNumbers(text: string): string | null {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length < 2 || !lines.every((line, index) => new RegExp(`^ *${index + 1}[\\t\u2192]`).test(line))) {
    return null;
  }
  return lines.map((line) => line.replace(/^ *\d+[\t\u2192]/, "")).join("\n") + (text.endsWith("\n") ? "\n" : "");
}

/** Types of files as search programs call them → the extension. */
const TYPES: Readonly<Record<string, string>> = {
  python: "py",
  javascript: "js",
  typescript: "ts",
  rust: "rs",
  ruby: "rb",
};

/** The options of grep and ripgrep, and a pattern of files as the path. */
function shapeSearch(input: Input): Shaped {
  const { pattern, path, type, ...rest } = input;
  const has = (names: readonly string[]) => names.some((name) => rest[name] === true || rest[name] === "true");
  const isLoose = has(["-i", "i", "ignore_case", "ignoreCase", "case_insensitive", "caseInsensitive"]) ||
    [rest.case_sensitive, rest.caseSensitive].some((value) => value === false || value === "false");
  const around = ["-C", "-A", "-B"].map((name) => Number(rest[name])).filter((lines) => lines > 0);
  const changed: Input = {};
  if (isLoose && typeof pattern === "string" && !pattern.startsWith("(?i)")) changed.pattern = `(?i)${pattern}`;
  if (around.length > 0 && rest.context === undefined) changed.context = Math.max(...around);
  if (typeof type === "string" && /^\w+$/.test(type) && rest.glob === undefined) {
    changed.glob = `*.${TYPES[type.toLowerCase()] ?? type.toLowerCase()}`;
  }
  if (typeof path === "string" && /[*?]|\{.*,/.test(path) && rest.glob === undefined) {
    const parts = path.split("/");
    const first = parts.findIndex((part) => /[*?{]/.test(part));
    changed.path = parts.slice(0, first).join("/") || ".";
    changed.glob = parts.slice(first).join("/");
  }
  return Object.keys(changed).length === 0 ? null : { name: "Grep", input: { ...input, ...changed } };
}

/** A status → what else models call it, without spaces and in lower case. */
const STATUSES = Object.entries({
  completed: ["done", "complete", "finished", "x", "true"],
  in_progress: ["inprogress", "doing", "active", "started", "current"],
  pending: ["todo", "open", "notstarted", "waiting", "false", ""],
});

function shapeTodos(input: Input): Shaped {
  const [only] = Object.values(input);
  const given = input.todos ?? only;
  const list = typeof given === "string" && !/^\s*[[{]/.test(given)
    ? given.split("\n").filter((line) => line.trim() !== "")
    : given;
  if (!Array.isArray(list)) return null;
  return { name: "TodoWrite", input: { todos: list.map(todoOf) } };
}

function todoOf(given: unknown): unknown {
  if (typeof given === "string") {
    const [, mark = "", text = given] = /^\s*(?:[-*+]|\d+[.)])?\s*(?:\[([ xX~>-]?)\])?\s*(.*)$/s.exec(given) ?? [];
    return { content: text, status: /x/i.test(mark) ? "completed" : /[~>-]/.test(mark) ? "in_progress" : "pending" };
  }
  if (!isRecord(given)) return given;
  const { content = given.task ?? given.title ?? given.text ?? given.description ?? given.step ?? given.name } = given;
  const status = String(given.status ?? given.state ?? given.completed ?? given.done ?? "");
  const word = status.toLowerCase().replace(/[\s_-]/g, "");
  return { content, status: STATUSES.find(([, words]) => words.includes(word))?.[0] ?? status };
}

/** Arguments that may hold a patch without being named after one. */
const PATCH_ARGUMENTS = ["patch", "diff", "input", "edit", "edits", "changes", "blocks"];

/** A patch in any argument. */
function shapePatch(input: Input): Shaped {
  for (const [name, value] of Object.entries(input)) {
    if (typeof value !== "string") continue;
    const isMeant = isPatch(value) || (PATCH_ARGUMENTS.includes(name) && /^(?:@@|<{5,9} ?SEARCH)/m.test(value));
    const patch = isMeant ? readPatch(value) : null;
    if (patch !== null) return callOf(patch, pathOf(input));
  }
  return null;
}

function pathOf(input: Input): unknown {
  return input.file_path ?? input.path ?? input.filePath ?? input.target_file ?? input.file ?? input.filename;
}

function fileOf(path: unknown): Input {
  return path === undefined ? {} : { file_path: path };
}

function callOf(patch: Patch, path: unknown): Shaped {
  if (patch.kind === "problem") return patch;
  if (patch.kind === "file") return { name: "Write", input: { file_path: patch.path, content: patch.content } };
  const { edits, edits: [only] } = patch;
  const isPlain = edits.length === 1 && only?.old_string !== "" && only?.after === undefined;
  return { name: "Edit", input: { ...fileOf(patch.path ?? path), ...isPlain ? only : { edits } } };
}

/** A list of one edit is that edit, and the list of a whole file's edits may name the file itself. */
function shapeList(input: Input): Shaped {
  const { edits, replacements, ReplacementChunks: chunks, ...rest } = input;
  const list = edits ?? replacements ?? chunks;
  if (!Array.isArray(list)) return null;
  const [only, second] = list;
  if (typeof only !== "object" || only === null) return null;
  if (second === undefined) return { name: "Edit", input: { ...rest, ...only } };
  return { name: "Edit", input: { ...fileOf(pathOf(rest) ?? pathOf(only as Input)), edits: list } };
}

/** `apply_patch` as a command: with a heredoc, or with the patch as its one word. */
const APPLY = /^\s*(?:apply_?patch)\s*(?:<<-?\s*(["']?)(\w+)\1\s*\n([^]*?)\n\s*\2|(["'])([^]*)\4)\s*$/i;

function timeOf(value: unknown): number | null {
  const [, amount = "", unit = ""] = typeof value === "string"
    ? /^(\d+(?:\.\d+)?)\s*(ms|s|m)\w*$/i.exec(value.trim()) ?? []
    : [];
  const each = { ms: 1, s: 1000, m: 60_000 }[unit.toLowerCase()];
  return each === undefined ? null : Math.round(Number(amount) * each);
}

/** A list of words becomes a command line, and what applies a patch becomes the edit. */
function shapeCommand(input: Input): Shaped {
  const { command, cmd, commands, args, ...others } = input;
  const asked = command ?? cmd ?? commands;
  const isSplit = typeof asked === "string" && !/\s/.test(asked.trim()) && Array.isArray(args);
  const given = isSplit ? [asked.trim(), ...args] : asked;
  const words = Array.isArray(given) ? commandLine(given.map(String)) : given;
  if (typeof words !== "string") return null;
  const line = Array.isArray(given) ? words : plainCommand(words);
  const time = timeOf(others.timeout);
  const rest = time === null ? others : { ...others, timeout: time };
  const [, , , heredoc, , word] = APPLY.exec(line) ?? [];
  const patch = readPatch(heredoc ?? word ?? "");
  if (patch !== null) return callOf(patch, undefined);
  if (Array.isArray(given) && /^apply_?patch$/i.test(String(given[0]))) {
    return shapePatch({ patch: String(given[1] ?? "") });
  }
  const { workdir, cwd = workdir } = rest;
  const place = typeof cwd === "string" && !/^\.?\/?$/.test(cwd) ? `cd ${shellWord(cwd)} && ` : "";
  return line === command && place === "" && rest === others
    ? null
    : { name: "Bash", input: { ...rest, command: place + line } };
}

function commandLine(words: readonly string[]): string {
  const [program = "", option = "", script] = words;
  // No program has a space in its name and arguments besides: these are lines.
  if (/^[\w.-]+\s/.test(program)) return words.join("\n");
  if (words.length === 3 && /^(?:\/\S*\/)?(?:ba|z|da)?sh$/.test(program) && /^-\w*c$/.test(option)) return script ?? "";
  return words.map(shellWord).join(" ");
}

/** Entities of HTML that mean nothing to a shell outside of quotes. */
const ENTITY = /&(amp|lt|gt|quot|#39|apos);/g;
const CHARACTERS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'" };

/**
 * Returns the command without a fence around it, without prompts before its lines, and with the characters of entities.
 */
function plainCommand(command: string): string {
  let plain = withoutFence(command);
  // No program is called `$`: a text that begins with it is a transcript, in which lines without it are output.
  if (/^\s*\$ \S/.test(plain)) {
    const lines = plain.trim().split("\n");
    if (lines.every((line) => /^\s*\$ /.test(line))) {
      plain = lines.map((line) => line.replace(/^\s*\$ /, "")).join("\n");
    } else if (!lines.slice(1).some((line) => /^\s*\$ /.test(line))) plain = plain.trim().slice(2);
  }
  const unquoted = plain.replace(/'[^']*'|"(?:\\.|[^"\\])*"/gs, "");
  return /&(?:amp|lt|gt);/.test(unquoted) ? decodeEntities(plain) : plain;
}

/** Returns a text with its HTML entities decoded. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, name) => CHARACTERS[name] ?? whole);
}
