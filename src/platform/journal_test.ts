import assert from "node:assert/strict";
import { toolHome } from "../../tests/helpers/tool_home.ts";
import { holdLock, openJournal, readPart } from "./journal.ts";

Deno.test("of many that want a lock at once one has it at any time, and its file is gone afterwards", async () => {
  await using place = await toolHome(null);
  let [holders, taken] = [0, 0];
  const contend = async () => {
    for (let round = 0; round < 50; round++) {
      const lock = await holdLock(place.home, "projects/x.lock");
      if (lock === null) continue;
      assert.equal(++holders, 1);
      taken++;
      await Promise.resolve();
      holders--;
      await lock.release();
    }
  };
  await Promise.all(Array.from({ length: 8 }, contend));
  assert.ok(taken > 0);
  assert.deepEqual([...Deno.readDirSync(place.home.file("projects"))], []);
});

Deno.test("a journal continues at the end of its file, and says when its name leads to another file", async () => {
  await using place = await toolHome(null);
  const name = "dir/journal";
  for (const text of ["one\n", "two\n"]) {
    const journal = await openJournal(place.home, name);
    await journal.append(new TextEncoder().encode(text));
    journal.close();
  }
  const journal = await openJournal(place.home, name);
  assert.equal(journal.size, 8);
  assert.equal(await Deno.readTextFile(place.home.file(name)), "one\ntwo\n");
  assert.equal(journal.inPlace(), true);
  await Deno.rename(place.home.file(name), place.home.file("dir/away"));
  assert.equal(journal.inPlace(), false);
  await Deno.writeTextFile(place.home.file(name), "another\n");
  assert.equal(journal.inPlace(), false);
  journal.close();
});

Deno.test("the end of a file is read, of a shorter one all of it, of an absent one nothing", async () => {
  await using place = await toolHome("0123456789");
  const text = async (name: string, length: number) => {
    const bytes = await readPart(place.home, name, { length });
    return bytes && new TextDecoder().decode(bytes);
  };
  assert.equal(await text("providers.yaml", 3), "789");
  assert.equal(await text("providers.yaml", 300), "0123456789");
  assert.equal(await text("absent", 3), null);
});
