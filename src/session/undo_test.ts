import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { toolHome } from "../../tests/helpers/tool_home.ts";
import { inToolProject, type ToolProject } from "../../tests/helpers/tool_project.ts";
import { SESSION } from "../../tests/helpers/transcripts.ts";
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { type EntryChange, openUndoStore, type UndoStore } from "./undo.ts";
import { replacedBy } from "./undo_entry.ts";

const encoder = new TextEncoder();

/** Opens the undo of the session as a new process would. */
async function open(home: Home | null, troubles: string[] = []): Promise<UndoStore> {
  const onTrouble = async (text: string) => {
    // Takes its time like a stream: the process may end right after the notice.
    await Deno.stat(".");
    troubles.push(text);
  };
  return await openUndoStore(home, { sessionId: SESSION, onTrouble });
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  return await Deno.readFile(path).catch(() => null);
}

/** The change of a tool, which knows nothing of modes. */
function changeOf(
  { before, after, ...rest }: Pick<EntryChange, "turn" | "path" | "label"> & {
    before: Uint8Array<ArrayBuffer> | null;
    after: Uint8Array<ArrayBuffer>;
  },
): EntryChange {
  const file = (bytes: Uint8Array<ArrayBuffer>) => ({ kind: "file", bytes, mode: null }) as const;
  return { ...rest, before: before === null ? { kind: "absent" } : file(before), after: file(after) };
}

/** Changes a file as a tool does: recorded first. */
async function change(
  store: UndoStore,
  project: ToolProject,
  given: { turn: number; name: string; to: string | Uint8Array<ArrayBuffer>; label?: "open" | "no-cloud" },
): Promise<void> {
  const path = `${project.root}/${given.name}`;
  const after = typeof given.to === "string" ? encoder.encode(given.to) : given.to;
  await store.record([
    changeOf({ turn: given.turn, path, before: await bytesOf(path), after, label: given.label ?? "open" }),
  ]);
  await project.write(given.name, after);
}

Deno.test("a turn is undone byte for byte, even by a later process", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.uint8Array(), fc.boolean(), async (before, after, restart) => {
      await using place = await toolHome(null);
      await inToolProject(async (project) => {
        const { workspace } = project.context;
        await project.write("dir/a.bin", before);
        const store = await open(place.home);
        await change(store, project, { turn: 1, name: "dir/a.bin", to: new Uint8Array([...after, 1]) });
        await change(store, project, { turn: 1, name: "dir/a.bin", to: new Uint8Array([...after, 2]) });
        await change(store, project, { turn: 1, name: "new.bin", to: new Uint8Array(after) });
        const later = restart ? await open(place.home) : store;
        const restored = await later.undo(1, workspace);
        assert.deepEqual(new Set(restored.map(({ outcome }) => outcome)).has("removed"), true);
        assert.deepEqual(await project.bytes("dir/a.bin"), before);
        assert.equal(await bytesOf(`${project.root}/new.bin`), null);
        assert.deepEqual((await open(place.home)).turns(), []);
      });
    }),
    { numRuns: 20 },
  );
});

Deno.test("turns are undone one after the other, and mode bits stay", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    await project.write("run.sh", "one");
    await Deno.chmod(`${project.root}/run.sh`, 0o755);
    const store = await open(place.home);
    await change(store, project, { turn: 1, name: "run.sh", to: "two" });
    await change(store, project, { turn: 2, name: "run.sh", to: "three" });
    const { workspace } = project.context;
    assert.deepEqual(store.turns(), [1, 2]);
    assert.equal((await store.undo(1, workspace))[0]?.outcome, "refused");
    await store.undo(2, workspace);
    assert.equal(await project.text("run.sh"), "two");
    await store.undo(1, workspace);
    assert.equal(await project.text("run.sh"), "one");
    assert.equal(((await Deno.stat(`${project.root}/run.sh`)).mode ?? 0) & 0o777, 0o755);
    await assert.rejects(
      store.undo(1, workspace),
      (error) => error instanceof AgentcliError && error.code === "usage",
    );
  });
});

Deno.test("what was changed or removed meanwhile is left alone and reported; the rest is undone", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    for (const name of ["a", "b", "c", "d"]) await project.write(name, "before");
    const store = await open(place.home);
    for (const name of ["a", "b", "c"]) await change(store, project, { turn: 1, name, to: "after" });
    // Recorded, but the process was killed before it was written.
    await store.record([changeOf({
      turn: 1,
      path: `${project.root}/d`,
      before: encoder.encode("before"),
      after: encoder.encode("after"),
      label: "open",
    })]);
    await project.write("a", "by hand");
    await Deno.remove(`${project.root}/b`);
    const restored = await store.undo(1, project.context.workspace);
    assert.deepEqual(
      restored.map((one) => one.outcome === "refused" ? one.reason : one.outcome),
      ["a has changed since", "b has been removed since", "restored", "unchanged"],
    );
    assert.equal(await project.text("a"), "by hand");
    assert.equal(await project.text("c"), "before");
    await project.write("a", "after");
    assert.equal((await (await open(place.home)).undo(1, project.context.workspace))[0]?.outcome, "restored");
  });
});

