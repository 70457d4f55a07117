import assert from "node:assert/strict";
import { transcriptHome } from "../../../../tests/helpers/transcripts.ts";
import { addToHistory, readHistory } from "./history.ts";

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
