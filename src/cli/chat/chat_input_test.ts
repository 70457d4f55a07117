import assert from "node:assert/strict";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import type { Input } from "../../platform/io.ts";
import type { EditorEffect } from "../../terminal/line_editor.ts";
import { plainText } from "../../terminal/style.ts";
import { ChatInput } from "./chat_input.ts";

/** An input whose reads are given one by one; each is taken before the next is given. */
function typedInput(options: { running: boolean }) {
  const effects: EditorEffect[] = [];
  let interrupts = 0;
  const waiting: ((bytes: Uint8Array<ArrayBuffer> | null) => void)[] = [];
  let drawn = Promise.withResolvers<void>();
  const stdin: Input = {
    isTerminal: true,
    setRaw: () => {},
    read: () => new Promise((resolve) => void waiting.push(resolve)),
  };
  const clock = manualClock();
  const input = new ChatInput({ stdin, clock }, {
    running: () => options.running,
    interrupt: () => void interrupts++,
    effect: (effect) => void effects.push(effect),
    drawn: () => drawn.resolve(),
  });
  const done = input.readKeys();
  return {
    input,
    clock,
    effects,
    interrupts: () => interrupts,
    async type(text: string) {
      drawn = Promise.withResolvers();
      waiting.shift()?.(new TextEncoder().encode(text));
      await drawn.promise;
    },
    async end() {
      waiting.shift()?.(null);
      await done;
    },
    line: () => input.rows({ width: 40, height: 20 }).rows.map(plainText).join("\n"),
  };
}

const CHOICES = [{ label: "yes", key: "y" }, { label: "no", key: "n" }];

Deno.test("what is being typed when a question comes up allows nothing; it stays in the line", async () => {
  const typed = typedInput({ running: true });
  await typed.type("so wh");
  const picking = typed.input.pick({ title: "Allow?", choices: CHOICES, guarded: true });
  await typed.type("y");
  await typed.type("\r");
  await typed.clock.advance(1000);
  await typed.type("n");
  assert.equal(await picking, 1);
  assert.deepEqual(typed.effects, [{ kind: "submit", text: "so why" }]);
  await typed.end();
});

Deno.test("a question answered in peace takes the letter, and the line is as it was", async () => {
  const typed = typedInput({ running: true });
  await typed.type("draft");
  await typed.clock.advance(1000);
  const picking = typed.input.pick({ title: "Allow?", choices: CHOICES, guarded: true });
  await typed.clock.advance(1000);
  await typed.type("y");
  assert.equal(await picking, 0);
  assert.equal(typed.line(), "> draft");
  await typed.end();
});

Deno.test("Ctrl-C stops what runs also while a line is typed, and gives a question no answer", async () => {
  const typed = typedInput({ running: true });
  await typed.type("draft\x03");
  assert.equal(typed.interrupts(), 1);
  assert.equal(typed.line(), "> draft");
  const picking = typed.input.pick({ title: "Allow?", choices: CHOICES, guarded: true });
  await typed.type("\x03");
  assert.equal(await picking, null);
  assert.equal(typed.interrupts(), 2);
  await typed.end();
});

Deno.test("a reason is asked for apart from the line, and escape gives it up", async () => {
  const typed = typedInput({ running: true });
  await typed.type("draft");
  const asking = typed.input.ask("Why not?");
  await typed.type("too risky\r");
  assert.equal(await asking, "too risky");
  const again = typed.input.ask("Why not?");
  await typed.type("\x1b[A\x03\x03");
  assert.equal(await again, null);
  assert.equal(typed.line(), "> draft");
  await typed.end();
});
