/**
 * What a command saw that it must not: everything that it leaves behind is taken from the model, whatever else goes
 * wrong.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { keptRoots } from "../../src/boundary/policy/identity.ts";
import { quarantine } from "../../src/boundary/sandbox/quarantine.ts";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import { protectCopies } from "../../src/boundary/scan/copies.ts";
import { listQuarantine, restoreQuarantined } from "../../src/cli/quarantine.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded, standing } from "./slipped.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const args = ["--permission-mode", "bypassPermissions"];
const UNTIL = (path: string) => `for i in $(seq 500); do [ -e ${path} ] && break; sleep 0.02; done`;

/** Somebody saves `.env` anew, as editors do, once the command has begun; gives the new value. */
async function saveAnew(stage: Stage, path = `${stage.project}/.env`): Promise<string> {
  const value = `NEWKEY${crypto.randomUUID().replaceAll("-", "")}`;
  await standing(`${stage.project}/ready.txt`);
  await stage.write(`${stage.home.root}/new`, `${value}\n`);
  await Deno.rename(`${stage.home.root}/new`, path);
  await stage.write("go.txt", "go");
  return value;
}

Deno.test("what a command saw is protected though what it made cannot be moved away", bubblewrap, async () => {
  await using stage = await openStage();
  await stage.play("rem", { script: [say("hi")] });
  await stage.write(`${stage.home.agentcliHome}/quarantine`, "no directory");
  await stage.write("old.txt", "stood here before\n");
  const command = `echo > ready.txt; ${
    UNTIL("go.txt")
  }; ${CODED} < .env > old.txt; mkdir .vscode; echo x > .vscode/tasks.json`;
  const saving = saveAnew(stage);
  const played = await stage.play("rem", { script: [ask(want("shell", { command })), say("Done.")], args });
  const value = await saving;
  assert.ok((await Deno.readTextFile(`${stage.project}/old.txt`)).includes(coded(value)), "control: it was seen");
  assert.equal(played.done.code, 6, played.done.stderr);
  await Deno.remove(`${stage.project}/.vscode`, { recursive: true });
  await Deno.remove(`${stage.home.agentcliHome}/quarantine`);
  const next = await stage.play("rem", {
    script: [ask(want("shell", { command: "cat old.txt; echo ran" })), say("ok")],
    args,
  });
  assert.match(next.results[0] ?? "", /ran/, next.done.stderr);
  assert.ok(!next.sent.includes(coded(value)), next.results.join("\n"));
});

Deno.test("a path that has gone by itself does not count as one that cannot be moved to quarantine", async () => {
  await using stage = await openStage();
  const place = { home: stage.home.root, roots: keptRoots([stage.project]), now: Date.now() };
  const [gone, here] = [`${stage.project}/gone`, await stage.write("here", "x")];
  assert.equal(await quarantine([gone], place), null);
  assert.deepEqual((await quarantine([gone, here], place))?.paths, [gone, here]);
  assert.equal(await Deno.stat(here).catch(() => null), null, "control: what is there is moved");
});

Deno.test("files whose paths are long and many are listed and put back as a few are", async () => {
  await using stage = await openStage();
  const home = stage.home.root;
  const deep = `${stage.project}/${Array(10).fill("d".repeat(240)).join("/")}`;
  await Deno.mkdir(deep, { recursive: true });
  // Their paths alone are more than a megabyte.
  for (const count of [2, 450]) {
    const paths = Array.from({ length: count }, (_, at) => `${deep}/${at}`);
    for (const path of paths) Deno.writeTextFileSync(path, "x");
    const entry = await quarantine(paths, { home, roots: keptRoots([stage.project]), now: Date.now() });
    assert.equal(listQuarantine(home).find(({ id }) => id === entry?.id)?.paths.length, count);
    assert(entry);
    assert.equal((await restoreQuarantined(home, entry)).restored.length, count);
    for (const path of paths) Deno.removeSync(path);
  }
});

for (const isProtected of [true, false]) {
  const what = isProtected ? "no network where paths are protected" : "the network where nothing is";
  Deno.test(`with sandbox.network, commands of a remote model have ${what}`, bubblewrap, async () => {
    await using stage = await openStage(isProtected ? {} : { marker: null });
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const command = `bash -c 'echo > /dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo connected || echo closed`;
    const settings = { sandbox: { network: true, mode: "always" } };
    const script = [ask(want("shell", { command })), say("ok")];
    const played = await stage.play("rem", { script, args, settings });
    listener.close();
    assert.match(played.results[0] ?? "", isProtected ? /closed/ : /connected/);
    const said = /have no network, though sandbox\.network is true: this project has protected paths/;
    assert.equal(said.test(played.done.stderr), isProtected, played.done.stderr);
  });
}

