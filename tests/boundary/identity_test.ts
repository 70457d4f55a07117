/** A protected file is known by what it is: whatever it is called, wherever the rule stands, and after it moved. */
import { outputOf } from "../../src/platform/process_group.ts";
import assert from "node:assert/strict";
import { findMarkers } from "../../src/boundary/policy/path_rules.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";
import { ask, say, type Script, want } from "../helpers/fake_server.ts";
import { reads, tryWays } from "./cases.ts";
import { assertArrived, assertRefusedResult, assertSealed, openStage, type Played, type Stage } from "./harness.ts";
import { hasBubblewrap, holdsCanary, inSandboxProject } from "./sandbox_project.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const canMount = Deno.build.os === "linux" && Deno.uid() === 0 &&
  (await outputOf(new Deno.Command("unshare", { args: ["--mount", "true"], stderr: "null" })))?.success === true;

async function link(stage: Stage, target: string, name: string): Promise<void> {
  await Deno.link(target, `${stage.project}/${name}`);
  stage.exempt(name);
}

Deno.test(
  "a hard link to what a marker above the root protects is protected, by a plain line and by a glob",
  linux,
  async (test) => {
    for (const line of ["outer/key.env", "outer", "**/*.env", "OUTER/*"]) {
      await test.step(line, async () => {
        await using stage = await openStage({ marker: null, bare: true });
        await stage.git("init", "--quiet");
        const { root } = stage.home;
        await stage.write(`${root}/.agentclisecret`, `no-cloud: ${line}\n`);
        await stage.plant(`${root}/outer/key.env`, "outer");
        await link(stage, `${root}/outer/key.env`, "h.txt");
        await tryWays(stage, reads("outer", "h.txt"));
      });
    }
  },
);

Deno.test("a hard link to what lies below a name that is not UTF-8 is protected", linux, async () => {
  await using stage = await openStage({ marker: "no-cloud: *.pem\n", bare: true });
  await stage.plant("m/named/a.pem", "below");
  const words = ["-c", "mv named $'d\\xe9' && ln $'d\\xe9'/a.pem ../h.txt"];
  assert.ok((await new Deno.Command("bash", { args: words, cwd: `${stage.project}/m` }).output()).success);
  stage.exempt("h.txt");
  await tryWays(stage, reads("below", "h.txt"));
});

Deno.test("an instruction file that is such a hard link reaches no remote provider", linux, async () => {
  await using stage = await openStage({ marker: null, bare: true });
  await stage.git("init", "--quiet");
  const { root } = stage.home;
  await stage.write(`${root}/.agentclisecret`, "no-cloud: key.env\n");
  const key = await stage.plant(`${root}/key.env`, "outer");
  await link(stage, key, "AGENTS.md");
  const script = [say("Done.")];
  assertSealed(await stage.play("rem", { script }));
  const local = await stage.play("loc", { script });
  assertSealed(local);
  assertArrived(local, stage.canary("outer"));
});

Deno.test("a hard link to what a covered link leads to outside of the project is protected", linux, async () => {
  await using stage = await openStage({ marker: "no-cloud: key.pem\nno-cloud: *.d\n", bare: true });
  const { root } = stage.home;
  const key = await stage.plant(`${root}/elsewhere/key`, "key");
  const deep = await stage.plant(`${root}/store/deep/k`, "deep");
  await Deno.symlink(key, `${stage.project}/key.pem`);
  await Deno.symlink(`${root}/store`, `${stage.project}/keys.d`);
  await link(stage, key, "h.txt");
  await link(stage, deep, "i.txt");
  await tryWays(stage, [...reads("key", "h.txt"), ...reads("deep", "i.txt")]);
});

Deno.test("a hard link in an added directory to what a marker above it protects is protected", linux, async () => {
  await using stage = await openStage({ marker: null, bare: true });
  await stage.git("init", "--quiet");
  const above = `${stage.home.root}/above`;
  await stage.write(`${above}/.agentclisecret`, "no-cloud: key.env\n");
  const key = await stage.plant(`${above}/key.env`, "key");
  await stage.write(`${above}/added/pub.txt`, "public\n");
  await Deno.link(key, `${above}/added/h.txt`);
  stage.exempt(`${above}/added/h.txt`);
  await link(stage, key, "own.txt");
  await tryWays(stage, reads("key", `${above}/added/h.txt`, "own.txt"), { args: ["--add-dir", `${above}/added`] });
});

