/** Parts of Markdown as rows: code, inline marks and tables. */
import { type Row, row, rowWidth, type Span, span, type Style } from "./style.ts";
import { shrink } from "./table.ts";
import { wrap } from "./wrap.ts";

/** A longer line is shown without colors: nobody would read them. */
const LINE_LIMIT = 1000;

const WORDS = new Set(
  ("abstract and as assert async await bool boolean break case catch chan char class const constexpr continue crate " +
    "def default defer del delete do done double elif else elsif end enum esac except export extends extern false fi " +
    "final finally float fn for from func function global go goto if impl implements import in instanceof int " +
    "interface is lambda let local long loop match mod module mut namespace new nil none not null nullptr object of " +
    "or override package pass private protected pub public raise readonly ref require return self short signed " +
    "sizeof static string struct super switch template then this throw throws trait true try type typedef typeof " +
    "undefined union unless unsafe unsigned until use using val var virtual void volatile where while with yield " +
    "None True False SELECT FROM WHERE INSERT INTO UPDATE SET DELETE CREATE TABLE JOIN ON GROUP BY ORDER AND OR NOT " +
    "NULL AS VALUES LIMIT").split(" "),
);

const HASH = new Set(
  "bash sh zsh shell python py ruby rb yaml yml toml perl r make makefile dockerfile conf ini".split(" "),
);
const DASHES = new Set("sql lua haskell hs ada elm".split(" "));
const PLAIN = new Set("text txt plain plaintext output log markdown md console".split(" "));

/** The line with its styles. `language` is the word after the fence; an unknown one is treated like most languages. */
export function highlight(line: string, language: string): Row {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") return [diffSpan(line)];
  if (PLAIN.has(name) || line.length > LINE_LIMIT) return row(line);
  const comment = HASH.has(name) ? "#" : DASHES.has(name) ? "--" : name === "" ? null : "//";
  const spans: Span[] = [];
  const pattern = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[A-Za-z_$][\w$]*|\d[\w.]*|\/\/|\/\*|--|#|./gsu;
  for (const match of line.matchAll(pattern)) {
    const [text] = match;
    if (text === comment || (text === "/*" && comment === "//")) {
      spans.push(span(line.slice(match.index), "comment"));
      break;
    }
    spans.push(span(text, styleOf(text)));
  }
  return spans;
}

function styleOf(text: string): Span["style"] {
  if (/^["'`]./.test(text)) return "string";
  if (/^\d/.test(text)) return "number";
  return WORDS.has(text) ? "keyword" : "plain";
}

/** A line of a unified diff. */
function diffSpan(line: string): Span {
  if (/^(\+\+\+|---) /.test(line)) return span(line, "bold");
  if (line.startsWith("@@")) return span(line, "accent");
  if (line.startsWith("+")) return span(line, "added");
  return span(line, line.startsWith("-") ? "removed" : "plain");
}

// Every alternative is bounded, so that text with many unclosed marks stays fast.
const INLINE =
  /(`+)([^`](?:.{0,400}?[^`])??)\1(?!`)|\*\*(?=\S)(.{1,400}?\S|\S)\*\*|__(?=\S)(.{1,400}?\S|\S)__(?!\w)|\*(?=[^\s*])([^*]{0,399}?[^\s*])\*|(?<!\w)_(?=[^\s_])([^_]{0,399}?[^\s_])_(?!\w)|~~([^~]{1,400})~~|!?\[([^\][]{1,400})\]\(([^()\s]{1,1000})(?: "[^"]{0,200}")?\)|\\([\\`*_{}[\]()#+.!|>~-])/gsu;

/**
 * The text with its styles. `base` is the style of unmarked text. A link shows where it leads, since what it says and
 * where it goes may differ; `color` false keeps the signs of code, which nothing else would show.
 */
export function inline(text: string, options: { base?: Style; color: boolean }): Row {
  const { base = "plain", color } = options;
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) spans.push(span(text.slice(end, match.index), base));
    end = match.index + match[0].length;
    const [, , code, strong, strong2, soft, soft2, struck, label, address, escaped] = match;
    if (code !== undefined) spans.push(span(color ? code : match[0], "code"));
    else if (strong !== undefined || strong2 !== undefined) {
      spans.push(...inline(strong ?? strong2 ?? "", { base: "bold", color }));
    } else if (soft !== undefined || soft2 !== undefined) {
      spans.push(...inline(soft ?? soft2 ?? "", { base: base === "plain" ? "italic" : base, color }));
    } else if (struck !== undefined) spans.push(span(struck, "dim"));
    else if (label !== undefined && address !== undefined) {
      spans.push(span(label, "link"));
      if (label !== address) spans.push(span(` (${address})`, "dim"));
    } else spans.push(span(escaped ?? match[0], base));
  }
  if (end < text.length) spans.push(span(text.slice(end), base));
  return spans;
}

const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const GAP = "  ";
const NARROWEST = 6;

/** Whether the lines are a table: a row, then the line between head and body. */
export function isTable(lines: readonly string[]): boolean {
  return lines.length >= 2 && SEPARATOR.test(lines[1] ?? "");
}

/** The rows of a table of at most `width` cells; long cells take several rows. */
export function tableRows(lines: readonly string[], options: { width: number; color: boolean }): Row[] {
  const { width, color } = options;
  const texts = lines.filter((_, index) => index !== 1).map(cellsOf);
  const cells = texts.map((texts, index) =>
    texts.map((text) => inline(text, { base: index === 0 ? "bold" : "plain", color }))
  );
  const columns = Math.max(1, ...cells.map((line) => line.length));
  const natural = Array.from(
    { length: columns },
    (_, column) => Math.max(1, ...cells.map((line) => rowWidth(line[column] ?? []))),
  );
  const widths = fitted(natural, width - GAP.length * (columns - 1));
  // Too many columns to fit side by side: one below the other then.
  if (widths === null) return cells.flatMap((line) => line.flatMap((cell) => wrap(cell, { width })));
  const rows: Row[] = [];
  for (const [index, line] of cells.entries()) {
    const wrapped = widths.map((cellWidth, column) => wrap(line[column] ?? [], { width: cellWidth }));
    const height = Math.max(...wrapped.map((cell) => cell.length));
    for (let at = 0; at < height; at++) rows.push(joinCells(wrapped.map((cell) => cell[at] ?? []), widths));
    if (index === 0) rows.push([span(widths.map((cellWidth) => "─".repeat(cellWidth)).join(GAP), "dim")]);
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function joinCells(cells: readonly Row[], widths: readonly number[]): Row {
  const spans: Span[] = [];
  for (const [column, cell] of cells.entries()) {
    spans.push(...cell);
    if (column === cells.length - 1) break;
    spans.push(span(" ".repeat(Math.max(0, (widths[column] ?? 0) - rowWidth(cell))) + GAP));
  }
  return spans;
}

/** Widths that fit together, taken from the widest; null when there is no room for that many columns. */
function fitted(natural: readonly number[], total: number): number[] | null {
  if (natural.length * NARROWEST > total && natural.reduce((sum, width) => sum + width, 0) > total) return null;
  return shrink(natural, { total, least: NARROWEST });
}