Deno.test(
  "a local session says once that its commands lose the network with the first protected file",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const shell = ask(want("shell", { command: "echo ran" }));
    const settings = { sandbox: { network: true } };
    const said = /have no network any more, though sandbox\.network is true: the session has read/g;
    for (const path of [".env", "pub.txt"]) {
      const script = [shell, ask(want("read", { path })), shell, shell, say("ok")];
      const { done } = await stage.play("loc", { script, args, settings });
      assert.equal(done.stderr.match(said)?.length ?? 0, path === ".env" ? 1 : 0, done.stderr);
    }
  },
);

for (const where of ["read", "write"] as const) {
  for (const known of [true, false]) {
    const name = `what another project protects below sandbox.${where} ${known ? "is replaced" : "comes to be"}`;
    Deno.test(`a command ends before it shows that ${name}`, bubblewrap, async () => {
      await using stage = await openStage();
      const other = `${stage.home.root}/other`;
      await stage.write(`${other}/.agentclisecret`, "no-cloud: .env\n");
      // Too short to be found: on a slow machine the file is protected too, and the result shows it.
      await stage.write(`${other}/lib/open.txt`, "open\n");
      if (known) await stage.plant(`${other}/lib/.env`, "other");
      await stage.play("loc", { cwd: other, script: [say("hi")] });
      const file = `"${other}/lib/.env"`;
      const command = `cat "${other}/lib/open.txt"; echo > ready.txt; ${UNTIL("go.txt")}; cat ${file}`;
      const saving = saveAnew(stage, `${other}/lib/.env`);
      const settings = { sandbox: { [where]: [other] } };
      const played = await stage.play("rem", { script: [ask(want("shell", { command })), say("ok")], args, settings });
      const value = await saving;
      assert.match(played.results[0] ?? "", /redacted/, played.done.stderr);
      assert.ok(!played.sent.includes(value), played.results.join("\n"));
    });
  }
}

for (const change of ["a file", "a line of a marker"]) {
  Deno.test(
    `a command does not see what ${change} came to protect right before it in sandbox.read`,
    bubblewrap,
    async () => {
      await using stage = await openStage();
      const other = `${stage.home.root}/places/other`;
      await stage.write(`${other}/.agentclisecret`, "no-cloud: new.env\n");
      // So many directories that a walk takes a while: for so many times as long an old answer would have been used.
      for (let at = 0; at < 300; at++) await Deno.mkdir(`${stage.home.root}/places/${at}`);
      if (change !== "a file") await stage.plant(`${other}/lib/conf.env`, "other");
      await stage.play("loc", { cwd: other, script: [say("hi")] });
      const target = `${other}/lib/${change === "a file" ? "new" : "conf"}.env`;
      const work = async () => {
        if (change === "a file") await stage.plant(target, "other");
        else await stage.write(`${other}/.agentclisecret`, "no-cloud: new.env\nno-cloud: conf.env\n");
      };
      const played = await stage.play("rem", {
        script: [
          ask(want("shell", { command: "echo one" })),
          ask(want("shell", { command: `cat "${target}"; echo ran` })),
          say("ok"),
        ],
        args,
        settings: { sandbox: { read: [`${stage.home.root}/places`] } },
        during: { index: 1, work },
      });
      assert.match(played.results[1] ?? "", /ran/, "control: the command ran");
      assert.deepEqual(played.leaks.wire, [], played.results.join("\n"));
    },
  );
}

/** Ways to leave what `.env` holds in files. */
const LEFT: Readonly<Record<string, string>> = {
  "a new file": `mkdir new; ${CODED} < .env > new/file.txt`,
  "a file that is moved": `${CODED} < .env > new.txt; mv new.txt sub/moved.txt`,
  "a new marker": `mkdir new; ${CODED} < .env | sed 's/^/# /' > new/.agentclisecret`,
  "a file below sandbox.write": `${CODED} < .env > "$CACHE/new.txt"`,
  "a file that stood below sandbox.write": `${CODED} < .env > "$CACHE/old.txt"`,
};

