import assert from "node:assert/strict";
import { inToolProject, type ToolProject } from "../../tests/helpers/tool_project.ts";
import { isRefusal } from "./result.ts";
import { walkFiles } from "./walk.ts";

/** The display paths in the order and the groups of a walk; each look at the clock takes `lookMs`. */
async function walked(
  { context }: ToolProject,
  { lookMs = 0, onPause = () => {}, signal = context.signal }: {
    lookMs?: number;
    onPause?: () => void;
    signal?: AbortSignal;
  } = {},
): Promise<string[][]> {
  const { workspace } = context;
  const start = await workspace.resolve(".");
  assert.ok(!isRefusal(start));
  let now = 0;
  const clock = {
    monotonic: () => now += lookMs,
    // Lets everything else have its turn, as the real one does.
    sleep: () => Promise.resolve(onPause()),
  };
  const groups: string[][] = [];
  for await (const files of walkFiles(start, { workspace, signal, clock })) {
    groups.push(files.map(({ path }) => path.display));
  }
  return groups;
}

Deno.test("files come in the order of their names, in groups of one directory", () =>
  inToolProject(async (project) => {
    for (const name of ["a.txt", "b/x.txt", "b/y.txt", "c.txt", "d.txt"]) await project.write(name, "");
    assert.deepEqual(await walked(project), [["a.txt"], ["b/x.txt", "b/y.txt"], ["c.txt", "d.txt"]]);
  }));

Deno.test("a walk pauses so that a stop is heard, within a long directory too", () =>
  inToolProject(async (project) => {
    for (let at = 0; at < 200; at++) await project.write(`many/${at}.txt`, "");
    let pauses = 0;
    const groups = await walked(project, { lookMs: 210, onPause: () => pauses++ });
    assert.equal(groups.flat().length, 200);
    assert.ok(groups.length > 2 && groups.every(({ length }) => length < 50));
    assert.ok(pauses >= groups.length - 1, `${pauses} pauses`);
    const stop = new AbortController();
    const stopped = walked(project, { lookMs: 210, onPause: () => stop.abort(), signal: stop.signal });
    await assert.rejects(stopped, { name: "AbortError" });
  }));

Deno.test("a short walk does not pause", () =>
  inToolProject(async (project) => {
    await project.write("a.txt", "");
    await walked(project, { onPause: () => assert.fail("it paused") });
  }));
