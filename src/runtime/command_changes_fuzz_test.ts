/**
 * Commands, tools and other people do anything to a project: undo gives back what was, and takes nothing of anybody
 * else's.
 */
import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { inWatchedProject } from "../../tests/helpers/watched_project.ts";

const unix = { ignore: Deno.build.os === "windows" };
const FILES = { "a": "a", "d/b": "b", "d/e/c": "c", "x/y": "y" };
const name = fc.constantFrom("a", "d", "d/b", "d/e", "d/e/c", "x", "x/y", "n", "d/n", "n/n");

/** One thing that is done; what cannot be done is left. */
type Deed = readonly [what: "write" | "remove" | "move" | "link" | "mode" | "make", one: string, other: string];
const deed: fc.Arbitrary<Deed> = fc.tuple(
  fc.constantFrom("write", "remove", "move", "link", "mode", "make"),
  name,
  name,
);

let count = 0;

function doIt(root: string, [what, one, other]: Deed): string | null {
  const [path, to] = [`${root}/${one}`, `${root}/${other}`];
  try {
    const text = `text ${count++}`;
    switch (what) {
      case "write":
        Deno.writeTextFileSync(path, text);
        return text;
      case "remove":
        Deno.removeSync(path, { recursive: true });
        break;
      case "move":
        Deno.renameSync(path, to);
        break;
      case "link":
        Deno.symlinkSync(other, path);
        break;
      case "mode":
        Deno.chmodSync(path, Deno.statSync(path).isDirectory ? 0o750 : 0o640);
        break;
      case "make":
        Deno.mkdirSync(path);
    }
  } catch {
    // It cannot be done as things stand.
  }
  return null;
}

Deno.test(
  "whatever the commands of some turns do, taking them back one after the other gives what was",
  unix,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(deed, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (turns, restarts) => {
          await inWatchedProject(FILES, async (project) => {
            let session = await project.open();
            const trees = [project.tree({ modes: true })];
            for (const [at, deeds] of turns.entries()) {
              await session.command(() => deeds.forEach((one) => doIt(project.root, one)), at + 1);
              trees.push(project.tree({ modes: true }));
            }
            if (restarts) session = await project.open();
            for (const turn of (await session.store()).turns().reverse()) {
              const told = Object.values(await session.undo(turn));
              assert.deepEqual(told.filter((one) => !["restored", "removed", "unchanged"].includes(one)), []);
              assert.deepEqual(project.tree({ modes: true }), trees[turn - 1]);
              await session.redo();
              assert.deepEqual(project.tree({ modes: true }), trees[turn]);
              await session.undo(turn);
            }
            assert.deepEqual(project.tree({ modes: true }), trees[0]);
          });
        },
      ),
      { numRuns: 25 },
    );
  },
);

Deno.test(
  "whatever is undone, no file that somebody else changed in the meantime is touched",
  unix,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ by: fc.constantFrom("command", "tool", "other"), deed }), { minLength: 2, maxLength: 10 }),
        async (steps) => {
          await inWatchedProject(FILES, async (project) => {
            const session = await project.open();
            for (const [at, { by, deed }] of steps.entries()) {
              if (by === "command") await session.command(() => doIt(project.root, deed), at + 1);
              else if (by === "tool") await session.tool(deed[1], `tool ${count++}`, at + 1).catch(() => {});
              else doIt(project.root, ["write", deed[1], ""]);
            }
            // Somebody goes over every file: from now on all of them are theirs.
            await project.sh("find . -type f -exec sh -c 'echo theirs >> \"$1\"' sh {} \\;");
            const theirs = Object.entries(project.tree()).filter(([, text]) => text.endsWith("theirs\n"));
            for (const turn of (await session.store()).turns().reverse()) await session.undo(turn);
            const after = project.tree();
            for (const [path, text] of theirs) assert.equal(after[path], text, path);
          });
        },
      ),
      { numRuns: 25 },
    );
  },
);
