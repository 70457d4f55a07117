import assert from "node:assert/strict";
import { manualClock } from "../../../../tests/helpers/manual_clock.ts";
import type { Input } from "../../../platform/io.ts";
import type { EditorEffect } from "../../../terminal/line_editor.ts";
import { plainText } from "../../../terminal/style.ts";
import { ChatInput } from "./chat_input.ts";

/** An input whose reads are given one by one; each is taken before the next is given. */
function typedInput(options: { running: boolean; away?: () => Promise<void> | null }) {
  const effects: EditorEffect[] = [];
  const hints: string[] = [];
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
    hint: (text) => void hints.push(text),
    drawn: () => drawn.resolve(),
    ...options.away === undefined ? {} : { away: options.away },
  });
  const done = input.readKeys();
  return {
    input,
    clock,
    effects,
    hints,
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
    line: (height = 20) => input.rows({ width: 60, height }).rows.map(plainText).join("\n"),
  };
}

const CHOICES = [
  { label: "yes", key: "y" },
  { label: "always", key: "a", confirm: "Allow always: Edit?" },
  { label: "no", key: "n" },
];

/** A question that is seen: nothing was typed for a while. */
async function asked(typed: ReturnType<typeof typedInput>, rows = 0) {
  const body = () =>
    Array.from({ length: rows }, (_, index) => [{ text: `row ${index + 1}`, style: "plain" as const }]);
  const answer = typed.input.question({
    call: { name: "Edit", subject: "a.ts" },
    title: "Allow Edit?",
    body,
    choices: CHOICES,
  });
  let given: unknown = "nothing yet";
  answer.then((value) => void (given = value));
  await typed.clock.advance(1000);
  typed.line();
  return {
    answer,
    given: () => given,
    /** Long enough that a letter is no beginning of a word. */
    async wait() {
      await typed.clock.advance(300);
      await answer;
    },
  };
}

Deno.test("a question never takes the keys of a draft, and finishing it sends it as it would have been", async () => {
  const typed = typedInput({ running: true });
  await typed.type("so wh");
  const question = await asked(typed);
  await typed.type("y");
  await typed.clock.advance(1000);
  await typed.type("a");
  await typed.clock.advance(1000);
  assert.match(typed.line(), /Allow Edit\? {2}answer, or finish typing[^]*> so whya$/);
  await typed.type("\r");
  assert.deepEqual(typed.effects, [{ kind: "submit", text: "so whya" }]);
  assert.equal(question.given(), "nothing yet");
  await typed.clock.advance(1000);
  await typed.type("n");
  await typed.clock.advance(1000);
  assert.deepEqual(await question.answer, { kind: "key", key: "n" });
  await typed.end();
});

Deno.test("words that begin with the letter of an answer are words, however fast or slow they are typed", async () => {
  for (
    const reads of [
      ["also fix"],
      ["a", "l", "so fix"],
      ["y", "e", "s but"],
      ["a", "y", " it"],
      ["a", "n", "d"],
      ["ay"],
      ["1", "2"],
    ]
  ) {
    const typed = typedInput({ running: true });
    const question = await asked(typed);
    for (const read of reads) {
      await typed.type(read);
      await typed.clock.advance(100);
    }
    assert.equal(question.given(), "nothing yet", reads.join("|"));
    assert.ok(typed.line().endsWith(`> ${reads.join("")}`), typed.line());
    await typed.type(" it\r");
    assert.deepEqual(await question.answer, { kind: "words", text: `${reads.join("")} it` });
    assert.deepEqual(typed.effects.filter(({ kind }) => kind === "submit"), []);
    await typed.end();
  }
});

Deno.test("nothing is chosen beforehand: Enter alone does nothing, and what is pasted is no answer", async () => {
  const typed = typedInput({ running: true });
  const question = await asked(typed);
  await typed.type("\r\r");
  await typed.type("\x1b[200~y\r\x1b[201~");
  await typed.clock.advance(1000);
  assert.equal(question.given(), "nothing yet");
  await typed.type("\r");
  assert.equal(question.given(), "nothing yet");
  assert.deepEqual(typed.hints, ["an answer is one letter on the empty line"]);
  await typed.type("y\r");
  await typed.clock.advance(1000);
  assert.equal(question.given(), "nothing yet");
  await typed.type("y");
  await typed.clock.advance(1000);
  assert.deepEqual(await question.answer, { kind: "key", key: "y" });
  await typed.end();
});

