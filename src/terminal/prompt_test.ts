import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import { type Asking, askLine, confirm, isYes } from "./prompt.ts";

function person(typed: string[], terminal = true, before: string[] = []): Asking & { seen: () => string } {
  let seen = "";
  let question = Promise.withResolvers<void>();
  const ahead = before.map((text) => new TextEncoder().encode(text));
  const chunks = typed.map((text) => new TextEncoder().encode(text));
  return {
    stdin: {
      isTerminal: terminal,
      setRaw() {},
      // What is there at once was typed ahead; the answer comes when the question stands.
      read: async () => {
        if (seen === "" && ahead.length > 0) return ahead.shift() ?? null;
        await question.promise;
        const chunk = chunks.shift() ?? null;
        // The next line is typed when the next question stands.
        if (chunk?.at(-1) === 10) question = Promise.withResolvers<void>();
        return chunk;
      },
    },
    stderr: {
      isTerminal: terminal,
      columns: () => 80,
      write: (text) => (seen += text, question.resolve(), Promise.resolve()),
    },
    clock: { now: () => 0, monotonic: () => 0, sleep: () => new Promise((resolve) => setTimeout(resolve, 1)) },
    seen: () => seen,
  };
}

Deno.test("only yes is yes", () => {
  for (const yes of ["y", "Y", "yes", " YES "]) assert.equal(isYes(yes), true);
  for (const no of ["", "n", "no", "yess", "sure", null]) assert.equal(isYes(no), false);
});

Deno.test("the question is shown on stderr and the typed answer counts", async () => {
  const io = person(["y", "es\r", "\n"]);
  assert.equal(await confirm(io, "Remove it?"), true);
  assert.equal(io.seen(), "Remove it? [y/N] ");
});

Deno.test("end of input is no", async () => {
  assert.equal(await confirm(person([]), "Remove it?"), false);
});

Deno.test("two questions can be asked in a row", async () => {
  const io = person(["first\n", "second\n"]);
  assert.equal(await askLine(io, "1 "), "first");
  assert.equal(await askLine(io, "2 "), "second");
});

Deno.test("without a terminal nobody is asked, and the error says to pass --yes", async () => {
  const io = person(["y\n"], false);
  await assert.rejects(confirm(io, "Remove it?"), (error) => {
    assert(error instanceof AgentcliError);
    assert.equal(error.code, "usage");
    assert.match(error.hint ?? "", /--yes/);
    return true;
  });
  assert.equal(io.seen(), "");
});

Deno.test("what was typed before the question does not answer it", async () => {
  assert.equal(await confirm(person(["n\n"], true, ["y\n", "y\n"]), "Run it?"), false);
  assert.equal(await confirm(person(["y\n"], true, ["n\n"]), "Run it?"), true);
});

Deno.test("a question ends with the signal", async () => {
  const io = person([]);
  io.stdin.read = () => new Promise(() => {});
  const controller = new AbortController();
  const asked = askLine(io, "?", { signal: controller.signal });
  controller.abort(new Error("stop"));
  await assert.rejects(asked, /stop/);
});
