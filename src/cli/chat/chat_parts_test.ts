import assert from "node:assert/strict";
import { transcriptHome } from "../../../tests/helpers/transcripts.ts";
import { readCommand } from "./commands.ts";
import { addToHistory, readHistory } from "./history.ts";
import { ruleFor } from "./permission.ts";

Deno.test("the rule that is offered names the command, and none is offered for what no rule can cover", () => {
  const rule = (subject: string) => ruleFor({ toolName: "Bash", subject });
  assert.equal(rule("git log --oneline"), "Bash(git log:*)");
  assert.equal(rule("ls"), "Bash(ls)");
  assert.equal(rule("rm -r build"), "Bash(rm -r build)");
  assert.equal(rule("git log | sh"), null);
  assert.equal(rule("echo $(id)"), null);
  assert.equal(ruleFor({ toolName: "Edit", subject: "a.ts" }), "Edit");
});

Deno.test("a line that only looks like a command is sent to the model", () => {
  assert.deepEqual(readCommand("/model near:one"), { name: "model", argument: "near:one" });
  assert.equal(readCommand("/etc/hosts says what?"), null);
  assert.equal(readCommand("say /help"), null);
  assert.throws(() => readCommand("/modle"), /no command \/modle/);
});

Deno.test("chats that write their history at the same time lose nothing, and broken lines are left out", async () => {
  await using place = await transcriptHome();
  const { home } = place;
  await home.write("history", '"old"\nbroken\n{"no":"text"}\n');
  await Promise.all(["one", "two\nlines", "three"].map((entry) => addToHistory(home, entry)));
  const entries = await readHistory(home);
  assert.equal(entries[0], "old");
  assert.deepEqual(entries.slice(1).sort(), ["one", "three", "two\nlines"]);
  await addToHistory(home, "x".repeat(100_000));
  assert.equal((await readHistory(home)).length, 4);
});
