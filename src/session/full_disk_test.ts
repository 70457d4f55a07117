import { outputOf } from "../platform/process_group.ts";
import assert from "node:assert/strict";
import { answer, placeOf, transcriptHome, transcriptOptions, userItem } from "../../tests/helpers/transcripts.ts";
import { openHome } from "../platform/home.ts";
import { loadTranscript } from "./load.ts";
import { openTranscript, resumeTranscript } from "./open_transcript.ts";

/** Mounts a small disk on the home; false where the user may not. */
async function mountSmallDisk(path: string, options: string): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  const mounted = await outputOf(
    new Deno.Command("mount", {
      args: ["-t", "tmpfs", "-o", `${options},mode=0700`, "tmpfs", path],
      stdout: "null",
      stderr: "null",
    }),
  );
  return mounted?.success === true;
}

async function unmount(path: string): Promise<void> {
  // Whatever another process holds there just now: busy, it would stay.
  await new Deno.Command("umount", { args: ["-l", path] }).output();
}

Deno.test("on a full disk the session continues unstored with one notice, and what was stored stays whole", async (test) => {
  await using place = await transcriptHome();
  const { path } = place.home;
  if (!await mountSmallDisk(path, "size=64k")) return;
  try {
    const home = await openHome({ env: (name) => name === "AGENTCLI_HOME" ? path : undefined, os: "linux" });
    await test.step("while it is written", async () => {
      const options = transcriptOptions();
      const transcript = await openTranscript(home, options);
      const items = [userItem("one"), answer("x".repeat(200_000)), userItem("two")];
      for (const at of items.keys()) await transcript.record(items.slice(0, at + 1));
      await transcript.close();
      assert.deepEqual(options.troubles, ["the session is no longer stored: the disk is full"]);
      const stored = await loadTranscript(home, placeOf());
      assert.deepEqual(stored.items, [userItem("one")]);
      assert.deepEqual(stored.problems, []);
    });
    await test.step("and can be resumed there", async () => {
      const options = transcriptOptions();
      const { stored, transcript } = await resumeTranscript(home, { ...options, ...placeOf() });
      assert.equal(stored.items.length, 1);
      await transcript.record([...stored.items, answer("x".repeat(200_000))]);
      await transcript.close();
      assert.equal(options.troubles.length, 1);
    });
  } finally {
    await unmount(path);
  }
});

Deno.test("where not even a lock can be made for lack of room, the session continues unstored", async () => {
  await using place = await transcriptHome();
  const { path } = place.home;
  // The root directory takes the one inode there is.
  if (!await mountSmallDisk(path, "size=64k,nr_inodes=1")) return;
  try {
    const home = await openHome({ env: (name) => name === "AGENTCLI_HOME" ? path : undefined, os: "linux" });
    const options = transcriptOptions();
    const transcript = await openTranscript(home, options);
    await transcript.record([userItem("one")]);
    await transcript.close();
    assert.deepEqual(options.troubles, ["the session is no longer stored: the disk is full"]);
  } finally {
    await unmount(path);
  }
});
