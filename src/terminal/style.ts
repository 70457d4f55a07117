/** Styles: spans of text, rows of them, and whether color is wanted. */
import type { Io } from "../platform/io.ts";
import { displayWidth } from "./table.ts";

/**
 * `NO_COLOR` and `--no-color` turn it off, `FORCE_COLOR` turns it on, else a terminal that is not dumb has it. An empty
 * variable counts as not set.
 */
export function wantsColor(io: Pick<Io, "env" | "stdout">, options: { noColor: boolean }): boolean {
  const set = (name: string) => (io.env(name) ?? "") !== "";
  if (options.noColor || set("NO_COLOR")) return false;
  if (set("FORCE_COLOR")) return io.env("FORCE_COLOR") !== "0";
  return io.stdout.isTerminal && io.env("TERM") !== "dumb";
}

export type Style =
  | "plain"
  | "dim"
  | "bold"
  | "italic"
  | "heading"
  | "code"
  | "link"
  | "added"
  | "removed"
  | "keyword"
  | "string"
  | "comment"
  | "number"
  | "warning"
  | "error"
  | "good"
  | "accent"
  | "selected";

/** A piece of one line. It holds no control characters. */
export interface Span {
  text: string;
  style: Style;
}

/** One line of a terminal. */
export type Row = readonly Span[];

// The sixteen colors alone: they follow the user's own palette, light or dark.
const CODES: Readonly<Record<Style, string>> = {
  plain: "",
  dim: "2",
  bold: "1",
  italic: "3",
  heading: "1;36",
  code: "36",
  link: "4;34",
  added: "32",
  removed: "31",
  keyword: "35",
  string: "32",
  comment: "2",
  number: "33",
  warning: "33",
  error: "31",
  good: "32",
  accent: "36",
  selected: "7",
};

const RESET = "\x1b[0m";

/** A piece. */
export function span(text: string, style: Style = "plain"): Span {
  return { text, style };
}

/** A line of one style. */
export function row(text: string, style: Style = "plain"): Row {
  return [span(text, style)];
}

/** The line as it is written; without color only its text. */
export function paint(line: Row, { color }: { color: boolean }): string {
  if (!color) return plainText(line);
  let painted = "";
  let code = "";
  for (const { text, style } of line) {
    if (text === "") continue;
    const next = CODES[style];
    // Words of one style are one piece, so that a wrapped line costs no extra bytes.
    if (next !== code) painted += `${code === "" ? "" : RESET}${next === "" ? "" : `\x1b[${next}m`}`;
    code = next;
    painted += text;
  }
  return code === "" ? painted : painted + RESET;
}

/** The text of a line. */
export function plainText(line: Row): string {
  return line.map(({ text }) => text).join("");
}

/** Cells of a line. */
export function rowWidth(line: Row): number {
  return displayWidth(plainText(line));
}
