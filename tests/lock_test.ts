import assert from "node:assert/strict";
import { readSources } from "../scripts/read_sources.ts";
import { importsOf } from "../scripts/source_text.ts";
import { REPOSITORY } from "./helpers/program.ts";

Deno.test("the lock names the packages that are imported, and no other: each one is fetched on a first start", async () => {
  const lock: { specifiers: Record<string, string> } = JSON.parse(await Deno.readTextFile(`${REPOSITORY}/deno.lock`));
  const imported = (await readSources()).flatMap((source) =>
    importsOf(source.text).flatMap((one) => /^npm:(?:@[^/]+\/)?[^/]+/.exec(one.specifier)?.[0] ?? [])
  );
  assert.deepEqual(Object.keys(lock.specifiers).sort(), [...new Set(imported)].sort());
});
