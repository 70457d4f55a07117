import assert from "node:assert/strict";
import { ProtectedSet } from "../policy/protected.ts";
import { projectScanner } from "./project_scanner.ts";

async function project(
  marker: string,
): Promise<{ root: string; git(...args: string[]): Promise<void> } & AsyncDisposable> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await Deno.writeTextFile(`${root}/.agentclisecret`, marker);
  return {
    root,
    async git(...args) {
      const { success } = await new Deno.Command("git", { args, cwd: root, env: { HOME: root }, stderr: "null" })
        .output();
      assert.ok(success, args.join(" "));
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("the net covers what the marker covers, also what appears or changes later", async () => {
  await using given = await project("no-cloud: .env\nno-cloud: secrets\n");
  const protection = new ProtectedSet([given.root]);
  protection.start();
  const net = projectScanner(protection, [given.root]);
  assert.equal(await net.check(["first-value-of-it"]), null);
  await Deno.writeTextFile(`${given.root}/.env`, "A=first-value-of-it\n");
  protection.refresh();
  const hit = await net.check(["first-value-of-it"]);
  assert.equal(hit === null ? "" : net.describe(hit.path), ".env (.agentclisecret:1 no-cloud: .env)");
  await Deno.writeTextFile(`${given.root}/.env`, "A=second-value-now\n");
  assert.ok(await net.check(["second-value-now"]) !== null);
  assert.ok(await net.check(["first-value-of-it"]) !== null, "what it held before is forgotten");
  await Deno.mkdir(`${given.root}/secrets/deep`, { recursive: true });
  await Deno.writeTextFile(`${given.root}/secrets/deep/k`, "value-in-the-deep\n");
  protection.refresh();
  assert.ok(await net.check(["value-in-the-deep"]) !== null);
});

Deno.test("a protected file excuses nothing because git tracks it, by whatever name", async () => {
  await using given = await project("no-cloud: .env\n");
  await Deno.writeTextFile(`${given.root}/.env`, "A=value-of-the-file\n");
  await Deno.link(`${given.root}/.env`, `${given.root}/other.txt`);
  await given.git("init", "--quiet");
  await given.git("add", "--all");
  const protection = new ProtectedSet([given.root]);
  protection.start();
  const net = projectScanner(protection, [given.root]);
  assert.ok(await net.check(["value-of-the-file"]) !== null);
  await Deno.writeTextFile(`${given.root}/pub.txt`, "here the VALUE of-the-file is public\nvalue-of-the-file\n");
  await given.git("add", "pub.txt");
  assert.equal(await net.check(["the value-of-the-file again"]), null);
});

Deno.test("ten thousand protected files cost a moment, and unchanged ones less the next time", async () => {
  await using given = await project("no-cloud: secrets\n");
  for (let directory = 0; directory < 100; directory++) {
    await Deno.mkdir(`${given.root}/secrets/${directory}`, { recursive: true });
    for (let file = 0; file < 100; file++) {
      Deno.writeTextFileSync(
        `${given.root}/secrets/${directory}/${file}`,
        `token-${directory}-${file}-${directory * 7919 + file}\n`,
      );
    }
  }
  const protection = new ProtectedSet([given.root]);
  protection.start();
  const net = projectScanner(protection, [given.root]);
  const first = performance.now();
  assert.ok(await net.check(["token-42-42-332640"]) !== null);
  const second = performance.now();
  assert.equal(await net.check(["a harmless request"]), null);
  const third = performance.now();
  assert.ok(second - first < 30_000, `the first check took ${second - first} ms`);
  assert.ok(third - second < 3_000, `the second check took ${third - second} ms`);
});
