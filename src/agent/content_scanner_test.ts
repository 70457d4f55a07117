import assert from "node:assert/strict";
import { openWorkspace } from "../boundary/workspace/disk.ts";
import { ContentScanner } from "./content_scanner.ts";

Deno.test("what leaves for a server elsewhere is looked through after the whole walk, in a local session too", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${root}/deep`);
    await Deno.writeTextFile(`${root}/deep/.agentclisecret`, "no-cloud: .env\n");
    await Deno.writeTextFile(`${root}/deep/.env`, "TOKEN=canary-1234567890\n");
    const workspace = await openWorkspace({
      ...{ root, additional: [], cwd: root, home: `${root}-home`, localEndpoints: [] },
      provider: { local: true, name: "loc" },
    });
    // As in a project that is too large to be walked in a moment.
    Object.defineProperty(workspace.protection, "anySoon", { get: () => null });
    const scanner = new ContentScanner(workspace);
    const text = "the token is canary-1234567890";
    const part = await scanner.checkPart([text], { name: "it", hint: "" }, { provider: "loc", local: true });
    assert.equal(part, "open", "control: what stays here does not wait for the walk");
    assert.equal(await scanner.holds([text]), false, "control: nor does what is kept here");
    assert.equal(await scanner.holds([text], { isLeaving: true }), true);
    assert.equal(await scanner.holds(["nothing of it"], { isLeaving: true }), false);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("what a program of a local model changed is scanned when it ends, wherever the model runs then", async () => {
  for (const local of [true, false]) {
    const root = await Deno.realPath(await Deno.makeTempDir());
    try {
      await Deno.writeTextFile(`${root}/.agentclisecret`, "no-cloud: .env\n");
      await Deno.writeTextFile(`${root}/.env`, "TOKEN=canary-1234567890\n");
      const workspace = await openWorkspace({
        ...{ root, additional: [], cwd: root, home: `${root}/home`, localEndpoints: [] },
        provider: { local, name: "loc" },
      });
      const told: string[] = [];
      const scanner = new ContentScanner(workspace, { notify: (text) => told.push(text) });
      const since = Date.now();
      await Deno.writeTextFile(`${root}/x.txt`, "TOKEN=canary-1234567890\n");
      if (local) workspace.becomeRemote();
      await scanner.protectChanges([root], { since });
      assert.equal(told.length, local ? 1 : 0, "control: what a remote model's programs see was looked through");
      const remote = new ContentScanner(workspace, { previous: scanner, notify: (text) => told.push(text) });
      await Deno.writeTextFile(`${root}/y.txt`, "TOKEN=canary-1234567890\n");
      await remote.protectChanges([root], { since: Date.now() + 1 });
      assert.equal(told.length, local ? 1 : 0, "its programs would learn whether a guess is right");
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  }
});
