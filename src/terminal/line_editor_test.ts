import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { offer } from "./editor_text.ts";
import { viewEditor } from "./editor_view.ts";
import { type Key, KeyDecoder, type KeyName } from "./keys.ts";
import { createEditor, edit, type EditorEffect, type EditorState } from "./line_editor.ts";
import { plainText, rowWidth } from "./style.ts";

const encoder = new TextEncoder();

function keysOf(text: string): Key[] {
  const decoder = new KeyDecoder();
  return [...decoder.push(encoder.encode(text)), ...decoder.flush()];
}

/** Types what a terminal sends, and gives the state with every effect on the way. */
function type(sent: string, state: EditorState = createEditor()): { state: EditorState; effects: EditorEffect[] } {
  const effects: EditorEffect[] = [];
  for (const key of keysOf(sent)) {
    const edited = edit(state, key);
    state = edited.state;
    effects.push(...edited.effects);
  }
  return { state, effects };
}

function submitted(effects: readonly EditorEffect[]): string[] {
  return effects.flatMap((effect) => effect.kind === "submit" ? [effect.text] : []);
}

Deno.test("sequences are the same keys however the reads cut them", () => {
  const sent = "añ😀\x1b[D\x1b[1;5C\x1b[200~one\r\ntwo\x1b[201~\x1bb\x1b[3~\x7f\r";
  const whole = keysOf(sent);
  fc.assert(fc.property(fc.array(fc.nat({ max: 60 }), { maxLength: 8 }), (cuts) => {
    const bytes = encoder.encode(sent);
    const decoder = new KeyDecoder();
    const keys: Key[] = [];
    const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
    for (let index = 1; index < places.length; index++) {
      keys.push(...decoder.push(bytes.subarray(places[index - 1], places[index])));
    }
    assert.deepEqual(joined(keys), joined(whole));
  }));
});

/** Text may come in pieces; what it says is the same. */
function joined(keys: readonly Key[]): Key[] {
  const list: Key[] = [];
  for (const key of keys) {
    const last = list.at(-1);
    if (key.kind === "text" && last?.kind === "text") last.text += key.text;
    else list.push({ ...key });
  }
  return list;
}

Deno.test("an escape alone is the escape key once nothing follows", () => {
  const decoder = new KeyDecoder();
  assert.deepEqual(decoder.push(encoder.encode("\x1b")), []);
  assert.ok(decoder.waiting);
  assert.deepEqual(decoder.flush(), [{ kind: "named", name: "escape" }]);
});

Deno.test("a paste of a megabyte is one input, is sent whole, and is quick", { timeout: 60_000 }, () => {
  const text = "0123456789abcde\n".repeat(65_536);
  const { state } = type(`see \x1b[200~${text}\x1b[201~ there`);
  const view = viewEditor(state, { width: 80, maxRows: 5, offers: 5 });
  assert.equal(view.rows.length, 1);
  assert.match(plainText(view.rows[0] ?? []), /^> see \[pasted 65537 lines\] there$/);
  const { effects } = type("\r", state);
  assert.deepEqual(submitted(effects), [`see ${text} there`]);
});

Deno.test("newlines of a small paste stay, and one sends nothing", () => {
  const { state, effects } = type("\x1b[200~a\r\nb\x1b[201~");
  assert.equal(state.text, "a\nb");
  assert.deepEqual(effects, []);
});

Deno.test("enter sends; alt-enter, control-J and a backslash make a line", () => {
  const { effects } = type("a\x1b\rb\nc\\\rd\r");
  assert.deepEqual(submitted(effects), ["a\nb\nc\nd"]);
});

Deno.test("words are moved over and taken away, and come back", () => {
  assert.equal(type("one two three\x17\x17\x19").state.text, "one two ");
  assert.equal(type("one two\x1bb\x1bbX").state.text, "Xone two");
  assert.equal(type("one two\x01\x1bd").state.text, " two");
  assert.equal(type("one two\x15").state.text, "");
});

Deno.test("an emoji with its parts is one character", () => {
  assert.equal(type("a👨‍👩‍👧\x7f").state.text, "a");
  assert.equal(type("e\u0301x\x1b[D\x1b[D!").state.text, "!e\u0301x");
});

Deno.test("undo takes back what was typed, and then what was pasted", () => {
  const { state } = type("\x1b[200~pasted \x1b[201~typed");
  const once = type("\x1f", state).state;
  assert.equal(once.text, "pasted ");
  assert.equal(type("\x1f", once).state.text, "");
});

Deno.test("up and down go through the history and back to the draft", () => {
  const state = createEditor(["first", "second"]);
  assert.equal(type("dra\x1b[A", state).state.text, "second");
  assert.equal(type("dra\x1b[A\x1b[A\x1b[A", state).state.text, "first");
  assert.equal(type("dra\x1b[A\x1b[B", state).state.text, "dra");
});

