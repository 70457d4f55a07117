import assert from "node:assert/strict";
import { runWatched } from "./watched_run.ts";

Deno.test(
  "what a program changed before a path was exposed is judged by its content, the rest is protected as a whole",
  { ignore: Deno.build.os === "windows" },
  async () => {
    for (const exposed of [[], ["/project/.env"]]) {
      const judged: [number, string | undefined][] = [];
      let looks = 0;
      const start = Date.now();
      const outcome = await runWatched({
        argv: ["/bin/sh", "-c", exposed.length > 0 ? "echo out; exec sleep 60" : "echo out"],
        env: {},
        cwd: "/",
        note: null,
        look: () => Promise.resolve({ quarantined: null, exposed: ++looks > 1 ? exposed : [] }),
      }, {
        name: "the command",
        notify: undefined,
        holdsProtected: undefined,
        protectChanges: (since, path) => Promise.resolve(void judged.push([since, path])),
        onOutput: () => {},
        timeoutMs: 60_000,
      });
      const [[first = 0, path] = [], later] = judged;
      assert.ok(first >= start && path === undefined);
      assert.deepEqual(outcome.exposed, exposed.length > 0 ? exposed : null);
      assert.equal(later?.[1], exposed[0]);
      assert.ok(later === undefined || later[0] > first, "since the look that found nothing");
    }
  },
);
