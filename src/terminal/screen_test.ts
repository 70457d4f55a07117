import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import type { Output } from "../platform/io.ts";
import { type LiveRows, Screen } from "./screen.ts";
import { row } from "./style.ts";

/** A terminal of a few sequences: those that the screen sends, and no others. */
class Terminal implements Output {
  readonly isTerminal = true;
  readonly writes: string[] = [];
  lines: string[] = [""];
  /** The first line that can be reached: what is above has scrolled away. */
  top = 0;
  at = { line: 0, column: 0 };

  constructor(readonly width: number, readonly heightInRows: number) {}

  columns(): number {
    return this.width;
  }

  rows(): number {
    return this.heightInRows;
  }

  write(text: string): Promise<void> {
    this.writes.push(text);
    // deno-lint-ignore no-control-regex -- sequences begin with the escape character
    for (const [part, count, final] of text.matchAll(/\x1b\[\??(\d*)([A-Za-z])|\r|\n|[^\x1b\r\n]+/g)) {
      const by = Number(count || 1);
      if (part === "\r") this.at.column = 0;
      else if (part === "\n") this.#down(1);
      else if (final === "A") this.at.line = Math.max(this.top, this.at.line - by);
      else if (final === "B") this.at.line = Math.min(this.top + this.heightInRows - 1, this.at.line + by);
      else if (final === "C") this.at.column += by;
      else if (final === "K") this.#set(this.#line().slice(0, this.at.column));
      else if (final === "J") {
        this.#set(this.#line().slice(0, this.at.column));
        this.lines.length = this.at.line + 1;
      } else if (final === "L" || final === "M") {
        const rows = Array.from({ length: by }, () => "");
        const bottom = this.top + this.heightInRows;
        while (this.lines.length < bottom) this.lines.push("");
        this.lines.splice(final === "L" ? this.at.line : bottom, 0, ...rows);
        this.lines.splice(final === "L" ? bottom : this.at.line, by);
      } else if (final === undefined) this.#put(part);
    }
    return Promise.resolve();
  }

  /** Every line that was ever shown, without empty ones at the end. */
  text(): string {
    return this.lines.map((line) => line.trimEnd()).join("\n").trimEnd();
  }

  #line(): string {
    return this.lines[this.at.line] ?? "";
  }

  #set(text: string): void {
    this.lines[this.at.line] = text;
  }

  #put(text: string): void {
    const line = this.#line().padEnd(this.at.column);
    this.#set(line.slice(0, this.at.column) + text + line.slice(this.at.column + text.length));
    this.at.column += text.length;
    assert.ok(this.at.column <= this.width, "a row is wider than the terminal");
  }

  #down(by: number): void {
    this.at.line += by;
    this.top = Math.max(this.top, this.at.line - this.heightInRows + 1);
    while (this.lines.length <= this.at.line) this.lines.push("");
  }
}

function live(texts: readonly string[], cursor: LiveRows["cursor"] = null): LiveRows {
  return { rows: texts.map((text) => row(text)), cursor };
}

/** Rows that come again, grow and shrink. */
const text = fc.constantFrom(
  "",
  "open",
  "open and wider",
  "a long line that stays the same",
  "ünï",
  "ünïcode",
  ">",
  "s",
);
const step = fc.record({
  print: fc.array(text, { maxLength: 9 }),
  live: fc.array(fc.oneof(text, fc.stringMatching(/^[A-Z]{1,12}$/)), { maxLength: 6 }),
  cursor: fc.nat({ max: 3 }),
});

Deno.test("whatever is printed and drawn, what stays is above, once, and the live rows are below", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const terminal = new Terminal(40, 8);
    const screen = new Screen(terminal, { color: false });
    const printed: string[] = [];
    let last: readonly string[] = [];
    for (const { print, live: rows, cursor } of steps) {
      const place = rows.length === 0 ? null : { row: Math.min(cursor, rows.length - 1), column: 1 };
      if (print.length > 0) screen.print(print.map((text) => row(text)), live(rows, place));
      else screen.live(live(rows, place));
      printed.push(...print);
      last = rows;
      await screen.settled();
      assert.equal(terminal.text(), [...printed, ...last].join("\n").trimEnd());
      if (place !== null) assert.equal(terminal.at.line, printed.length + place.row);
    }
  }));
});

Deno.test("only rows that changed are written again", async () => {
  const terminal = new Terminal(40, 10);
  const screen = new Screen(terminal, { color: false });
  screen.live(live(["FIRST", "SECOND", "THIRD"]));
  screen.live(live(["FIRST", "CHANGED", "THIRD"]));
  screen.live(live(["FIRST", "CHANGED", "THIRD"]));
  await screen.settled();
  assert.equal(terminal.writes.length, 2);
  assert.ok(!terminal.writes[1]?.includes("FIRST") && terminal.writes[1]?.includes("CHANGED"));
  assert.ok(!terminal.writes.join("").includes("\x1b[2J"));
});

Deno.test("rows that move are not written again, and what is live stays when it is printed", async () => {
  const terminal = new Terminal(40, 10);
  const screen = new Screen(terminal, { color: false });
  const long = (name: string) => `${name} with so many words`;
  screen.live(live([long("open"), "", "> ", long("STATUS")]));
  screen.print([row(long("printed"))], live([long("open"), "", "> ", long("STATUS")]));
  screen.print([row(long("open"))], live(["> ", long("STATUS")]));
  screen.live(live([long("new"), "> ", long("STATUS")]));
  screen.live(live([`${long("new")} and more`, "> ", long("STATUS")]));
  await screen.settled();
  const lines = ["printed", "open", "new"].map(long);
  assert.equal(terminal.text(), `${lines.join("\n")} and more\n>\n${long("STATUS")}`);
  // deno-lint-ignore no-control-regex -- sequences begin with the escape character
  const wordsOf = (text: string) => text.replaceAll(/\x1b\[\??\d*[A-Za-z]/g, "").trim();
  assert.deepEqual(terminal.writes.slice(1).map(wordsOf), [
    long("printed"),
    "",
    long("new"),
    "and more",
  ]);
});

Deno.test("more live rows than the terminal has are cut at the top", async () => {
  const terminal = new Terminal(20, 4);
  const screen = new Screen(terminal, { color: false });
  screen.live(live(["A", "B", "C", "D", "E", "F"], { row: 5, column: 1 }));
  screen.live(live(["A", "B", "C", "D", "E", "G"], { row: 5, column: 1 }));
  await screen.settled();
  assert.equal(terminal.text(), "D\nE\nG");
});

Deno.test("whoever waits hears that the reader has gone", async () => {
  const output: Output = { isTerminal: true, columns: () => 80, write: () => Promise.reject(new Error("gone")) };
  const screen = new Screen(output, { color: false });
  screen.live(live(["A"]));
  await assert.rejects(screen.settled(), /gone/);
});
