/** The report for eyes: a table that fits the terminal, nothing cut, and the verdict. */
import { type ProbeReport, verdictOf } from "../../../provider/probe/findings.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { clean } from "../../../terminal/clean.ts";
import { displayWidth, fit, table } from "../../../terminal/table.ts";
import { rowsOf } from "./rows.ts";
import type { Stored } from "./store.ts";

/** Cells between two columns of a table. */
const GAP = 2;
/** Narrower than this, in cells, figures are cut instead of wrapped. */
const NARROWEST = 20;
/** Cells of a result; what servers call themselves may be longer. */
const RESULT_WIDTH = 16;

/** Heading, table and verdict; `width` in cells. Everything from outside is cleaned. */
export function reportText(
  report: ProbeReport,
  told: { endpoint: Endpoint; model: string; width: number },
): string {
  const { endpoint, model, width } = told;
  const rows = rowsOf(report).map(([check, result, figures]): [string, string, string] => [
    check,
    fit(clean(result), RESULT_WIDTH),
    clean(figures),
  ]);
  const all: [string, string, string][] = [["CHECK", "RESULT", "FIGURES"], ...rows];
  const columnWidth = (column: 0 | 1) => Math.max(...all.map((row) => displayWidth(row[column])));
  const room = Math.max(NARROWEST, width - columnWidth(0) - columnWidth(1) - 2 * GAP);
  const lines = all.flatMap(([check, result, figures]) =>
    wrapped(figures, room).map((line, index) => index === 0 ? [check, result, line] : ["", "", line])
  );
  const place = endpoint.local ? "local" : "remote";
  const heading = [`${endpoint.provider}:${clean(model)}`, `${clean(endpoint.baseUrl)} (${place})`];
  const seconds = (report.elapsedMs / 1000).toFixed(report.elapsedMs < 10_000 ? 1 : 0);
  return `${heading.map((line) => fit(line, width)).join("\n")}\n\n` +
    `${table(lines, { width })}\n` +
    `fit for agent turns: ${verdictOf(report).text}\n` +
    `${report.interrupted ? "interrupted" : "measured"} after ${seconds} s, ${report.replies.count} replies\n`;
}

/** `text` in lines of at most `width` cells, parted at spaces; a longer word is cut. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width || line === "") line = longer;
    else {
      lines.push(fit(line, width));
      line = word;
    }
  }
  return [...lines, fit(line, width)];
}

/** What `--write` came to, old → new. */
export function storedLines({ provider, model, path, changed, fields }: Stored): string[] {
  const shown = (value: string | number | null) =>
    value === null ? "(not set)" : typeof value === "number" ? `${value.toLocaleString("en-US")} tokens` : value;
  const changes = fields.filter((field) => field.old !== field.new);
  return [
    "",
    ...changes.map((field) => `${field.field}: ${shown(field.old)} → ${shown(field.new)}`),
    changed ? `wrote ${provider}:${clean(model)} in ${clean(path)}` : `nothing to change in ${clean(path)}`,
  ];
}
