/**
 * One table of a TOML file that others write too. Nothing around it changes: comments, order, line ends. What the table
 * holds is compared as text, so a comment that somebody adds to it is a change by hand.
 */
import { parseJson } from "../../platform/record.ts";
import { TextProblem } from "../limits.ts";
import { cutPart, setPart, type TextPart } from "./section.ts";

/** A line of the file at its top level, with what belongs to it: a value over several lines is one statement. */
interface Statement {
  start: number;
  end: number;
  /** The text after the name: the value of an assignment. */
  rest: string;
  /** The whole name: of a header that of the table, of an assignment with that of its table. */
  names: string[];
  isHeader: boolean;
  /** `[[name]]`. */
  isList: boolean;
}

/** A bare name, or one in quotes, and the space around it. */
const NAME = /[ \t]*(?:[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')[ \t]*/y;
/**
 * A comment, a text, a run without them and brackets, or one character. Up to two quotes can precede those that end a
 * text.
 */
const TOKEN =
  /#[^\n]*|"""(?:\\[^]|[^\\])*?"{3,5}|'''[^]*?'{3,5}|(?!""")"(?:\\.|[^"\\\n])*"|(?!''')'[^'\n]*'|[^#"'[\]{}\n]+|[^]/y;

/** Reads a text by character, as far as the borders of values go. */
export class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  get at(): number {
    return this.#at;
  }

  get isDone(): boolean {
    return this.#at >= this.text.length;
  }

  /** Skips lines without a statement. */
  skipBlank(): void {
    for (;;) {
      this.match(/\s*/y);
      if (this.text[this.#at] !== "#") return;
      this.match(/[^\n]*/y);
    }
  }

  take(sign: string): boolean {
    if (!this.text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  /** A name of one or several parts: `a."b c".d`. */
  names(): string[] {
    const names: string[] = [];
    do names.push(this.#named(this.match(NAME).trim())); while (this.take("."));
    return names;
  }

  /** Skips the rest of a statement up to the end of its line; brackets and texts may span several. */
  skipRest(): void {
    for (let depth = 0; !this.isDone;) {
      if (depth === 0 && this.text[this.#at] === "\n") return;
      const token = this.match(TOKEN);
      if (token === '"' || token === "'") throw new TextProblem(`the text of line ${this.#line()} does not end`);
      if (token === "[" || token === "{") depth += 1;
      if (token === "]" || token === "}") depth -= 1;
      if (depth < 0) throw new TextProblem(`line ${this.#line()} closes what it does not open`);
      if (depth > 0 && this.isDone) throw new TextProblem("a list or a table does not end");
    }
  }

  /** Escapes that JSON does not have can spell any name, even ours. */
  #named(written: string): string {
    if (written === "") throw new TextProblem(`line ${this.#line()} has no name`);
    const name = written.startsWith('"') ? parseJson(written) : written.replace(/^'(.*)'$/, "$1");
    if (typeof name === "string") return name;
    throw new TextProblem(`line ${this.#line()} has a name with escapes that are not known here`);
  }

  #line(): number {
    return this.text.slice(0, this.#at).split("\n").length;
  }

  /** Takes what a sticky pattern finds here; empty where it finds nothing. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

/** Reads the tables and assignments of a text. Throws {@link TextProblem}. */
export function statementsOf(text: string): Statement[] {
  const scanner = new Scanner(text);
  scanner.take("\ufeff");
  const statements: Statement[] = [];
  let table: string[] = [];
  for (scanner.skipBlank(); !scanner.isDone; scanner.skipBlank()) {
    const start = scanner.at;
    const isHeader = scanner.take("[");
    const isList = isHeader && scanner.take("[");
    const names = scanner.names();
    if (!scanner.take(isList ? "]]" : isHeader ? "]" : "=")) {
      throw new TextProblem("a line is neither a table nor a value");
    }
    const behind = scanner.at;
    scanner.skipRest();
    if (isHeader) table = names;
    const whole = isHeader ? names : [...table, ...names];
    // A carriage return before the line end is not part of it.
    const end = scanner.at - (text[scanner.at - 1] === "\r" ? 1 : 0);
    statements.push({ start, end, rest: text.slice(behind, end), names: whole, isHeader, isList });
  }
  return statements;
}

function isBelow(names: readonly string[], above: readonly string[]): boolean {
  return above.length <= names.length && above.every((name, at) => names[at] === name);
}

/** Where a table with its own values is, and what belongs to it. */
interface Place extends TextPart {
  /** It and the tables below it, which its program may have added: each run of them. */
  runs: TextPart[];
}

function placeOf(text: string, at: readonly string[]): Place | null {
  const statements = statementsOf(text);
  const above = statements.find(({ names, isHeader, isList }) =>
    names.length < at.length && isBelow(at, names) && (!isHeader || isList)
  );
  if (above !== undefined) {
    throw new TextProblem(`${above.names.join(".")} is one value there, so no table can be added`);
  }
  const runs: Statement[][] = [];
  statements.forEach((one, index) => {
    if (!isBelow(one.names, at)) return;
    const before = statements[index - 1];
    if (before !== undefined && isBelow(before.names, at)) runs.at(-1)?.push(one);
    else runs.push([one]);
  });
  const header = runs[0]?.[0];
  if (header === undefined) return null;
  const isOwn = header.isHeader && !header.isList && header.names.length === at.length;
  if (!isOwn || !runs.every(([first]) => first?.isHeader === true)) {
    throw new TextProblem(`${at.join(".")} is there, but not as a table of its own`);
  }
  const [, ...rest] = runs[0] ?? [];
  const next = rest.findIndex(({ isHeader }) => isHeader);
  const last = (next < 0 ? rest : rest.slice(0, next)).at(-1) ?? header;
  return {
    start: header.start,
    end: last.end,
    runs: runs.map((run) => ({ start: run[0]?.start ?? 0, end: run.at(-1)?.end ?? 0 })),
  };
}

/**
 * Returns the own values of a table with plain line ends and its header; null when the file has none. Throws
 * {@link TextProblem}.
 */
export function readTable(text: string, at: readonly string[]): string | null {
  const place = placeOf(text, at);
  return place && text.slice(place.start, place.end).replaceAll("\r\n", "\n").trimEnd();
}

/** Returns the text with the table set. Throws {@link TextProblem}. */
export function writeTable(text: string, at: readonly string[], { content }: { content: string }): string {
  return setPart(text, placeOf(text, at), { content });
}

/** Returns the text without the table and those below it: without it they mean nothing. Throws {@link TextProblem}. */
export function removeTable(text: string, at: readonly string[]): string {
  return (placeOf(text, at)?.runs ?? []).toReversed().reduce(cutPart, text);
}

/** Returns a table of texts and lists of texts, header included. */
export function tableText(at: readonly string[], values: Readonly<Record<string, string | readonly string[]>>): string {
  const written = (value: string | readonly string[]): string =>
    typeof value === "string" ? JSON.stringify(value) : `[${value.map(written).join(", ")}]`;
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${written(value)}`);
  return [`[${at.join(".")}]`, ...lines].join("\n");
}