Deno.test("protected content is restored within the process, never stored, and a later process says so", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    await project.write(".env", "CANARY-before");
    const store = await open(place.home);
    const protectedChange = { turn: 1, name: ".env", to: "CANARY-after", label: "no-cloud" } as const;
    await change(store, project, protectedChange);
    const directory = place.home.file(`undo/${SESSION}`);
    assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name), ["changes.jsonl"]);
    const line = await Deno.readTextFile(`${directory}/changes.jsonl`);
    const { path, ...rest } = JSON.parse(line);
    assert.deepEqual(rest, { kind: "redacted", turn: 1 });
    assert.match(path, /^[0-9a-f]{64}$/, "its name can hold protected content as well");
    const later = await (await open(place.home)).undo(1, project.context.workspace);
    assert.match(later[0]?.outcome === "refused" ? later[0].reason : "", /as long as the process/);
    await store.undo(1, project.context.workspace);
    assert.equal(await project.text(".env"), "CANARY-before");
  });
});

Deno.test("what is kept is for the owner alone, and each content once", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    const store = await open(place.home);
    for (const name of ["a", "b"]) {
      await project.write(name, "same");
      await change(store, project, { turn: 1, name, to: name });
    }
    const directory = place.home.file(`undo/${SESSION}`);
    const files = [...Deno.readDirSync(directory)].map(({ name }) => `${directory}/${name}`);
    assert.equal(files.length, 2);
    for (const file of files) assert.equal((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
    assert.equal((Deno.statSync(directory).mode ?? 0) & 0o777, 0o700);
  });
});

Deno.test("a damaged copy is not put in place", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    await project.write("a", "before");
    await change(await open(place.home), project, { turn: 1, name: "a", to: "after" });
    const directory = place.home.file(`undo/${SESSION}`);
    for (const { name } of Deno.readDirSync(directory)) {
      if (name !== "changes.jsonl") await Deno.writeTextFile(`${directory}/${name}`, "other");
    }
    const restored = await (await open(place.home)).undo(1, project.context.workspace);
    assert.equal(restored[0]?.outcome, "refused");
    assert.equal(await project.text("a"), "after");
  });
});

Deno.test("where nothing can be stored, undo lasts as long as the process, said once", async () => {
  await using place = await toolHome(null);
  await Deno.mkdir(place.home.path);
  await Deno.writeTextFile(place.home.file("undo"), "in the way");
  await inToolProject(async (project) => {
    const troubles: string[] = [];
    const store = await open(place.home, troubles);
    await project.write("a", "before");
    const told = {
      turn: 1,
      path: `${project.root}/a`,
      before: encoder.encode("before"),
      after: encoder.encode("after"),
    };
    await store.record([changeOf({ ...told, label: "open" })]);
    assert.equal(troubles.length, 1);
    await project.write("a", "after");
    await change(store, project, { turn: 1, name: "b", to: "after" });
    assert.equal(troubles.length, 1);
    assert.match(troubles[0] ?? "", /no longer than this process/);
    await store.undo(1, project.context.workspace);
    assert.equal(await project.text("a"), "before");
    const [first] = await store.changes(1);
    assert.equal(first, undefined);
  });
});

Deno.test("what has become protected is erased, even where nothing more could be stored meanwhile", async () => {
  for (const isFull of [false, true]) {
    await using place = await toolHome(null);
    await inToolProject(async (project) => {
      await project.write("a.txt", "a line that is protected later\n");
      const store = await open(place.home);
      await change(store, project, { turn: 1, name: "a.txt", to: "other\n" });
      const kept = place.home.file(`undo/${SESSION}/contents`);
      const list = place.home.file(`undo/${SESSION}/changes.jsonl`);
      assert.match(await Deno.readTextFile(kept), /protected later/, "control");
      if (isFull) {
        const lines = await Deno.readTextFile(list);
        await Deno.remove(list);
        await Deno.mkdir(list);
        await change(store, project, { turn: 1, name: "b.txt", to: "more\n" });
        await Deno.remove(list);
        await Deno.writeTextFile(list, lines);
      }
      await store.forget("rules", () => Promise.resolve(true));
      assert.doesNotMatch(await Deno.readTextFile(kept), /protected later/);
      assert.doesNotMatch(await Deno.readTextFile(list), /a\.txt/);
    });
  }
});

