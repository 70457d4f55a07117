import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import type { SessionItem } from "../session/item.ts";
import type { SessionContext } from "../session/line.ts";
import type { Transcript } from "../session/transcript.ts";
import { lateTranscript } from "./store.ts";

const PROMPT: SessionItem = { kind: "user", text: "Hello", label: "open" };
const CONTEXT: SessionContext = { system: { text: "Be brief.", label: "open" }, tools: [], toolProtocol: "native" };

/** A transcript that notes what is asked of it. */
function noting(): { transcript: Transcript; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const note = (...call: unknown[]) => {
    calls.push(call);
    return Promise.resolve();
  };
  const transcript: Transcript = {
    file: "/elsewhere",
    turns: 7,
    record: (items) => note("record", ...items),
    setContext: (context) => void note("context", context),
    note: (fields) => note("note", fields),
    rename: (title) => note("rename", title),
    close: () => note("close"),
  };
  return { transcript, calls };
}

Deno.test("a late transcript is opened by the first record, once, and has the context that was set before", async () => {
  const { transcript, calls } = noting();
  let opened = 0;
  const late = lateTranscript("/home/a.jsonl", () => {
    opened++;
    return Promise.resolve(transcript);
  });
  late.setContext(CONTEXT);
  await late.note({ outcome: "nothing was said yet" });
  await late.rename("early");
  assert.deepEqual([late.file, late.turns, opened], ["/home/a.jsonl", 0, 0]);
  const items = [PROMPT];
  const [first, second] = [late.record(items), late.record(items)];
  // What is recorded is what there was when it was asked for.
  items.push({ ...PROMPT, text: "later" });
  await Promise.all([first, second]);
  await late.note({ outcome: "told" });
  await late.close();
  assert.deepEqual(calls, [
    ["context", CONTEXT],
    ["rename", "early"],
    ["record", PROMPT],
    ["record", PROMPT],
    ["note", { outcome: "told" }],
    ["close"],
  ]);
  assert.deepEqual([late.turns, opened], [7, 1]);
});

Deno.test("a late transcript that cannot be opened says so with every record, and is closed without a word", async () => {
  const late = lateTranscript("/home/a.jsonl", () => Promise.reject(new AgentcliError("home_unusable", "no")));
  await late.close();
  for (let at = 0; at < 2; at++) await assert.rejects(late.record([PROMPT]), { code: "home_unusable" });
  await late.close();
});
