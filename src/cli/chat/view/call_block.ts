/**
 * A tool call as a block of rows: its head, and below it its result, folded. Pure: a call in, rows
 * of a width out. A call of a stored session is shown by the same functions.
 */
import type { Label } from "../../../boundary/policy/label.ts";
import { counted } from "../../../platform/number.ts";
import { clean } from "../../../terminal/clean.ts";
import { shownOutput } from "../../../terminal/shown_output.ts";
import { type Row, row, rowWidth, type Span, span, type Style } from "../../../terminal/style.ts";
import { fit, fitEnd } from "../../../terminal/table.ts";
import { secondsText } from "./activity.ts";
import { textRows } from "./event_rows.ts";
import { changedLines, numberedRows } from "../questions/preview.ts";

interface CallResult {
  content: string;
  isError: boolean;
  label: Label;
  /** Of a command; absent for other tools. */
  exitCode?: number;
  timedOut?: boolean;
  /** The change of a file as a unified diff; absent for none. */
  diff?: string;
}

/** A call as far as it is known. */
export interface CallBlock {
  name: string;
  /** The path, command or pattern that it acts on; empty where that is unknown. */
  subject: string;
  /** Milliseconds that it took; null where nobody measured. */
  tookMs: number | null;
  /** The calls of a search. */
  steps: readonly string[];
  /** Everything that a person was asked about it can be unfolded. */
  isAsked?: boolean;
  /** It never ran: its name or its arguments could not be understood. */
  isMalformed?: boolean;
  /** `denied`: the message says why. `stopped`: the turn was ended before there was a result. */
  outcome: { kind: "result"; result: CallResult } | { kind: "denied"; message: string } | { kind: "stopped" };
}

/** Rows of a change that are shown before it is folded. */
const DIFF_ROWS = 15;
/** Rows that are shown of a command's last output. */
const LAST_ROWS = 5;
const FAILURE_ROWS = 10;
/** A subject is not cut below this. */
const SHORTEST_SUBJECT = 8;
/** Shorter calls are not worth a figure. Milliseconds. */
const SHORT_MS = 1000;

/** Tools for whose subjects the end says most. */
const PATH_TOOLS: ReadonlySet<string> = new Set(["Read", "Edit", "Write"]);

interface BlockRows {
  rows: Row[];
  /** Whether unfolding shows more. */
  isFolded: boolean;
  /** Says the same as the rows, after a head that leaves room for it. */
  figure?: Span;
}

/** Returns the rows of a call; `mark` is how to unfold it, shown where something is folded. */
export function callRows(block: CallBlock, { width, mark }: { width: number; mark: string }): BlockRows {
  const { subject } = block;
  const body = bodyRows(block, { width, mark });
  const head = headRow(block, width);
  const { figure } = body;
  if (figure !== undefined && isWhole(head, subject) && rowWidth([...head, figure]) <= width) {
    return { rows: [[...head, figure]], isFolded: true };
  }
  if (body.isFolded || block.isAsked === true || isWhole(head, subject)) {
    return { ...body, rows: [head, ...body.rows] };
  }
  // Nothing below says how to see all of the subject.
  const marked = [...headRow(block, width - mark.length - 1), span(` ${mark}`, "dim")];
  return { rows: [marked, ...body.rows], isFolded: true };
}

function isWhole(head: Row, subject: string): boolean {
  return subject === "" || head.some(({ text }) => text === clean(subject));
}

/** Returns a call in full: its whole subject, and its change or its result. */
export function unfoldedRows(block: CallBlock, width: number): Row[] {
  const { name, subject, outcome, steps } = block;
  const head = textRows(subject, {
    width,
    style: "bold",
    first: [span(fit(`* ${clean(name)} `, width >> 1), "accent")],
  });
  const nested = steps.flatMap((text) => textRows(text, { width, style: "dim" }));
  if (outcome.kind === "stopped") return [...head, ...nested];
  if (outcome.kind === "denied") return [...head, ...textRows(outcome.message, { width, style: "warning" })];
  const { diff, content } = outcome.result;
  if (diff !== undefined) return [...head, ...diffRows(diff, width)];
  return [...head, ...nested, ...textRows(shownOutput(content).trimEnd(), { width, style: "plain" })];
}

/** Returns the head: the tool, what it acts on, and its result in figures. */
export function headRow(block: Pick<CallBlock, "name" | "subject" | "tookMs" | "outcome">, width: number): Row {
  const { name, subject } = block;
  const start = `* ${clean(name)} `;
  const line = clean(subject.split("\n", 1)[0] ?? "");
  const shown = subject.includes("\n") ? `${line} ...` : line;
  let figures = figuresOf(block);
  const needed = Math.min(rowWidth([span(shown)]), SHORTEST_SUBJECT);
  while (figures.length > 0 && start.length + needed + rowWidth(figures) > width) figures = figures.slice(0, -1);
  const room = Math.max(0, width - start.length - rowWidth(figures));
  const text = PATH_TOOLS.has(name) ? fitEnd(shown, room) : fit(shown, room);
  return [span(fit(start, width), "accent"), span(text), ...figures];
}

