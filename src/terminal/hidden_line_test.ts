import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import { askHidden, type HiddenLine, typed } from "./prompt.ts";

function type(text: string): HiddenLine {
  let line: HiddenLine = { kind: "typing", text: "" };
  for (const character of text) line = typed(line, character);
  return line;
}

Deno.test("backspace and control-U take back, enter ends, and what follows is not part of it", () => {
  assert.deepEqual(type("abc\x7f\bd\r"), { kind: "done", text: "ad" });
  assert.deepEqual(type("\x7fabc\x15de\n"), { kind: "done", text: "de" });
  assert.deepEqual(type("ab\rmore"), { kind: "done", text: "ab" });
  assert.deepEqual(type("é😀\x7f\r"), { kind: "done", text: "é" });
});

Deno.test("control-C stops, control-D ends an empty line only", () => {
  assert.deepEqual(type("ab\x03"), { kind: "interrupted" });
  assert.deepEqual(type("\x04"), { kind: "ended" });
  assert.deepEqual(type("ab\x04c\r"), { kind: "done", text: "abc" });
});

function terminal(pieces: string[]) {
  const seen: string[] = [];
  const io: Pick<Io, "stdin" | "stderr" | "onSignal"> = {
    stdin: {
      isTerminal: true,
      read: () => {
        const piece = pieces.shift();
        return Promise.resolve(piece === undefined ? null : new TextEncoder().encode(piece));
      },
      setRaw: (raw) => void seen.push(raw ? "<raw>" : "<cooked>"),
    },
    stderr: { isTerminal: true, columns: () => 80, write: (text: string) => Promise.resolve(void seen.push(text)) },
    onSignal: () => () => {},
  };
  return { io, seen };
}

Deno.test("what is typed is not shown, and the terminal is set back also when it was stopped", async () => {
  const good = terminal(["sk-", "KEY", "\r"]);
  assert.equal(await askHidden(good.io, "Key: "), "sk-KEY");
  assert.deepEqual(good.seen, ["<raw>", "Key: ", "<cooked>", "\n"]);
  const stopped = terminal(["sk-KEY\x03"]);
  await assert.rejects(
    askHidden(stopped.io, "Key: "),
    (error) => error instanceof AgentcliError && error.code === "interrupted",
  );
  assert.deepEqual(stopped.seen, ["<raw>", "Key: ", "<cooked>", "\n"]);
});
