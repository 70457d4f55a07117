import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import { type Asking, askLine, confirm, isYes } from "./prompt.ts";

function person(typed: string[], terminal = true): Asking & { seen: () => string } {
  let seen = "";
  const chunks = typed.map((text) => new TextEncoder().encode(text));
  return {
    stdin: {
      isTerminal: terminal,
      setRaw() {},
      read: () => Promise.resolve(chunks.shift() ?? null),
    },
    stderr: { isTerminal: terminal, columns: () => 80, write: (text) => (seen += text, Promise.resolve()) },
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
