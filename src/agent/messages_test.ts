import assert from "node:assert/strict";
import type { WireMessage } from "../provider/types.ts";
import type { SessionItem } from "../session/item.ts";
import { buildMessages } from "./messages.ts";

const open = { label: "open" as const };
const items: SessionItem[] = [
  { kind: "user", text: "hi", ...open },
  {
    kind: "assistant",
    id: "1",
    text: "",
    reasoning: "hm",
    calls: [
      { id: "c1", name: "Read", input: { file_path: "a" } },
      { id: "c2", name: "Read", input: null, problem: "cut" },
    ],
    ...open,
  },
  { kind: "tool_result", callId: "c1", name: "Read", content: "", isError: false, ...open },
  { kind: "tool_result", callId: "c2", name: "Read", content: "no", isError: true, ...open },
  { kind: "assistant", id: "2", text: "", reasoning: "", calls: [], ...open },
  { kind: "user", text: "go on", ...open },
  { kind: "user", text: "again", ...open },
];

Deno.test("messages have text, valid arguments and alternate", () => {
  assert.deepEqual(buildMessages("s", items, { keepReasoning: false }), [
    { role: "system", content: "s" },
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "Read", arguments: '{"file_path":"a"}' } },
        { id: "c2", type: "function", function: { name: "Read", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "c1", name: "Read", content: "(no output)" },
    { role: "tool", tool_call_id: "c2", name: "Read", content: "no" },
    { role: "assistant", content: "(no reply)" },
    { role: "user", content: "go on" },
    { role: "assistant", content: "(no reply)" },
    { role: "user", content: "again" },
  ]);
});

Deno.test("the messages of a longer session begin with those of every shorter one", () => {
  const whole = JSON.stringify(buildMessages("s", items, { keepReasoning: true }));
  for (let length = 1; length < items.length; length++) {
    const part = JSON.stringify(buildMessages("s", items.slice(0, length), { keepReasoning: true }));
    assert.ok(whole.startsWith(part.slice(0, -1)), `${length} items`);
  }
});

Deno.test("notes and a summary stand in front of the next words of the user, in one message", () => {
  const lead = (origin: "summary" | "note", text: string): SessionItem => ({ kind: "user", origin, text, ...open });
  const messages = buildMessages("s", [
    lead("summary", "So far."),
    lead("note", "One."),
    lead("note", "Two."),
    ...items,
  ], {
    keepReasoning: false,
  });
  assert.deepEqual(messages[1], { role: "user", content: "So far.\n\nOne.\n\nTwo.\n\nhi" });
  assert.equal(messages[2]?.role, "assistant");
});

Deno.test("reasoning is sent back only where it is kept", () => {
  const [, , kept] = buildMessages("s", items, { keepReasoning: true });
  assert.ok(kept !== undefined && "reasoning_content" in kept && kept.reasoning_content === "hm");
  assert.ok(!JSON.stringify(buildMessages("s", items, { keepReasoning: false })).includes("reasoning_content"));
});

Deno.test("a message is made once for as long as its item lives", () => {
  const items: SessionItem[] = [{ kind: "user", text: "hello", label: "open" }];
  const options = { keepReasoning: false, made: new WeakMap<SessionItem, WireMessage>() };
  const [, first] = buildMessages("s", items, options);
  const [, again] = buildMessages("s", items, options);
  assert.equal(first, again);
  const [, other] = buildMessages("s", [{ ...items[0], text: "other" } as SessionItem], options);
  assert.deepEqual(other, { role: "user", content: "other" });
});