Deno.test("a copy of what a marker above the root protects is found before it leaves", linux, async () => {
  await using stage = await openStage({ marker: null, bare: true });
  await stage.git("init", "--quiet");
  const { root } = stage.home;
  await stage.write(`${root}/.agentclisecret`, "no-cloud: outer\n");
  await stage.plant(`${root}/outer/key.env`, "outer");
  await stage.write("copy.txt", `${stage.canary("outer")}\n`);
  stage.exempt("copy.txt");
  const script = [ask(want("read", { path: "copy.txt" })), say("Done.")];
  const remote = await stage.play("rem", { script });
  assert.equal(remote.done.code, 6, remote.done.stderr);
  assert.deepEqual(remote.leaks.wire, []);
});

async function bothReads(
  stage: Stage,
  play: { first: string; then: string; work(): Promise<void>; undo(): Promise<void> },
) {
  const script = [ask(want("read", { path: play.first })), ask(want("read", { path: play.then })), say("Done.")];
  const during = { index: 1, work: play.work };
  const remote = await stage.play("rem", { script, during });
  await play.undo();
  const local = await stage.play("loc", { script, during });
  return { remote, local };
}

function assertStillProtected({ remote, local }: { remote: Played; local: Played }, canary: string): void {
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assertSealed(remote);
  assertRefusedResult(remote.results[1], "read after the change");
  assertSealed(local);
  assert.ok(local.results[1]?.includes(canary), `the control is empty: ${local.results[1]}`);
}

Deno.test("what was protected in a session stays so when it is saved again or renamed", linux, async (test) => {
  await test.step("a hard link to the file before an atomic save", async () => {
    await using stage = await openStage();
    const { project } = stage;
    const canary = stage.canary("env");
    await link(stage, `${project}/.env`, "h.txt");
    const work = async () => {
      await Deno.writeTextFile(`${project}/new`, "API_TOKEN=another-token-1234\n");
      await Deno.rename(`${project}/new`, `${project}/.env`);
    };
    const undo = async () => {
      await Deno.remove(`${project}/.env`);
      await Deno.link(`${project}/h.txt`, `${project}/.env`);
    };
    assertStillProtected(await bothReads(stage, { first: "h.txt", then: "h.txt", work, undo }), canary);
  });
  await test.step("the backup of an editor", async () => {
    await using stage = await openStage();
    const { project } = stage;
    const canary = stage.canary("env");
    stage.exempt(".env~");
    const work = async () => {
      await Deno.rename(`${project}/.env`, `${project}/.env~`);
      await Deno.writeTextFile(`${project}/.env`, "API_TOKEN=another-token-1234\n");
    };
    const undo = () => Deno.rename(`${project}/.env~`, `${project}/.env`);
    assertStillProtected(await bothReads(stage, { first: "pub.txt", then: ".env~", work, undo }), canary);
  });
  await test.step("a directory that was renamed", async () => {
    await using stage = await openStage();
    const { project } = stage;
    stage.exempt("s2");
    const work = () => Deno.rename(`${project}/secrets`, `${project}/s2`);
    const undo = () => Deno.rename(`${project}/s2`, `${project}/secrets`);
    assertStillProtected(
      await bothReads(stage, { first: "pub.txt", then: "s2/k.txt", work, undo }),
      stage.canary("key"),
    );
  });
});

Deno.test("what a protected file held before is still found in a request", linux, async () => {
  await using stage = await openStage();
  const { project } = stage;
  await stage.write("copy.txt", `${stage.canary("env")}\n`);
  stage.exempt("copy.txt");
  const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: "copy.txt" })), say("Done.")];
  const work = () => Deno.writeTextFile(`${project}/.env`, "API_TOKEN=another-token-1234\n");
  const remote = await stage.play("rem", { script, during: { index: 1, work } });
  assert.equal(remote.done.code, 6, remote.done.stderr);
  assert.deepEqual(remote.leaks.wire, []);
});

