import assert from "node:assert/strict";
import { readCommand } from "./typed_line.ts";

Deno.test("a line that only looks like a command is sent to the model", () => {
  assert.deepEqual(readCommand("/model near:one"), { kind: "command", name: "model", argument: "near:one" });
  assert.equal(readCommand("/etc/hosts says what?"), null);
  assert.equal(readCommand("say /help"), null);
  assert.throws(() => readCommand("/modle"), /no command \/modle/);
});

Deno.test("a command of another program is answered with the one that does the same here", () => {
  for (const [line, hint] of [["/new", /^\/clear/], ["/add src/a.ts", /^@/], ["/run npm test", /^!/]] as const) {
    assert.throws(() => readCommand(line), { hint });
  }
  assert.throws(() => readCommand("/modle"), { hint: /did you mean \/model/ });
});
