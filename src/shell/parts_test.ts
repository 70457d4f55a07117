import assert from "node:assert/strict";
import { commandParts } from "./parts.ts";

function parts(text: string): string[] {
  return commandParts(text).map(({ plain, command }) =>
    command.kind === "simple" ? plain : `(${command.reason}) ${plain}`
  );
}

Deno.test("a line is parted at its joints, quotes and escapes kept whole", () => {
  assert.deepEqual(parts("git status && npm test"), ["git status", "npm test"]);
  assert.deepEqual(parts("a || b; c | d\ne;"), ["a", "b", "c", "d", "e"]);
  assert.deepEqual(parts(`echo "a && b" 'c; d' e\\;f`), [`echo "a && b" 'c; d' e\\;f`]);
  assert.deepEqual(commandParts("a && b | c").map(({ piped }) => piped), [false, false, true]);
});

Deno.test("redirections that touch no file belong to no rule", () => {
  assert.deepEqual(parts("npm test 2>&1 | tail -5"), ["npm test", "tail -5"]);
  assert.deepEqual(parts("ls 2>/dev/null"), ["ls"]);
  assert.deepEqual(parts("ls > /dev/nullx"), ["(redirects) ls > /dev/nullx"]);
  assert.deepEqual(parts("echo a2>&1"), ["(redirects) echo a2>&1"]);
});

Deno.test("what reaches over joints, or is not understood, is one part that no rule covers", () => {
  for (
    const text of [
      "echo $(a && b)",
      "(a; b)",
      "for i in 1; do b; done",
      "cat <<E\na\nE",
      "a && ",
      "a ;; b",
      "&& a",
      "a | ",
      "a & b",
      "a |& b",
      'a "b; c',
      "a \\",
      "ls;".repeat(60),
    ]
  ) {
    const found = commandParts(text);
    assert.ok(found.some(({ command }) => command.kind === "complex"), text);
  }
  assert.deepEqual(parts("ls && echo a > b"), ["ls", "(redirects) echo a > b"]);
});