Deno.test("a file that takes the place and the number of a protected one later is open", linux, async () => {
  await using stage = await openStage();
  const { project } = stage;
  const work = async () => {
    await Deno.remove(`${project}/.env`);
    await Deno.writeTextFile(`${project}/fresh.txt`, "FRESH_marker\n");
  };
  const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: "fresh.txt" })), say("Done.")];
  const remote = await stage.play("rem", { script, during: { index: 1, work } });
  assert.match(remote.results[1] ?? "", /FRESH_marker/);
});

Deno.test("a file that is plain, a link and a hard link in turn is read only while it is plain", linux, async () => {
  await using stage = await openStage();
  const { project } = stage;
  stage.exempt("a.txt");
  stage.exempt("turn");
  await Deno.mkdir(`${project}/turn`);
  await stage.write("a.txt", "plain\n");
  using turning = await turn(project);
  const read = (name: string, limit: number) => ({ name: "Read", input: { file_path: name, limit } });
  // One that succeeds in between: a turn ends when eight calls in a row fail, and that many can meet it protected.
  const calls = (round: number) =>
    Array.from({ length: 40 }, (_, index) => read(index % 5 === 4 ? "pub.txt" : "a.txt", 1000 + 40 * round + index));
  const script: Script = ({ index }) =>
    index < 4 ? ask(...calls(index)) : index === 4 ? ask(read("a.txt", 2000)) : say("Done.");
  const block = { models: [{ id: "fake", context_window: 131072 }] };
  const remote = await stage.play("rem", { script, block, during: { index: 4, work: () => turning.stop() } });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assertSealed(remote);
  // On a busy machine the other thread may rest for a whole reply, and leave the file as something else.
  assert.match(remote.results.at(-1) ?? "", /plain/);
});

Deno.test("of thousands of reads of such a file none gives protected bytes to a remote model", linux, async () => {
  await using stage = await openStage();
  const { project, home } = stage;
  await Deno.mkdir(`${project}/turn`);
  await stage.write("a.txt", "plain\n");
  const workspace = await openWorkspace({
    root: await Deno.realPath(project),
    additional: [],
    cwd: project,
    home: home.agentcliHome,
    localEndpoints: findMarkers(project).standingEndpoints,
    provider: { local: false, name: "rem" },
  });
  const path = await workspace.resolve("a.txt");
  assert.ok(!("refused" in path));
  using _turning = await turn(project);
  let plain = 0;
  for (let read = 0; read < 5_000; read++) {
    const found = await workspace.read(path);
    if ("refused" in found) continue;
    assert.equal(new TextDecoder().decode(found.bytes).replace("plain\n", ""), "", `read ${read}`);
    plain += 1;
  }
  assert.ok(plain > 0);
});

Deno.test(
  "commands see neither a hard link to what is protected elsewhere nor what was renamed in the session",
  linux,
  async () => {
    await using stage = await openStage();
    const { project } = stage;
    const { root } = stage.home;
    await stage.write(`${root}/.agentclisecret`, "no-cloud: outer\n");
    await stage.plant(`${root}/outer/key.env`, "outer");
    await link(stage, `${root}/outer/key.env`, "h.txt");
    await stage.git("init", "--quiet");
    for (const name of [".env~", "s2"]) stage.exempt(name);
    const work = async () => {
      await Deno.rename(`${project}/.env`, `${project}/.env~`);
      await Deno.rename(`${project}/secrets`, `${project}/s2`);
    };
    const turned = (path: string) => `tr a-zA-Z n-za-mN-ZA-M < ${path}`;
    const command = [turned("pub.txt"), turned("h.txt"), turned(".env~"), turned("s2/k.txt")].join("; ");
    const script = [ask(want("read", { path: "pub.txt" })), ask(want("shell", { command })), say("Done.")];
    const args = ["--permission-mode", "bypassPermissions"];
    const remote = await stage.play("rem", { script, args, during: { index: 1, work } });
    assertSealed(remote);
    for (const name of ["outer", "env", "key"]) assert.ok(!remote.sent.includes(rot13(stage.canary(name))), name);
    if (hasBubblewrap()) assert.ok(remote.results[1]?.includes(rot13("PUB_marker")), remote.results[1]);
  },
);

