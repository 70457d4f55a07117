import assert from "node:assert/strict";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { readInto } from "./response.ts";
import { ResponseDecoder } from "./response_decoder.ts";

Deno.test("a reply with its finish reason is over after a while, even when the server continues to send comments", async () => {
  const clock = manualClock();
  const encoder = new TextEncoder();
  const chunk = { choices: [{ index: 0, delta: { content: "done" }, finish_reason: "stop" }] };
  let reads = 0;
  let canceled = false;
  const source = {
    async read() {
      if (reads++ === 0) return encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
      await clock.advance(1000);
      assert(reads < 100, "it never ends");
      return canceled ? null : encoder.encode(": ping\n\n");
    },
    cancel() {
      canceled = true;
      return Promise.resolve();
    },
  };
  const decoder = new ResponseDecoder({ whole: false });
  const options = { clock, signal: new AbortController().signal, firstByteMs: 60_000, idleMs: 300_000, onDelta() {} };
  assert.equal((await readInto(decoder, source, options)).kind, "idle");
  assert(reads > 9 && reads < 14, `${reads} reads`);
  decoder.end();
  assert.equal((await decoder.verdict()).kind, "complete");
});
