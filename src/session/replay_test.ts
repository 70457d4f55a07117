import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import {
  answer,
  CONTEXT,
  placeOf,
  readCall,
  transcriptHome,
  transcriptOptions,
  userItem,
} from "../../tests/helpers/transcripts.ts";
import type { ToolHome } from "../../tests/helpers/tool_home.ts";
import type { SessionItem } from "./item.ts";
import { loadTranscript } from "./load.ts";
import { openTranscript, resumeTranscript } from "./open_transcript.ts";
import type { Transcript } from "./transcript.ts";

/** One change of a session between two requests. */
type Step =
  | { kind: "say"; text: string }
  | { kind: "call" }
  | { kind: "shorten"; at: number }
  | { kind: "summarize"; share: number }
  | { kind: "restart" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("say" as const), text: fc.string() }),
  fc.record({ kind: fc.constant("call" as const) }),
  fc.record({ kind: fc.constant("shorten" as const), at: fc.nat() }),
  fc.record({ kind: fc.constant("summarize" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant("restart" as const) }),
);

/** The session as the engine changes it: items keep their identity where they are not replaced. */
class Engine {
  items: SessionItem[] = [];
  removed = 0;
  #calls = 0;

  apply(given: Exclude<Step, { kind: "restart" }>): void {
    const results = this.items.filter((item) => item.kind === "tool_result");
    switch (given.kind) {
      case "say":
        this.items.push(userItem(given.text), answer(given.text));
        return;
      case "call":
        this.items.push(
          userItem("look"),
          ...readCall(`call${String(this.#calls++).padStart(5, "0")}`, "a long result"),
        );
        return;
      case "shorten": {
        const chosen = results[given.at % Math.max(1, results.length)];
        this.items = this.items.map((item) => item === chosen ? { ...chosen, content: "short" } : item);
        return;
      }
      case "summarize": {
        const prompts = this.items.flatMap((item, at) => item.kind === "user" && item.origin === undefined ? [at] : []);
        const from = prompts[Math.floor(given.share * prompts.length)] ?? this.items.length;
        const summary: SessionItem = { kind: "user", origin: "summary", text: "said before", label: "open" };
        const before = this.items.length;
        this.items = [summary, ...this.items.slice(from)];
        this.removed += before - this.items.length;
      }
    }
  }
}

async function restart(place: ToolHome, transcript: Transcript, engine: Engine): Promise<Transcript> {
  await transcript.close();
  const resumed = await resumeTranscript(place.home, { ...transcriptOptions(), ...placeOf() });
  assert.deepEqual(resumed.stored.items, engine.items);
  assert.equal(resumed.stored.removed, engine.removed);
  assert.deepEqual(resumed.stored.context, CONTEXT);
  engine.items = [...resumed.stored.items];
  return resumed.transcript;
}

Deno.test("whatever happens to a session, it is resumed with the items it had, and counts them on", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      await using place = await transcriptHome();
      const engine = new Engine();
      let transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT }));
      engine.apply({ kind: "say", text: "first" });
      await transcript.record(engine.items);
      for (const one of steps) {
        if (one.kind === "restart") transcript = await restart(place, transcript, engine);
        else {
          engine.apply(one);
          await transcript.record(engine.items);
        }
      }
      transcript = await restart(place, transcript, engine);
      await transcript.close();
      assert.deepEqual((await loadTranscript(place.home, placeOf())).problems, []);
    }),
    { numRuns: 60 },
  );
});

Deno.test("calls that are made at once are done in their order", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  const items = Array.from({ length: 20 }, (_, number) => userItem(String(number)));
  await Promise.all(items.map((_, at) => transcript.record(items.slice(0, at + 1))));
  await transcript.close();
  assert.deepEqual((await loadTranscript(place.home, placeOf())).items, items);
});
