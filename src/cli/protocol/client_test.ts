import assert from "node:assert/strict";
import type { ControlLine } from "../../protocol/schema.ts";
import { createClientRequests } from "./client.ts";

const QUESTION = { subtype: "hook_callback" as const, callback_id: "stop", input: {} };

/** An output whose first line the client has, while the system has not yet said so; `told` says it. */
function slowOutput(): { lines: ControlLine[]; told: () => void; control(line: ControlLine): Promise<void> } {
  const lines: ControlLine[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    lines,
    told: resolve,
    control: (line) => lines.push(line) === 1 ? promise : Promise.resolve(),
  };
}

/** Lets everything run that waits for nothing from outside, and the look for rejections that nobody took. */
async function turnOfTheLoop(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve } = Promise.withResolvers<void>();
  port1.onmessage = () => resolve();
  port2.postMessage(null);
  await promise;
  port1.close();
}

Deno.test("a client that interrupts before the writing of its question is done ends that question, not the program", async () => {
  const output = slowOutput();
  const requests = createClientRequests({ ...output, write: () => Promise.resolve() });
  const stopping = new AbortController();
  const asked = requests.ask(QUESTION, stopping.signal);
  const reason = new Error("interrupted");
  stopping.abort(reason);
  await turnOfTheLoop();
  output.told();
  await assert.rejects(asked, reason);
  assert.deepEqual(output.lines.map(({ type }) => type), ["control_request", "control_cancel_request"]);
});

Deno.test("an answer before the writing of its question is done is taken", async () => {
  const output = slowOutput();
  const requests = createClientRequests({ ...output, write: () => Promise.resolve() });
  const asked = requests.ask(QUESTION, new AbortController().signal);
  const [line] = output.lines;
  assert.ok(line?.type === "control_request");
  assert.ok(requests.answer({
    kind: "control_response",
    id: line.request_id,
    outcome: { response: { behavior: "allow" } },
  }));
  output.told();
  assert.deepEqual(await asked, { response: { behavior: "allow" } });
});
