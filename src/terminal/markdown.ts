/**
 * Markdown as it streams: a block that is complete becomes rows that never change again; only the open block is
 * redrawn. What is not Markdown is shown as it is.
 */
import { clean } from "./clean.ts";
import { highlight, inline, isTable, tableRows } from "./markdown_parts.ts";
import { type Row, row, span } from "./style.ts";
import { wrap } from "./wrap.ts";

/** A longer block is closed where it is, so that redrawing stays cheap. Characters. */
const BLOCK_LIMIT = 2000;
const TABLE_LIMIT = 100;

type Block =
  | { kind: "none" }
  | { kind: "paragraph"; text: string }
  | { kind: "item"; indent: string; marker: string; text: string }
  | { kind: "code"; fence: string; language: string }
  | { kind: "table"; lines: string[] };

/** How it is shown. `width` is asked each time: a terminal is resized while text streams. */
interface MarkdownOptions {
  width(): number;
  color: boolean;
}

const NONE: Block = { kind: "none" };

/** One text. The text is cleaned for a terminal here. */
export class MarkdownStream {
  readonly #options: MarkdownOptions;
  #block: Block = NONE;
  /** The line whose end has not come. */
  #tail = "";
  /** A carriage return at the end of a piece may belong to a line end. */
  #held = "";
  /** Indented text continues an item. */
  #inList = false;
  /** No two empty rows in a row, and none at the start. */
  #blank = true;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  /** Takes a piece; gives the rows that are complete. */
  push(piece: string): Row[] {
    const given = this.#held + piece;
    this.#held = given.endsWith("\r") ? "\r" : "";
    const cleaned = clean(this.#held === "" ? given : given.slice(0, -1), { multiline: true });
    // The terminal decides how far a tab moves: a row with one would have no known width.
    const lines = (this.#tail + cleaned.replaceAll("\t", "    ")).split("\n");
    this.#tail = lines.pop() ?? "";
    const rows = lines.flatMap((line) => this.#line(line));
    while (this.#tail.length > BLOCK_LIMIT) rows.push(...this.#cutTail());
    return rows;
  }

  /** The rows of what is not complete yet. */
  open(): Row[] {
    const block = this.#withTail();
    if (block !== null) return this.#rows(block);
    return this.#tail === "" ? [] : [...this.#rows(this.#block), ...this.#rows(this.#opened(this.#tail).block)];
  }

  /** The text is over: the rest of the rows. */
  end(): Row[] {
    const rows = this.#tail === "" && this.#held === "" ? [] : this.push("\n");
    const last = this.#close();
    this.#block = NONE;
    return [...rows, ...last];
  }

  #cutTail(): Row[] {
    const space = this.#tail.lastIndexOf(" ", BLOCK_LIMIT);
    const end = space > 0 ? space : BLOCK_LIMIT;
    const line = this.#tail.slice(0, end);
    this.#tail = this.#tail.slice(end).replace(/^ /, "");
    return this.#line(line);
  }

  /** The open block with the unfinished line in it; null where that line begins another block. */
  #withTail(): Block | null {
    if (this.#tail === "") return this.#block;
    return joined(this.#block, this.#tail);
  }

  #line(line: string): Row[] {
    const block = this.#block;
    if (block.kind === "code") {
      if (isFenceEnd(line, block.fence)) {
        this.#block = NONE;
        return [];
      }
      this.#blank = false;
      return this.#codeRows(line, block.language);
    }
    const more = joined(block, line);
    if (more !== null && sizeOf(more) <= BLOCK_LIMIT && !(more.kind === "table" && more.lines.length > TABLE_LIMIT)) {
      this.#block = more;
      return [];
    }
    const closed = this.#close();
    const start = this.#opened(line);
    this.#inList = start.block.kind === "item" || (this.#inList && /^(?:\s|$)/.test(line));
    this.#block = start.block;
    if (line.trim() !== "" && start.rows === null) return closed;
    return [...closed, ...this.#settle(start.rows?.(this.#options) ?? [[]])];
  }

  #opened(line: string): ReturnType<typeof opened> {
    return !this.#inList && INDENTED.test(line) && !startsBlock(line) ? indentedCode(line) : opened(line);
  }

  /** The rows of the open block, for good. */
  #close(): Row[] {
    return this.#settle(this.#rows(this.#block));
  }

  #settle(rows: Row[]): Row[] {
    const kept: Row[] = [];
    for (const line of rows) {
      const blank = line.length === 0;
      if (blank && this.#blank) continue;
      this.#blank = blank;
      kept.push(line);
    }
    return kept;
  }

  #rows(block: Block): Row[] {
    const { color } = this.#options;
    const width = this.#options.width();
    switch (block.kind) {
      case "none":
        return [];
      case "code":
        return this.#tail === "" || this.#block.kind !== "code" ? [] : this.#codeRows(this.#tail, block.language);
      case "paragraph":
        return wrap(inline(block.text, { color }), { width });
      case "item": {
        const first = [span(block.indent), span(block.marker, "accent"), span(" ")];
        const indent = [span(" ".repeat(Math.min(block.indent.length + block.marker.length + 1, width >> 1)))];
        return wrap(inline(block.text, { color }), { width, first, indent });
      }
      case "table":
        if (isTable(block.lines)) return tableRows(block.lines, { width, color });
        return block.lines.flatMap((line) => wrap(inline(line, { color }), { width }));
    }
  }

  #codeRows(line: string, language: string): Row[] {
    const width = this.#options.width();
    const indent = [span("  ")];
    return wrap(highlight(line, language), { width, first: indent, indent });
  }
}

