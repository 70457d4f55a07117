import assert from "node:assert/strict";
import { HardLinkSearch } from "./hard_links.ts";

interface Place {
  root: string;
  /** The names found for `.env` besides its own, without the root. */
  find(): string[];
}

/** A project whose `.env` has a second name. */
async function inProject(work: (place: Place) => void | Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${root}/sub`);
    await Deno.writeTextFile(`${root}/.env`, "x");
    await Deno.writeTextFile(`${root}/sub/open`, "another file");
    await Deno.link(`${root}/.env`, `${root}/sub/other`);
    const search = new HardLinkSearch();
    const covered = { files: [`${root}/.env`] };
    await work({
      root,
      find: () => search.find(covered, { own: [root] }).map((path) => path.slice(root.length)).sort(),
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const linux = { ignore: Deno.build.os === "windows" };

Deno.test("another name of a covered file is found, again and again", linux, () =>
  inProject(({ find }) => {
    for (let times = 0; times < 3; times++) assert.deepEqual(find(), ["/sub/other"]);
  }));

Deno.test(
  "a name that was given to another file since is none of a protected file any more",
  linux,
  () =>
    inProject(async ({ root, find }) => {
      find();
      await Deno.remove(`${root}/sub/other`);
      await Deno.writeTextFile(`${root}/sub/other`, "another file");
      await Deno.link(`${root}/.env`, `${root}/third`);
      assert.deepEqual(find(), ["/third"]);
    }),
);

Deno.test("a name that the user has given meanwhile is found", linux, () =>
  inProject(async ({ root, find }) => {
    find();
    await Deno.link(`${root}/.env`, `${root}/third`);
    await Deno.remove(`${root}/sub/open`);
    await Deno.link(`${root}/.env`, `${root}/sub/open`);
    assert.deepEqual(find(), ["/sub/open", "/sub/other", "/third"]);
  }));
