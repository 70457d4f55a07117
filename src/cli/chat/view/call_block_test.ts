import assert from "node:assert/strict";
import { plainText, rowWidth } from "../../../terminal/style.ts";
import { OutputTail, shownOutput } from "../../../terminal/shown_output.ts";
import { type CallBlock, callRows, unfoldedRows } from "./call_block.ts";
import { CallView, Folds } from "./call_view.ts";

const call: CallBlock = { name: "Bash", subject: "npm test", tookMs: 12_000, steps: [], outcome: { kind: "stopped" } };

function command(content: string, exitCode = 0): CallBlock {
  return {
    ...call,
    outcome: { kind: "result", result: { content, isError: exitCode !== 0, label: "open", exitCode } },
  };
}

function shown(block: CallBlock, width = 60): string[] {
  return callRows(block, { width, mark: "(#1)" }).rows.map(plainText);
}

Deno.test("a failure shows ten rows and its exit code once, a success five", () => {
  const lines = Array.from({ length: 12 }, (_, index) => `row ${index}`);
  const failed = shown(command([...lines, "[exit code 2]"].join("\n"), 2));
  assert.deepEqual(failed.slice(0, 3), ["* Bash npm test · exit 2 · 12s", "  … 2 earlier lines (#1)", "  row 2"]);
  assert.equal(failed.length, 12);
  assert.equal(shown(command(lines.join("\n"))).length, 7);
  assert.deepEqual(shown(command("[exit code 1]", 1)), ["* Bash npm test · exit 1 · 12s"]);
});

Deno.test("no row is wider than the terminal, and figures go before the subject is nothing", () => {
  const long = command(`${"wide 語 ".repeat(500)}\n\x1b[31m${"x".repeat(3000)}`, 1);
  for (const width of [10, 19, 39, 79]) {
    for (const block of [long, { ...long, subject: "a\nb".repeat(300) }]) {
      for (const row of [...callRows(block, { width, mark: "(#1)" }).rows, ...unfoldedRows(block, width)]) {
        assert.ok(rowWidth(row) <= Math.max(4, width), `${width}: ${plainText(row)}`);
      }
    }
  }
  assert.equal(shown(long, 25)[0], "* Bash npm test · exit 1");
});

Deno.test("the lines of a file stand after its name, in a row of their own where they do not fit", () => {
  const result = { content: "1\ta\n2\tb\n", isError: false, label: "open" } as const;
  const read: CallBlock = { ...call, name: "Read", subject: "src/pump.ts", outcome: { kind: "result", result } };
  assert.deepEqual(shown(read), ["* Read src/pump.ts · 12s · 2 lines (#1)"]);
  assert.deepEqual(shown({ ...read, tookMs: 10 }, 33), ["* Read src/pump.ts · 2 lines (#1)"]);
  assert.deepEqual(shown({ ...read, tookMs: 10 }, 32), ["* Read src/pump.ts", "  2 lines (#1)"]);
  assert.deepEqual(shown({ ...read, tookMs: 10 }, 16), ["* Read …/pump.ts", "  2 lines (#1)"]);
  const secret = { ...result, label: "no-cloud" } as const;
  const protectedRead: CallBlock = { ...read, tookMs: 10, outcome: { kind: "result", result: secret } };
  assert.deepEqual(shown(protectedRead), ["* Read src/pump.ts [no-cloud] · 2 lines (#1)"]);
  const failed: CallBlock = { ...read, tookMs: 10, outcome: { kind: "result", result: { ...result, isError: true } } };
  assert.equal(shown(failed).length, 3, "a failure is shown below");
});

Deno.test("a bar that is written over is its last state, and colors are left out", () => {
  assert.equal(shownOutput("10%\r20%\r\n\x1b[1;31mred\x1b[0m\r\nend"), "20%\nred\nend");
});

Deno.test("of a flood the end is kept, from the beginning of a line", () => {
  const tail = new OutputTail();
  const encoder = new TextEncoder();
  for (let line = 0; line < 100_000; line++) tail.add(encoder.encode(`line ${line}\n`));
  assert.deepEqual(tail.lines(2), ["line 99998", "line 99999"]);
  tail.add(new Uint8Array(1_000_000).fill(120));
  assert.equal(tail.lines(5).join("").length, 4096);
});

Deno.test("of many folded texts the last hundreds can be unfolded", () => {
  const folds = new Folds();
  assert.equal(folds.toggle(null), "nothing is folded");
  for (let number = 1; number <= 1000; number++) folds.add(() => [[{ text: `${number}`, style: "plain" }]]);
  assert.match(folds.toggle(1), /nothing is folded as #1; the last is #1000/);
  assert.equal(folds.toggle(990), "");
  assert.equal(folds.rows({ width: 20, height: 1 }).map(plainText).join(), "990");
  assert.deepEqual(folds.rows({ width: 20, height: 0 }), []);
  folds.toggle(null);
  assert.deepEqual(folds.rows({ width: 20, height: 9 }), []);
});

Deno.test("what a command prints is live in an open session alone, and files are named from the root", () => {
  for (const isOpen of [true, false]) {
    const folds = new Folds();
    const view = new CallView({ monotonic: () => 0 }, { folds, place: () => ({ root: "/p", isOpen }) });
    view.start({ kind: "tool_start", callId: "c", toolName: "Bash", subject: "cat x" });
    view.output({ kind: "tool_output", callId: "c", bytes: new TextEncoder().encode("canary\n") });
    assert.deepEqual(view.liveRows(40).map(plainText), ["* Bash cat x", ...isOpen ? ["  canary"] : []]);
    assert.deepEqual(view.end(40).map(plainText), ["* Bash cat x", ...isOpen ? ["  canary"] : [], "  stopped"]);
    view.start({ kind: "tool_start", callId: "d", toolName: "Read", subject: "/p/src/a/very/long/way/to/pump.ts" });
    assert.deepEqual(view.liveRows(24).map(plainText), ["* Read …g/way/to/pump.ts"]);
  }
});
