import assert from "node:assert/strict";
import type { KeyName } from "./keys.ts";
import { createPicker, pick, type Picked, type PickerState, viewPicker } from "./picker.ts";
import { plainText, rowWidth } from "./style.ts";

function press(state: PickerState, ...keys: (KeyName | { text: string })[]): Picked {
  let picked: Picked = { kind: "open", state };
  for (const key of keys) {
    if (picked.kind !== "open") break;
    picked = pick(
      picked.state,
      typeof key === "string" ? { kind: "named", name: key } : { kind: "text", text: key.text },
    );
  }
  return picked;
}

const MODELS = createPicker("Which?", ["alpha", "beta", "gamma", "delta"].map((label) => ({ label })));

Deno.test("arrows go round, enter chooses, escape chooses nothing", () => {
  assert.deepEqual(press(MODELS, "down", "enter"), { kind: "chosen", index: 1 });
  assert.deepEqual(press(MODELS, "up", "enter"), { kind: "chosen", index: 3 });
  assert.deepEqual(press(MODELS, "escape"), { kind: "chosen", index: null });
});

Deno.test("what is typed narrows the list, and the choice is the one that is shown", () => {
  assert.deepEqual(press(MODELS, { text: "mm" }, "enter"), { kind: "chosen", index: 2 });
  assert.equal(press(MODELS, { text: "zz" }, "enter").kind, "open");
  assert.deepEqual(press(MODELS, { text: "zz" }, "backspace", "backspace", "enter"), { kind: "chosen", index: 0 });
  assert.deepEqual(press(MODELS, { text: "zz" }, "kill_to_start", "enter"), { kind: "chosen", index: 0 });
  assert.deepEqual(press(MODELS, { text: "zz" }, "delete_word_left", "enter"), { kind: "chosen", index: 0 });
});

Deno.test("a letter of a choice chooses it, any other letter does nothing", () => {
  const asked = createPicker("Allow?", [{ label: "yes", key: "y" }, { label: "no", key: "n" }]);
  assert.deepEqual(press(asked, { text: "N" }), { kind: "chosen", index: 1 });
  assert.equal(press(asked, { text: "x" }).kind, "open");
});

Deno.test("a title that is longer than the terminal is wide continues in a second row where there is room", () => {
  const state = createPicker("Which model? (type to search, Ctrl-S makes one the default)", MODELS.choices);
  const rows = (height: number, filter = "") => viewPicker({ ...state, filter }, { width: 40, height }).map(plainText);
  assert.deepEqual(rows(9).slice(0, 3), ["Which model? (type to search, Ctrl-S", "makes one the default)", "> alpha"]);
  assert.deepEqual(rows(9, "be").slice(1), ["makes one the default) be", "> beta"]);
  assert.deepEqual(rows(4, "be"), ["Which model? (type to search, Ctrl-S… be", "> beta"]);
});

Deno.test("a long list keeps the selected choice in view, cleaned and within the width", () => {
  const many = createPicker(
    "Which?",
    Array.from({ length: 50 }, (_, at) => ({ label: `\x1b[31mmodel ${at}`, note: "n" })),
  );
  const picked = press(many, ...Array.from({ length: 30 }, () => "down" as const));
  if (picked.kind !== "open") return assert.fail("the list is open");
  const rows = viewPicker(picked.state, { width: 24, height: 6 });
  assert.equal(rows.length, 6);
  assert.ok(rows.some((line) => plainText(line).startsWith("> \\x1b[31mmodel 30")));
  for (const line of rows) assert.ok(rowWidth(line) <= 24);
});