Deno.test("a content goes with the last change that names it, and what a killed process left with the next", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    const { workspace } = project.context;
    const kept = () => new TextDecoder().decode(Deno.readFileSync(place.home.file(`undo/${SESSION}/contents`)));
    const list = place.home.file(`undo/${SESSION}/changes.jsonl`);
    for (const [name, text] of Object.entries({ a: "first", b: "shared", c: "shared", d: "last" })) {
      await project.write(name, text);
    }
    const store = await open(place.home);
    for (const [at, name] of ["a", "b", "c", "d"].entries()) await change(store, project, { turn: at, name, to: "x" });
    assert.equal(kept(), "firstsharedlast");
    for (const turn of [0, 1]) await store.undo(turn, workspace);
    assert.equal(kept(), "\0\0\0\0\0sharedlast");
    await store.undo(3, workspace);
    assert.equal(kept(), "\0\0\0\0\0shared");
    await change(store, project, { turn: 4, name: "a", to: "x" });
    for (const turn of [2, 4]) {
      assert.equal((await (await open(place.home)).undo(turn, workspace))[0]?.outcome, "restored");
    }
    assert.equal(kept(), "");

    await change(store, project, { turn: 5, name: "a", to: "x" });
    const line = await Deno.readTextFile(list);
    // Killed before the list had the change; an earlier version left the content of a change that was undone.
    await Deno.writeTextFile(list, "");
    const own = place.home.file(`undo/${SESSION}/${"0".repeat(64)}`);
    await Deno.writeTextFile(own, "first");
    await open(place.home);
    assert.equal(kept(), "");
    await assert.rejects(Deno.stat(own));
    // It kept each content in a file.
    const old = { ...JSON.parse(line), kept: true };
    const made = { ...old, turn: 6, path: `${project.root}/new`, before: { kind: "absent" } };
    await Deno.writeTextFile(list, [old, made].map((change) => `${JSON.stringify(change)}\n`).join(""));
    await Deno.writeTextFile(place.home.file(`undo/${SESSION}/${old.before.digest}`), "first");
    for (const turn of [6, 5]) await (await open(place.home)).undo(turn, workspace);
    assert.equal(await project.text("a"), "first");
    assert.deepEqual([...Deno.readDirSync(place.home.file(`undo/${SESSION}`))].length, 2);
  });
});

Deno.test("a diff gets what was there before the turn", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    await project.write("a", "before");
    const store = await open(place.home);
    await change(store, project, { turn: 1, name: "a", to: "between" });
    await change(store, project, { turn: 1, name: "a", to: "after" });
    await change(store, project, { turn: 1, name: "b", to: "after" });
    const changes = (await open(place.home)).changes(1);
    assert.deepEqual(await Promise.all(changes.map(({ before }) => before())), [
      { kind: "file", bytes: encoder.encode("before"), mode: null },
      { kind: "absent" },
    ]);
  });
});

Deno.test("what was undone is redone where nobody changed the file since, and can be undone again", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    const { workspace } = project.context;
    await project.write("a", "one");
    const store = await open(place.home);
    await change(store, project, { turn: 1, name: "a", to: "two" });
    await change(store, project, { turn: 1, name: "b", to: "new" });
    const replaced = replacedBy(await store.undo(1, workspace));
    await project.write("b", "by hand");
    const outcomes = (await store.redo(replaced, workspace)).map(({ path, outcome }) => [path.at(-1), outcome]);
    assert.deepEqual(outcomes.sort(), [["a", "restored"], ["b", "refused"]]);
    assert.equal(await project.text("a"), "two");
    assert.equal(await project.text("b"), "by hand");
    const [again] = await (await open(place.home)).undo(1, workspace);
    assert.equal(again?.outcome, "restored");
    assert.equal(await project.text("a"), "one");
  });
});

Deno.test("a file that an open turn changed is as protected as its last change, even when that is redone", async () => {
  await using place = await toolHome(null);
  await inToolProject(async (project) => {
    const { workspace } = project.context;
    const store = await open(place.home);
    await change(store, project, { turn: 1, name: "a.txt", to: "one" });
    await change(store, project, { turn: 1, name: "a.txt", to: "two", label: "no-cloud" });
    assert.deepEqual(store.changes(1).map(({ label }) => label), ["no-cloud"]);
    assert.deepEqual(replacedBy(await store.undo(1, workspace)).map(({ label }) => label), ["no-cloud"]);
  });
});