Deno.test("arrows and Enter choose, digits choose, and always wants a second key", async () => {
  const typed = typedInput({ running: true });
  const first = await asked(typed);
  await typed.type("\x1b[B\x1b[B\r");
  assert.match(typed.line(), /Allow always: Edit\? {2}y: yes/);
  await typed.type("\r");
  await typed.clock.advance(1000);
  assert.equal(first.given(), "nothing yet");
  await typed.type("y");
  await typed.clock.advance(1000);
  assert.deepEqual(await first.answer, { kind: "key", key: "a" });
  const second = await asked(typed);
  await typed.type("2");
  await typed.clock.advance(1000);
  await typed.type("n");
  await typed.clock.advance(1000);
  assert.doesNotMatch(typed.line(), /Allow always/);
  assert.equal(second.given(), "nothing yet");
  await typed.type("2");
  await typed.clock.advance(1000);
  assert.match(typed.line(), /Allow always/);
  await typed.type("\x1b[27u");
  assert.doesNotMatch(typed.line(), /Allow always/);
  await typed.type("3");
  await typed.clock.advance(1000);
  assert.deepEqual(await second.answer, { kind: "key", key: "n" });
  await typed.end();
});

Deno.test("all of a change can be read: arrows and pages scroll, and a resize keeps it whole", async () => {
  const typed = typedInput({ running: true });
  const question = await asked(typed, 300);
  const seen = new Set<string>();
  const look = (height: number) => {
    const rows = typed.line(height).split("\n");
    assert.ok(rows.length <= height, `${rows.length} rows of ${height}`);
    for (const row of rows) if (/^row \d+$/.test(row)) seen.add(row);
  };
  look(20);
  for (let page = 0; page < 40; page++) {
    await typed.type("\x1b[6~");
    look(20);
  }
  assert.equal(seen.size, 300);
  for (const height of [3, 4, 8, 20]) look(height);
  await typed.type("\x1b[A");
  assert.match(typed.line(), /rows \d+-299 of 300/);
  typed.line(4);
  await typed.type("\x1b[B");
  await typed.type("y");
  assert.match(typed.line(4), /^>/m);
  await typed.clock.advance(100);
  await typed.type("\x7f");
  assert.equal(question.given(), "nothing yet");
  await typed.type("draft\x1b[5~");
  assert.match(typed.line(), /> draft$/);
  assert.doesNotMatch(typed.line(), /-300 of/);
  await typed.type("\x03");
  assert.equal(typed.interrupts(), 1);
  typed.input.answerNothing();
  assert.equal(await question.answer, null);
  await typed.end();
});

Deno.test("Ctrl-C stops what runs also while a line is typed, and gives a question no answer", async () => {
  const typed = typedInput({ running: true });
  await typed.type("draft\x03");
  assert.equal(typed.interrupts(), 1);
  assert.equal(typed.line(), "> draft");
  const picking = typed.input.pick({ title: "Which?", choices: CHOICES });
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

Deno.test("a command for the chat or the shell is no answer to a question", async () => {
  for (const line of ["/help", "!ls", "!!ls"]) {
    const typed = typedInput({ running: true });
    const question = await asked(typed);
    await typed.type(line);
    await typed.type("\r");
    assert.deepEqual(typed.effects.filter(({ kind }) => kind === "submit"), [{ kind: "submit", text: line }]);
    assert.equal(question.given(), "nothing yet");
    await typed.end();
  }
});

Deno.test("what is typed ahead for a program that gets the terminal is kept in the line, and sends nothing", async () => {
  const away = () => typed.effects.length === 0 ? null : Promise.resolve();
  const typed: ReturnType<typeof typedInput> = typedInput({ running: false, away });
  await typed.type("draft");
  await typed.type("\x07secret\r");
  assert.deepEqual(typed.effects, [{ kind: "edit_outside", text: "draft" }]);
  assert.match(typed.line(), /^> draftsecret$/m);
  await typed.end();
});

Deno.test("a line that is kept for after the turn answers no question", async () => {
  for (const key of ["\t", "\x1b\r"]) {
    const typed = typedInput({ running: true });
    const question = await asked(typed);
    await typed.type("then the tests");
    await typed.type(key);
    assert.deepEqual(typed.effects, [{ kind: "submit", text: "then the tests", isForLater: true }]);
    assert.equal(question.given(), "nothing yet");
    await typed.end();
  }
});