for (const [what, way] of Object.entries(LEFT)) {
  Deno.test(`what a command saw is not left in ${what}`, bubblewrap, async () => {
    await using stage = await openStage();
    const cache = `${stage.home.root}/cache`;
    await stage.write(`${cache}/old.txt`, "stood here before\n");
    await stage.write("sub/old.txt", "stood here before\n");
    const settings = { sandbox: { write: [cache] } };
    const command = `CACHE="${cache}"; echo > ready.txt; ${UNTIL("go.txt")}; ${way} && ${CODED} < .env > control.txt`;
    const look = `cat *.txt */*.txt */.agentclisecret "${cache}"/*; echo ran`;
    const saving = saveAnew(stage);
    const script = [ask(want("shell", { command })), ask(want("shell", { command: look })), say("ok")];
    const played = await stage.play("rem", { script, args, settings });
    const value = await saving;
    const left = await Deno.readTextFile(`${stage.project}/control.txt`);
    assert.ok(left.includes(coded(value)), `control: it was seen\n${played.done.stderr}`);
    assert.match(played.results[1] ?? "", /ran/, "control: the next command ran");
    assert.ok(!played.sent.includes(coded(value)), played.results.join("\n"));
    assert.ok((await Deno.readTextFile(`${stage.project}/.env`)).includes(value), "what the user saved stays");
  });
}

Deno.test("a marker that the user changed while a command ran stays open, and one that came meanwhile does not", async () => {
  await using stage = await openStage();
  for (const since of [Date.now() + 60_000, Date.now() - 60_000]) {
    const protection = new ProtectedSet([stage.project]);
    const exposed = { path: `${stage.project}/.env`, since: 0 };
    const notice = await protectCopies({ roots: [stage.project], protection, scanner: null, since, exposed }, []);
    assert.match(notice ?? "", /pub\.txt/);
    assert.equal(notice?.includes(".agentclisecret"), since < Date.now());
  }
});

Deno.test("what a command saw makes neither a marker from right before it nor the .git of a linked worktree a copy", async () => {
  await using stage = await openStage();
  await stage.write(".git", "gitdir: elsewhere\n");
  const marker = await Deno.stat(`${stage.project}/.agentclisecret`);
  for (const before of [1, -1]) {
    const protection = new ProtectedSet([stage.project]);
    const since = Number(marker.birthtime) + before;
    const exposed = { path: `${stage.project}/.env`, since };
    const notice = await protectCopies({ roots: [stage.project], protection, scanner: null, since, exposed }, []);
    assert.match(notice ?? "", /pub\.txt/, "control: what else changed is one");
    assert.doesNotMatch(notice ?? "", /\.git\b/);
    assert.equal(notice?.includes(".agentclisecret,") || notice?.includes(".agentclisecret "), before < 0);
  }
});

const SAVED: [how: string, path: string, isEnded: boolean][] = [
  ["by renaming", ".env", true],
  ["in place", ".env", false],
  ["by renaming, in a protected directory", "secrets/k.txt", false],
];

for (const [how, path, isEnded] of SAVED) {
  const what = isEnded ? "ends it, and says which files to release" : "goes on unseen";
  Deno.test(`a protected file that is saved ${how} while a command runs ${what}`, bubblewrap, async () => {
    await using stage = await openStage();
    const file = `${stage.project}/${path}`;
    const command = `echo > ready.txt; ${UNTIL("go.txt")}; cat ${path} || echo hidden`;
    const value = `NEWKEY${crypto.randomUUID().replaceAll("-", "")}`;
    const saving = (async () => {
      await standing(`${stage.project}/ready.txt`);
      await stage.write("also.txt", "saved together with it\n");
      await stage.write(how === "in place" ? path : `${stage.home.root}/new`, `${value}\n`);
      if (how !== "in place") await Deno.rename(`${stage.home.root}/new`, file);
      await stage.write("go.txt", "go");
    })();
    const { done, results } = await stage.play("loc", { script: [ask(want("shell", { command })), say("ok")], args });
    await saving;
    assert.equal(await Deno.readTextFile(file), `${value}\n`, "control: it was saved");
    // The mount of the view goes with the name that is replaced: from then on the command reads the new file.
    assert.equal(/redacted/.test(results[0] ?? ""), isEnded, results[0]);
    assert.ok(!results.join().includes(value), results.join());
    const said = /\.env became protected or was replaced while the command ran.*saved in place/;
    assert.equal(said.test(done.stderr), isEnded, done.stderr);
    const release = /if none of them holds its content: agentcli secrets trust ([^)]*)\)/.exec(done.stderr)?.[1];
    assert.equal(release?.includes("also.txt") ?? false, isEnded, done.stderr);
    if (release === undefined) return assert.match(results[0] ?? "", /hidden/);
    const check = async () => (await runInProcess(["secrets", "check", "also.txt"], { home: stage.home })).code;
    assert.equal(await check(), 0);
    await runInProcess(["secrets", "trust", "--yes", ...release.split(" ")], { home: stage.home });
    assert.equal(await check(), 1);
  });
}
