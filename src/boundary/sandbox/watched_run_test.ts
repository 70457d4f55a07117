import assert from "node:assert/strict";
import type { ProgramChanges } from "../scan/copies.ts";
import { runWatched } from "./watched_run.ts";

Deno.test(
  "what a program changed before a path was exposed is judged by its content, the rest is protected as a whole",
  { ignore: Deno.build.os === "windows" },
  async () => {
    for (const exposed of [[], ["/project/.env"]]) {
      const judged: [number, ProgramChanges["exposed"]][] = [];
      let looks = 0;
      const start = Date.now();
      const outcome = await runWatched({
        argv: ["/bin/sh", "-c", exposed.length > 0 ? "echo out; exec sleep 60" : "echo out"],
        env: {},
        cwd: "/",
        roots: ["/project"],
        note: null,
        look: () => Promise.resolve({ planted: [], exposed: ++looks > 1 ? exposed : [] }),
        quarantine: () => Promise.resolve(null),
      }, {
        name: "the command",
        notify: undefined,
        holdsProtected: undefined,
        protectChanges: (_, { since, exposed }) => Promise.resolve(void judged.push([since, exposed])),
        onOutput: () => {},
        timeoutMs: 60_000,
      });
      const [[first = 0, exposure] = [], later] = judged;
      assert.ok(first >= start && exposure === undefined);
      assert.equal(outcome.exposed, exposed[0] ?? null);
      assert.equal(later?.[1]?.path, exposed[0]);
      assert.ok(later?.[1] === undefined || later[1].since > first, "since the look that found nothing");
    }
  },
);

Deno.test("what a program made is judged and quarantined once, after its end", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const steps: string[] = [];
  const entry = { id: "1", time: 0, roots: [], paths: ["/project/.envrc"] };
  const outcome = await runWatched({
    ...{ argv: ["/bin/sh", "-c", "echo made; exec sleep 60"], env: {}, cwd: "/", roots: ["/project"], note: null },
    look: () => Promise.resolve(void steps.push("look")).then(() => ({ planted: entry.paths, exposed: [] })),
    quarantine: (paths) => Promise.resolve(void steps.push(`quarantine ${paths}`)).then(() => entry),
  }, {
    name: "the command",
    notify: (text) => steps.push(text),
    holdsProtected: undefined,
    protectChanges: () => Promise.resolve(void steps.push("judge")),
    onOutput: () => {},
    timeoutMs: 60_000,
  });
  assert.equal(outcome.ended, "abort");
  assert.equal(outcome.quarantined, entry);
  assert.deepEqual(steps.slice(0, -1), ["look", "look", "judge", "quarantine /project/.envrc"]);
  assert.match(steps.at(-1) ?? "", /the command made \/project\/\.envrc.*quarantine restore 1/);
});