/** Most important first. */
function figuresOf({ outcome, tookMs }: Pick<CallBlock, "tookMs" | "outcome">): Span[] {
  const figures: Span[] = [];
  if (outcome.kind === "result") {
    const { label, exitCode, timedOut, isError, diff } = outcome.result;
    if (timedOut === true) figures.push(span(" · time limit", "error"));
    else if (exitCode !== undefined) figures.push(span(` · exit ${exitCode}`, isError ? "error" : "dim"));
    if (diff !== undefined) {
      const { added, removed } = changedLines(diff);
      figures.push(span(`  +${added}`, "added"), span(` −${removed}`, "removed"));
    }
    if (label !== "open") figures.push(span(" [no-cloud]", "accent"));
  }
  if (tookMs !== null && tookMs >= SHORT_MS) figures.push(span(` · ${secondsText(tookMs)}`, "dim"));
  return figures;
}

/** Tools for whose results the first lines say most. */
const FINDING_TOOLS: ReadonlySet<string> = new Set(["Grep", "Glob"]);
/** Lines that they show. */
const FOUND_ROWS = 3;

function bodyRows(
  { name, outcome, steps, isMalformed }: CallBlock,
  shown: { width: number; mark: string },
): BlockRows {
  const { width, mark } = shown;
  const stepped = lastRows(steps, { ...shown, most: LAST_ROWS });
  if (outcome.kind === "stopped") return { ...stepped, rows: [...stepped.rows, line("stopped", "warning", width)] };
  if (outcome.kind === "denied") {
    return { rows: textRows(`denied: ${outcome.message}`, { width, style: "warning" }), isFolded: false };
  }
  const { content, label, isError, diff, exitCode } = outcome.result;
  const lines = content === "" ? 0 : content.trimEnd().split("\n").length;
  const size = counted(lines, "line");
  if (label !== "open") {
    const said = diff !== undefined ? "changed" : isError ? `failed: ${size}` : size;
    return inOne(`${said} ${mark}`, isError ? "error" : "dim", width);
  }
  if (diff !== undefined) return firstRows(diffRows(diff, width), { ...shown, most: DIFF_ROWS });
  if (exitCode !== undefined) {
    const printed = shownOutput(withoutExitCode(content)).trimEnd();
    return lastRows(printed === "" ? [] : printed.split("\n"), { ...shown, most: isError ? FAILURE_ROWS : LAST_ROWS });
  }
  if (isError && isMalformed === true) {
    // The rest is for the model: how to call it.
    const [first = ""] = /^[^\n]*?[.!?](?=\s|$)/.exec(content) ?? [content];
    const isFolded = first.length < content.trimEnd().length;
    const rows = textRows(`failed: ${first}${isFolded ? ` ${mark}` : ""}`, { width, style: "error" });
    return { rows, isFolded };
  }
  if (isError) {
    const failed = firstRows(textRows(`failed: ${content.trimEnd()}`, { width, style: "error" }), {
      ...shown,
      most: FAILURE_ROWS,
    });
    return { rows: [...stepped.rows, ...failed.rows], isFolded: stepped.isFolded || failed.isFolded };
  }
  if (steps.length > 0) return { rows: [...stepped.rows, line(`${size} ${mark}`, "dim", width)], isFolded: true };
  if (FINDING_TOOLS.has(name) && lines > 1) {
    const found = content.split("\n", FOUND_ROWS).map((text) => line(text.replaceAll("\t", " "), "dim", width));
    const more = lines - found.length;
    const rest = more > 0 ? [line(`… ${counted(more, "more line")} ${mark}`, "dim", width)] : [];
    return { rows: [...found, ...rest], isFolded: more > 0 };
  }
  // A file of one line is not a message to the person.
  if (lines <= 1 && name !== "Read") return { rows: [line(content, "dim", width)], isFolded: false };
  return inOne(`${size} ${mark}`, "dim", width);
}

/** Returns one row that may be merged into the head. */
function inOne(text: string, style: Style, width: number): BlockRows {
  return { rows: [line(text, style, width)], isFolded: true, figure: span(` · ${text}`, style) };
}

/** The head of a block says how it ended. */
function withoutExitCode(content: string): string {
  return content.replace(/(?:^|\n)\[exit code \d+\](?=\n|$)/, "");
}

function line(text: string, style: Style, width: number): Row {
  return row(fit(`  ${clean(text.split("\n", 1)[0] ?? "")}`, width), style);
}

/** Returns the first rows of a change, for a terminal that can unfold nothing. */
export function changeRows(diff: string, width: number): Row[] {
  return firstRows(diffRows(diff, width), { width, mark: "(/diff)", most: DIFF_ROWS }).rows;
}

function diffRows(diff: string, width: number): Row[] {
  return numberedRows(diff, width - 2).map((each) => [span("  "), ...each]);
}

interface Cut {
  width: number;
  mark: string;
  most: number;
}

function firstRows(rows: readonly Row[], { width, mark, most }: Cut): BlockRows {
  const more = rows.length - most;
  if (more <= 0) return { rows: [...rows], isFolded: false };
  return { rows: [...rows.slice(0, most), line(`… ${more} more rows ${mark}`, "dim", width)], isFolded: true };
}

/** The last rows of lines: what comes before is counted in lines. */
export function lastRows(lines: readonly string[], { width, mark, most }: Cut): BlockRows {
  const rows: Row[] = [];
  let left = lines.length;
  while (left > 0 && rows.length < most) {
    left--;
    rows.unshift(...textRows(lines[left] ?? "", { width, style: "dim" }));
  }
  const isCut = rows.length > most;
  if (left === 0 && !isCut) return { rows, isFolded: false };
  const earlier = left === 0 ? "the beginning is not shown" : counted(left, "earlier line");
  return { rows: [line(`… ${earlier} ${mark}`, "dim", width), ...rows.slice(-most)], isFolded: true };
}
