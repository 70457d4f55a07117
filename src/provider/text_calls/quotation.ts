/** Finds where a text only quotes (code as CommonMark cuts it, quoted lines, HTML, here-documents) or reasons. */
import { MARK_CANDIDATE, type ReasoningMark, reasoningMarkAt } from "../chat/reasoning_marks.ts";
import { endOfSpace } from "./cursor.ts";

/** Elements whose content is shown, not meant. A tool result is among them: a model that writes one makes it up. */
const ELEMENT =
  /<(pre|code|samp|kbd|xmp|blockquote|examples?|observation|(?:tool|function)_(?:response|result|output)s?)\b[^<>]{0,200}>/;

/** A here-document of a shell, with the word that ends it. */
const HERE_DOCUMENT = /<<[-~]?[ \t]*(["']?)([A-Za-z_]\w*)\1/;

/** The result of a tool, in the ReAct form. */
const OBSERVATION = String.raw`(?<=^|\n)\*{0,2}Observation:`;

/** Finds the places where a quotation may open. */
export const QUOTATION_OPENER: string = [
  "`|~~~",
  "<!--",
  ELEMENT.source.replace("(", "(?:"),
  String.raw`<(?=<[-~]?[ \t]*["']?[A-Za-z_])`,
  // A fence in quoted lines ends with them.
  String.raw`(?<=^|\n)[ \t]{0,3}>(?![> \t]*(?:\`\`\`|~~~))`,
  String.raw`\n[ \t]*\r?\n(?: {4}|\t)`,
  OBSERVATION,
].join("|");

/** Finds the ends of quotations in one text. */
interface Quotations {
  /** Offset after the quotation that opens at `at`; null when none does. */
  endOf(at: number): number | null;
}

/** Ready for `text`; every mark is searched for at most once, left to right, which keeps the work linear. */
export function createQuotations(text: string): Quotations {
  let closers: ReadonlyMap<number, number> | null = null;
  let lastLines: ReadonlyMap<string, number> | null = null;
  function endOfTicks(at: number): number {
    const character = text.charAt(at);
    let end = at;
    while (text.charAt(end) === character) end++;
    if (end - at >= 3 && opensFence(text, at, end)) {
      return endOfFence(text, { fence: text.slice(at, end), from: end });
    }
    if (character === "~") return end;
    closers ??= pairInline(text);
    return closers.get(at) ?? end;
  }
  return {
    endOf(at) {
      switch (text.charAt(at)) {
        case "`":
        case "~":
          return endOfTicks(at);
        case "\n":
          return endOfLines(text, text.indexOf("\n", at + 1) + 1, /(?: {4}|\t)[^\n]*\n?|[ \t\r]*\n/y);
        case "<":
          return endOfElement(text, at) ?? endOfHereDocument(text, at, lastLines ??= lastLinesOf(text));
        case ">":
        case " ":
        case "\t":
          return endOfLines(text, at, /[ \t]{0,3}>[^\n]*\n?/y);
        default:
          return null;
      }
    },
  };
}

/** True for the mark of a tool result. */
export function opensResult(text: string, at: number): boolean {
  if (/^\*{0,2}Observation:/.test(text.slice(at, at + 16))) return true;
  return /^<(?:observation|(?:tool|function)_)/.test(text.slice(at, at + 16)) && endOfElement(text, at) !== null;
}

/**
 * Returns how a line treats the text after `before`: as quoted (an item of a list, a row of a table, a quoted
 * or an indented line), that it is a part of a sentence, or nothing.
 */
export function positionOf(before: string): "quoted" | "amid" | "alone" {
  if (/^\s*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|[|>])|["'“‘«]$/.test(before)) return "quoted";
  if (before.trim() !== "") return "amid";
  return /^(?: {4}| {0,3}\t)/.test(before) ? "quoted" : "alone";
}

/** The offset after the lines from `at` that match `line`. */
function endOfLines(text: string, at: number, line: RegExp): number {
  line.lastIndex = at;
  while (line.lastIndex < text.length && line.test(text)) at = line.lastIndex;
  return at;
}

/** An element or comment without an end takes the rest. */
function endOfElement(text: string, at: number): number | null {
  const opener = new RegExp(`<!--|${ELEMENT.source}`, "y");
  opener.lastIndex = at;
  const found = opener.exec(text);
  if (found === null) return null;
  const close = found[1] === undefined ? "-->" : `</${found[1]}>`;
  const end = text.indexOf(close, opener.lastIndex);
  return end < 0 ? text.length : end + close.length;
}

/** The offset after the line that ends it; null when there is none. */
function endOfHereDocument(text: string, at: number, lastLines: ReadonlyMap<string, number>): number | null {
  const opener = new RegExp(HERE_DOCUMENT, "y");
  opener.lastIndex = at;
  const word = opener.exec(text)?.[2];
  if (word === undefined || (lastLines.get(word) ?? -1) < at) return null;
  const closing = new RegExp(`\\n[ \\t]*${word}[ \\t\\r]*(?=\\n|$)`, "g");
  closing.lastIndex = opener.lastIndex;
  return closing.test(text) ? closing.lastIndex : null;
}

/** Each word that stands alone on a line → the offset of the last such line. */
function lastLinesOf(text: string): ReadonlyMap<string, number> {
  return new Map(
    [...text.matchAll(/\n[ \t]*([A-Za-z_]\w*)[ \t\r]*(?=\n|$)/g)].map((found) => [found[1] ?? "", found.index]),
  );
}

/** Only white space and quote signs stand before it on its line, and no backtick after backticks. */
function opensFence(text: string, at: number, end: number): boolean {
  let before = at - 1;
  while (before >= 0 && " \t>".includes(text.charAt(before))) before--;
  if (before >= 0 && text.charAt(before) !== "\n") return false;
  if (text.charAt(at) === "~") return true;
  const backtick = text.indexOf("`", end);
  const lineEnd = text.indexOf("\n", end);
  return backtick < 0 || (lineEnd >= 0 && lineEnd < backtick);
}

/** A fence without an end takes the rest. */
function endOfFence(text: string, fence: { fence: string; from: number }): number {
  const closing = /^[ \t>]*(`{3,}|~{3,})[ \t]*\r?$/gm;
  closing.lastIndex = fence.from;
  for (let found = closing.exec(text); found !== null; found = closing.exec(text)) {
    if (found[1]?.startsWith(fence.fence)) return closing.lastIndex;
  }
  return text.length;
}

/** Maps each run of backticks to the offset after its closing run, of the same length in the same paragraph. */
function pairInline(text: string): ReadonlyMap<number, number> {
  const runs: { start: number; length: number; paragraph: number }[] = [];
  let paragraph = 0;
  for (const found of text.matchAll(/`+|\n[ \t\r]*\n/g)) {
    if (found[0].startsWith("\n")) paragraph++;
    else runs.push({ start: found.index, length: found[0].length, paragraph });
  }
  const closers = new Map<number, number>();
  const nextOfLength = new Map<number, { start: number; paragraph: number }>();
  for (const run of runs.reverse()) {
    const next = nextOfLength.get(run.length);
    if (next?.paragraph === run.paragraph) closers.set(run.start, next.start + run.length);
    nextOfLength.set(run.length, run);
  }
  return closers;
}

/** Returns the offset after the reasoning that `mark` opens; the end of the text when nothing closes it. */
export function endOfThought(text: string, mark: ReasoningMark & { kind: "open" }): number {
  const closing = new RegExp(mark.closers.map((closer) => RegExp.escape(closer)).join("|"), "g");
  closing.lastIndex = mark.end;
  return closing.test(text) ? closing.lastIndex : text.length;
}

/** Offset after the reasoning that a text begins with; the end of the text when it is not closed. */
export function skipOpenThought(text: string): number {
  let at = endOfSpace(text, 0);
  for (let mark = openAt(text, at); mark !== null; mark = openAt(text, at)) {
    at = endOfSpace(text, endOfThought(text, mark));
  }
  return at;
}

/** Returns the offset after reasoning at the beginning; templates may swallow its opening mark. */
export function skipThought(text: string): number {
  const at = skipOpenThought(text);
  if (at > endOfSpace(text, 0) || /[{[`]/.test(text.charAt(at))) return at;
  for (const candidate of text.matchAll(new RegExp(MARK_CANDIDATE, "g"))) {
    const mark = reasoningMarkAt(text, candidate.index);
    if (mark !== null) return mark.kind === "close" ? mark.end : at;
  }
  return at;
}

function openAt(text: string, at: number): ReasoningMark & { kind: "open" } | null {
  const mark = reasoningMarkAt(text, at, { first: true });
  return mark?.kind === "open" ? mark : null;
}
