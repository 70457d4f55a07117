import assert from "node:assert/strict";
import { plainText, row } from "../../../terminal/style.ts";
import { liveRows } from "./live_rows.ts";

const parts = {
  open: ["a", "b", "c"].map((text) => row(text)),
  unfolded: () => [],
  todos: [],
  activity: row("reading the prompt, 1 s"),
  waiting: [{ text: "one" }, { text: "/two" }, { text: "three", isForLater: true }, { text: "four" }],
  hint: "Ctrl-C again exits",
  line: { rows: [row("> typed")], cursor: { row: 0, column: 7 } },
  status: row("local"),
};

function shown(height: number) {
  const { rows, cursor } = liveRows(parts, { width: 40, height });
  return { texts: rows.map(plainText), cursor };
}

Deno.test("with room all parts stand above the line, the open block set off, and three of what waits", () => {
  const { texts, cursor } = shown(20);
  assert.deepEqual(texts, [
    ...["a", "b", "c", "", "reading the prompt, 1 s"],
    ...["steering: one", "queued: /two", "queued: three", "Ctrl-C again exits"],
    ...["> typed", "local"],
  ]);
  assert.deepEqual(cursor, { row: 9, column: 7 });
});

Deno.test("on a low terminal the end of the open block is left, then nothing but the line and the status", () => {
  assert.deepEqual(shown(9).texts.slice(0, 3), ["b", "c", "reading the prompt, 1 s"]);
  assert.deepEqual(shown(3).texts, ["reading the prompt, 1 s", "> typed", "local"]);
  assert.deepEqual(shown(2), { texts: ["> typed", "local"], cursor: { row: 0, column: 7 } });
});
