import assert from "node:assert/strict";
import { Listings } from "../policy/listing.ts";
import { movedDirectories } from "./copies.ts";

Deno.test("a directory that was moved to its place counts as moved, and one in which something changed does not", async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const place of ["A/work", "A/gone", "B/secrets"]) {
      await Deno.mkdir(`${base}/${place}`, { recursive: true });
    }
    let now = Date.now() - 10_000;
    const known = new Listings({ now: () => now });
    const list = (...names: string[]) => ["", ...names].map((name) => known.of(`${base}/A${name}`));
    list("/work", "/gone");
    const since = Date.now();
    now = since + 1_000;
    await Deno.remove(`${base}/A/gone`);
    await Deno.rename(`${base}/B/secrets`, `${base}/A/gone`);
    await Deno.writeTextFile(`${base}/A/work/new.txt`, "new");
    const listings = list("/work", "/gone");
    assert.deepEqual([...movedDirectories(listings, since)], [`${base}/A/gone`]);
    assert.deepEqual([...movedDirectories(listings, since + 60_000)], [], "control: nothing changed since");
    assert.deepEqual([...movedDirectories(listings, now + 1)], [], "control: it was there before");
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});