Deno.test("a command does not see a hard link that may be one to a file whose name is not UTF-8", {
  ignore: !hasBubblewrap(),
}, () =>
  inSandboxProject(async (project) => {
    const latin = "secrets/$'\\xe9'";
    await project.unsandboxed(
      `printf %s ${project.canary} > ${latin}; ln ${latin} open.txt; echo one > a; ln a b; echo two > c`,
    );
    const command = "cat open.txt; cat a b c";
    const { text } = await project.sandboxed(command);
    assert.ok(!holdsCanary(text, project.canary), text);
    assert.match(text, /\btwo\n$/, "a file with one name is seen");
    assert.ok(holdsCanary(await project.unsandboxed(command), project.canary), "control");
  }));

Deno.test(
  "a bind mount of a protected file is that file, for the reader and for commands",
  { ignore: !canMount },
  async () => {
    await using stage = await openStage();
    const { project } = stage;
    await stage.write("x.txt", "");
    await Deno.mkdir(`${project}/data`);
    stage.exempt("x.txt");
    stage.exempt("data");
    const mount = async (command: string, ...args: string[]) => {
      const { success } = await new Deno.Command(command, { args, stderr: "null" }).output();
      assert.ok(success, `${command} ${args.join(" ")}`);
    };
    await mount("mount", "--bind", `${project}/.env`, `${project}/x.txt`);
    await mount("mount", "--bind", `${project}/secrets`, `${project}/data`);
    try {
      await tryWays(stage, [...reads("env", "x.txt"), ...reads("key", "data/k.txt")]);
      const command = "tr a-zA-Z n-za-mN-ZA-M < x.txt; tr a-zA-Z n-za-mN-ZA-M < data/k.txt; echo ran";
      const script = [ask(want("shell", { command })), say("Done.")];
      const remote = await stage.play("rem", { script, args: ["--permission-mode", "bypassPermissions"] });
      assertSealed(remote);
      for (const name of ["env", "key"]) assert.ok(!remote.sent.includes(rot13(stage.canary(name))), remote.results[0]);
    } finally {
      await mount("umount", `${project}/x.txt`);
      await mount("umount", `${project}/data`);
    }
  },
);

function rot13(text: string): string {
  return text.replace(/[a-zA-Z]/g, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode((letter.charCodeAt(0) - base + 13) % 26 + base);
  });
}

/** A thread that changes a file. */
interface Turning extends Disposable {
  /** Ends it; the file is plain then. */
  stop(): Promise<void>;
}

/** Makes `a.txt` a link to `.env`, plain, a hard link to it, and plain again, over and over in a thread of its own. */
async function turn(project: string): Promise<Turning> {
  const code = `const p = ${JSON.stringify(project)};
    const take = (make) => { make(p + "/turn/x"); Deno.renameSync(p + "/turn/x", p + "/a.txt"); };
    const plain = (at) => Deno.writeTextFileSync(at, "plain\\n");
    self.onmessage = ({ data: stopped }) => {
      self.postMessage("running");
      while (Atomics.load(stopped, 0) === 0) {
        take((at) => Deno.symlinkSync(p + "/.env", at)); take(plain);
        take((at) => Deno.linkSync(p + "/.env", at)); take(plain);
      }
      self.postMessage("stopped");
    };`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
  const heard = { running: Promise.withResolvers<void>(), stopped: Promise.withResolvers<void>() };
  worker.onmessage = ({ data }: MessageEvent<keyof typeof heard>) => heard[data].resolve();
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  worker.postMessage(stopped);
  await heard.running.promise;
  return {
    async stop() {
      Atomics.store(stopped, 0, 1);
      await heard.stopped.promise;
    },
    [Symbol.dispose]: () => worker.terminate(),
  };
}
