import assert from "node:assert/strict";
import { type CoveredFiles, HardLinkSearch } from "./hard_links.ts";

interface Place {
  root: string;
  hide: CoveredFiles;
  search: HardLinkSearch;
}

/** A project whose `.env` has a second name; each look at the clock finds it a second later. */
async function inProject(work: (place: Place) => void | Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.writeTextFile(`${root}/.env`, "x");
    await Deno.link(`${root}/.env`, `${root}/other`);
    let seconds = 0;
    const search = new HardLinkSearch(() => 1000 * seconds++);
    await work({ root, hide: { files: [`${root}/.env`], directories: [], nameless: [], unjudged: [] }, search });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const linux = { ignore: Deno.build.os === "windows" };

Deno.test(
  "an answer is given again while a search would take long",
  linux,
  () =>
    inProject(async ({ root, hide, search }) => {
      const first = await search.find(hide, { own: [root], system: [] });
      assert.deepEqual(first, [`${root}/other`]);
      assert.equal(await search.find(hide, { own: [root], system: [] }), first);
    }),
);

Deno.test(
  "a name that was given to another file since is none of a protected file any more",
  linux,
  () =>
    inProject(async ({ root, hide, search }) => {
      await search.find(hide, { own: [root], system: [] });
      await Deno.remove(`${root}/other`);
      await Deno.writeTextFile(`${root}/other`, "another file");
      assert.deepEqual(await search.find(hide, { own: [root], system: [] }), []);
    }),
);

Deno.test(
  "a name that the user has given meanwhile is found, however long the search took",
  linux,
  () =>
    inProject(async ({ root, hide, search }) => {
      await search.find(hide, { own: [root], system: [] });
      await Deno.link(`${root}/.env`, `${root}/third`);
      assert.deepEqual([...await search.find(hide, { own: [root], system: [] })].sort(), [
        `${root}/other`,
        `${root}/third`,
      ]);
    }),
);
