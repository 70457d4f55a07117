import assert from "node:assert/strict";
import { splitRules } from "./tools_and_rules.ts";

Deno.test("rules are parted at commas outside of parentheses", () => {
  assert.deepEqual(splitRules(["Edit, Bash(git log:*),Bash(echo a,b)", "", "Read"]), [
    "Edit",
    "Bash(git log:*)",
    "Bash(echo a,b)",
    "Read",
  ]);
});

Deno.test("parentheses that do not match keep the text for the error that names it", () => {
  assert.deepEqual(splitRules(["Bash(a,b"]), ["Bash(a,b"]);
  assert.deepEqual(splitRules(["a),b"]), ["a)", "b"]);
});