Deno.test("up stays in a text of several lines until its first", () => {
  const { state } = type("abc\nde\x1b[A", createEditor(["old"]));
  assert.equal(state.text, "abc\nde");
  assert.equal(state.cursor, 2);
});

Deno.test("control-R finds the newest that holds the words, and again the one before", () => {
  const state = createEditor(["Read main.ts", "other", "read tests"]);
  assert.equal(type("\x12read\r", state).state.text, "read tests");
  assert.equal(type("\x12read\x12\r", state).state.text, "Read main.ts");
  assert.equal(type("keep\x12read\x1b", state).state.text, "keep");
});

Deno.test("control-C empties the line first, and only then is an interrupt", () => {
  const { state, effects } = type("text\x03");
  assert.equal(state.text, "");
  assert.deepEqual(effects, []);
  assert.deepEqual(type("\x03", state).effects, [{ kind: "interrupt" }]);
  assert.deepEqual(type("\x04", state).effects, [{ kind: "leave" }]);
});

Deno.test("a path is completed in place, and a directory can be completed further", () => {
  const { state, effects } = type("look at @sr");
  const query = effects.findLast((effect) => effect.kind === "complete");
  assert.deepEqual(query, { kind: "complete", query: { kind: "path", word: "sr", start: 8 } });
  if (query?.kind !== "complete") return;
  const completion = offer(state, query.query, [{ text: "@src/", note: "" }, { text: "@sra.ts", note: "" }]);
  assert.equal(type("\t", { ...state, completion }).state.text, "look at @src/");
  assert.equal(type("\x1b[B\t", { ...state, completion }).state.text, "look at @sra.ts ");
  assert.equal(offer({ text: "else", cursor: 4 }, query.query, [{ text: "@src/", note: "" }]), null);
});

Deno.test("a mail address and a path in the middle of a line are no commands or paths", () => {
  assert.equal(type("me@ho").effects.length, 0);
  assert.equal(type("see /etc").effects.length, 0);
});

const anyKey: fc.Arbitrary<Key> = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }).map((text): Key => ({ kind: "text", text })),
  fc.string({ maxLength: 1200 }).map((text): Key => ({ kind: "paste", text })),
  fc.constantFrom<KeyName>(
    "enter",
    "newline",
    "alt_enter",
    "tab",
    "backspace",
    "delete",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "word_left",
    "word_right",
    "delete_word_left",
    "delete_word_right",
    "kill_to_end",
    "kill_to_start",
    "yank",
    "undo",
    "search",
    "interrupt",
    "end_of_input",
    "escape",
  ).map((name): Key => ({ kind: "named", name })),
);

Deno.test("whatever is typed, the cursor is in the text and no row is wider than the terminal", () => {
  fc.assert(fc.property(fc.array(anyKey, { maxLength: 30 }), fc.integer({ min: 6, max: 90 }), (keys, width) => {
    let state = createEditor(["old entry", "漢字 and\nmore"]);
    for (const key of keys) {
      state = edit(state, key).state;
      assert.ok(state.cursor >= 0 && state.cursor <= state.text.length);
      const view = viewEditor(state, { width, maxRows: 4, offers: 3 });
      assert.ok(view.cursor.row >= 0 && view.cursor.row < view.rows.length);
      assert.ok(view.cursor.column <= width);
      for (const line of view.rows) assert.ok(rowWidth(line) <= width, JSON.stringify([plainText(line), width]));
    }
  }));
});

Deno.test("keys that a terminal distinguishes are those of their control characters", () => {
  const pairs: [string, string][] = [
    ["\x1b[13;2u", "\n"],
    ["\x1b[13;3u", "\x1b\r"],
    ["\x1b[27;3;13~", "\x1b\r"],
    ["\x1b[13u", "\r"],
    ["\x1b[99;5u", "\x03"],
    ["\x1b[103;5u", "\x07"],
    ["\x1b[122;5:1u", "\x1a"],
    ["\x1b[98;3u", "\x1bb"],
    ["\x1b[9;2u", "\x1b[Z"],
    ["\x1b[127;3u", "\x1b\x7f"],
    ["\x1b[27u", "\x1b"],
  ];
  for (const [told, plain] of pairs) assert.deepEqual(keysOf(told), keysOf(plain), JSON.stringify(told));
});

Deno.test("the editor of the person and a stop are asked for with the whole text; undo has a key of its own", () => {
  const paste = `\x1b[200~${"line\n".repeat(20)}\x1b[201~`;
  const { effects } = type(`see ${paste}\x07`);
  assert.deepEqual(effects.at(-1), { kind: "edit_outside", text: `see ${"line\n".repeat(20)}` });
  assert.deepEqual(type("a\x1a").effects.at(-1), { kind: "suspend" });
  assert.equal(type("word\x1f").state.text, "");
});
