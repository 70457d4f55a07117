import assert from "node:assert/strict";
import { createHardLinkSearch, type HardLinkSearch } from "./hard_links.ts";

interface Place {
  root: string;
  hide: { files: string[]; directories: string[] };
  search: HardLinkSearch;
}

/** A project whose `.env` has a second name; each look at the clock finds it a second later. */
async function inProject(work: (place: Place) => Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.writeTextFile(`${root}/.env`, "x");
    await Deno.link(`${root}/.env`, `${root}/other`);
    let seconds = 0;
    const search = createHardLinkSearch(() => 1000 * seconds++);
    await work({ root, hide: { files: [`${root}/.env`], directories: [] }, search });
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
      const first = await search.find(hide, [root]);
      assert.deepEqual(first, [`${root}/other`]);
      assert.equal(await search.find(hide, [root]), first);
    }),
);

Deno.test(
  "a name that was given to another file since is none of a protected file any more",
  linux,
  () =>
    inProject(async ({ root, hide, search }) => {
      await search.find(hide, [root]);
      await Deno.remove(`${root}/other`);
      await Deno.writeTextFile(`${root}/other`, "another file");
      assert.deepEqual(await search.find(hide, [root]), []);
    }),
);