function sizeOf(block: Block): number {
  return "text" in block ? block.text.length : block.kind === "table" ? block.lines.join("").length / 8 : 0;
}

function isFenceEnd(line: string, fence: string): boolean {
  const end = line.trim();
  return end.length >= fence.length && [...end].every((character) => character === fence[0]);
}

/** The block with one more line in it; null where the line begins another. */
function joined(block: Block, line: string): Block | null {
  switch (block.kind) {
    case "none":
      return null;
    case "code":
      return block;
    case "table":
      return line.trim().startsWith("|") ? { ...block, lines: [...block.lines, line] } : null;
    case "paragraph":
    case "item":
      if (line.trim() === "" || startsBlock(line)) return null;
      return { ...block, text: `${block.text}${block.text === "" ? "" : " "}${line.trim()}` };
  }
}

const FENCE = /^\s{0,8}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^\s*>\s?(.*)$/;

/** Code without a fence. */
const INDENTED = /^ {4}\s*\S/;

function indentedCode(line: string): ReturnType<typeof opened> {
  const indent = [span("    ")];
  return {
    block: NONE,
    rows: ({ width }) => wrap(highlight(line.slice(4), ""), { width: width(), first: indent, indent }),
  };
}

function startsBlock(line: string): boolean {
  return [FENCE, HEADING, ITEM, RULE, QUOTE].some((pattern) => pattern.test(line)) || line.trim().startsWith("|");
}

/** The block that a line begins; `rows` for blocks of one line. */
function opened(line: string): { block: Block; rows: ((options: MarkdownOptions) => Row[]) | null } {
  const fence = FENCE.exec(line);
  if (fence !== null) {
    return { block: { kind: "code", fence: fence[1] ?? "```", language: fence[2] ?? "" }, rows: null };
  }
  const heading = HEADING.exec(line);
  if (heading !== null) {
    return {
      block: NONE,
      rows: ({ width, color }) => {
        const text = color ? heading[2] ?? "" : line.trim();
        return wrap(inline(text, { base: "heading", color }), { width: width() });
      },
    };
  }
  if (RULE.test(line)) {
    return { block: NONE, rows: ({ width }) => [row("─".repeat(Math.min(width(), 40)), "dim")] };
  }
  const quote = QUOTE.exec(line);
  if (quote !== null) {
    const bar = [span("| ", "dim")];
    return {
      block: NONE,
      rows: ({ width, color }) =>
        wrap(inline(quote[1] ?? "", { base: "dim", color }), { width: width(), first: bar, indent: bar }),
    };
  }
  const item = ITEM.exec(line);
  if (item !== null) {
    const indent = (item[1] ?? "").slice(0, 16);
    return { block: { kind: "item", indent, marker: item[2] ?? "-", text: item[3] ?? "" }, rows: null };
  }
  if (line.trim().startsWith("|")) return { block: { kind: "table", lines: [line] }, rows: null };
  if (line.trim() === "") return { block: NONE, rows: null };
  return { block: { kind: "paragraph", text: line.trim() }, rows: null };
}
