/** Tables of Markdown as columns. */
import { inline } from "./markdown_inline.ts";
import { type Row, rowWidth, type Span, span } from "./style.ts";
import { wrap } from "./wrap.ts";

const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const GAP = "  ";
const NARROWEST = 6;

/** Whether the lines are a table: a row, then the line that parts head and body. */
export function isTable(lines: readonly string[]): boolean {
  return lines.length >= 2 && SEPARATOR.test(lines[1] ?? "");
}

/** The rows of a table of at most `width` cells; long cells take several rows. */
export function tableRows(lines: readonly string[], options: { width: number; colour: boolean }): Row[] {
  const { width, colour } = options;
  const texts = lines.filter((_, index) => index !== 1).map(cellsOf);
  const cells = texts.map((texts, index) =>
    texts.map((text) => inline(text, { base: index === 0 ? "bold" : "plain", colour }))
  );
  const columns = Math.max(1, ...cells.map((line) => line.length));
  const natural = Array.from(
    { length: columns },
    (_, column) => Math.max(1, ...cells.map((line) => rowWidth(line[column] ?? []))),
  );
  const widths = fitted(natural, width - GAP.length * (columns - 1));
  // More columns than can stand side by side: one below the other then.
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
  const widths = [...natural];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - total; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}
