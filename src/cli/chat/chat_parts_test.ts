import assert from "node:assert/strict";
import { transcriptHome } from "../../../tests/helpers/transcripts.ts";
import type { RetryNotice } from "../../provider/types.ts";
import { traceLabel, type TurnEvent } from "../../protocol/turn_event.ts";
import { eventLine } from "../run/text_output.ts";
import { readCommand } from "./typed_line.ts";
import { eventRows } from "./event_rows.ts";
import { TurnView } from "./turn_view.ts";
import { addToHistory, readHistory } from "./history.ts";

Deno.test("a model that loads is waited for without counting, and told of once in a chat", () => {
  const notice: RetryNotice = {
    kind: "loading",
    attempt: 1,
    maxRetries: 2,
    delayMs: 500,
    status: 503,
    reason: "loads",
  };
  const told = "loads; retrying until it is ready";
  assert.equal(eventLine({ kind: "retry", notice }, traceLabel()), `  ${told}`);
  const rows = (more: Partial<RetryNotice>) =>
    eventRows({ kind: "retry", notice: { ...notice, ...more } }, 80).map((row) => row.map(({ text }) => text).join(""));
  assert.match(rows({}).join(), new RegExp(told));
  assert.deepEqual(rows({ attempt: 2 }), []);
  assert.match(rows({ kind: "busy", attempt: 2, maxRetries: 9 }).join(), /retrying in 0\.5 s \(2 of 9\)/);
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

Deno.test("what a search does is shown indented, what it says and reads is not", () => {
  const rows: string[] = [];
  const view = new TurnView({
    width: () => 80,
    color: false,
    clock: { monotonic: () => 0 },
    promptTokens: () => null,
    print: (printed) => rows.push(...printed.map((row) => row.map(({ text }) => text).join(""))),
    changed: () => {},
  });
  const nested = (event: TurnEvent) => view.event({ kind: "nested", callId: "c", event });
  view.event({ kind: "tool_start", callId: "c", toolName: "Explore", subject: "the rate" });
  nested({ kind: "request", messageId: "m", turn: 1, position: 0 });
  nested({ kind: "delta", messageId: "m", delta: { kind: "text", text: "I look." } });
  nested({ kind: "tool_start", callId: "d", toolName: "Read", subject: "pump.py" });
  assert.deepEqual(rows, []);
  const live = view.openRows(80).map((row) => row.map(({ text }) => text).join(""));
  assert.deepEqual(live, ["* Explore the rate", "  * Read pump.py"]);
  assert.equal(view.activityRow(80)?.[0]?.text, "searching 0s");
});
