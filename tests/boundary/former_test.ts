/** What becomes of a protected file, and of what a session read of it, by one ordinary step between two sessions. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { ProjectRecord } from "../../src/boundary/policy/project_record.ts";
import { openHome } from "../../src/platform/home.ts";
import { dirname } from "../../src/platform/path.ts";
import { assertSealed, openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const linux = { ignore: Deno.build.os !== "linux" };
const args = ["--permission-mode", "bypassPermissions"];

/** Runs the user's own command in the project. */
async function user(stage: Stage, command: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("bash", { args: ["-c", command], cwd: stage.project }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const ROTATE = "echo API_TOKEN=another-value-of-the-user > .env";
const STEPS: readonly (readonly [step: string, path: string])[] = [
  ["mkdir deep; mv .env deep", "deep/.env"],
  ["sed -i.bak s/CNRY.*/rotated-value/ .env", ".env.bak"],
  [`cp .env .env~; ${ROTATE}`, ".env~"],
  [`echo 'unsaved' >> .env; cat .env > .env.swp; ${ROTATE}`, ".env.swp"],
  ["cp -r secrets secrets.orig; echo more >> secrets.orig/k.txt; rm -r secrets", "secrets.orig/k.txt"],
];

for (const [step, path] of STEPS) {
  Deno.test(`what was protected stays so after: ${step}`, bubblewrap, async () => {
    await using stage = await openStage();
    const first = await stage.play("rem", { script: [ask(want("read", { path: "pub.txt" })), say("Done.")] });
    assert.equal(first.done.code, 0, first.done.stderr);
    await user(stage, step);
    stage.exempt(path);
    const form = "tr 'A-Za-z' 'N-ZA-Mn-za-m'";
    const script = [
      ask(want("read", { path })),
      ask(want("shell", { command: `${form} < ${path}; cat pub.txt` })),
      say("Done."),
    ];
    const { results, sent } = await stage.play("rem", { script, args });
    assert.match(results[0] ?? "", /is protected/);
    assert.match(results[1] ?? "", /PUB_marker/, "control: the command ran");
    assert.doesNotMatch(sent, /CNRY_|PAEL_/);
  });
}

Deno.test(
  "a file is open in later sessions under a name that no line covers, and protected again as it was",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    await stage.play("rem", { script: [say("Hello.")] });
    stage.exempt("conf.env");
    for (
      const [step, path, expected] of [
        ["mv .env conf.env", "conf.env", /CNRY_/],
        ["mv conf.env .env", ".env", /is protected/],
      ] as const
    ) {
      await user(stage, step);
      const { results } = await stage.play("rem", { script: [ask(want("read", { path })), say("Done.")] });
      assert.match(results[0] ?? "", expected);
    }
  },
);

/** What a covered link leads to, and a command that takes the link away. */
const LINKS: readonly (readonly [link: string, target: string, command: string])[] = [
  [".env", "envs/prod.txt", "rm .env"],
  [".env", "envs/prod.txt", "ln -sfn ../pub.txt .env"],
  ["conf/cur", "envs/prod.txt", "mv conf conf9"],
  ["a.pem", "envs/prod.txt", "mv a.pem a.txt"],
  ["sec", "store", "rm sec"],
  ["on/way", "store", "rm -r on"],
  ["vault", "store", "rm vault"],
  ["apps/x", "store", "rm apps/x"],
  ["a/deep/in", "store", "mv a/deep/in a/deep/out"],
  ["cellar", "kept/private", "rm cellar"],
];
/** Links to directories of which a line with a wildcard covers a part. */
const PASSED = ["on/way", "apps/x", "a/deep/in"];
const LINES = ["no-cloud: .env", "no-cloud: *.pem", "no-cloud: sec", "no-cloud: conf/cur", "no-cloud: on/way/*.txt"]
  .concat("list-only: vault", "no-cloud: apps/*/*.txt", "no-cloud: **/in/*.txt", "no-cloud: kept", "list-only: cellar");

for (const kind of ["rem", "loc"] as const) {
  for (const [link, target, command] of LINKS) {
    Deno.test(
      `what ${link} led to stays protected after a command of a ${kind} model: ${command}`,
      bubblewrap,
      async () => {
        await using stage = await openStage({ bare: true, marker: LINES.map((line) => `${line}\n`).join("") });
        const [file, later] = target.endsWith(".txt") ? [target, target] : [`${target}/k.txt`, `${target}/later.txt`];
        await stage.plant(file, "k", (canary) => `TOKEN=${canary}\n`);
        await stage.write("pub.txt", "PUB_marker\n");
        await stage.write(`${dirname(`${stage.project}/${link}`)}/other.txt`, "x\n");
        await Deno.symlink(`${stage.project}/${target}`, `${stage.project}/${link}`);
        const first = await stage.play(kind, { args, script: [ask(want("shell", { command })), say("Done.")] });
        assert.equal(first.done.code, 0, first.done.stderr);
        const now = await Deno.readLink(`${stage.project}/${link}`).catch(() => null);
        assert.notEqual(now, `${stage.project}/${target}`, "control: the link is gone");
        if (later !== file) await stage.plant(later, "later", (canary) => `TOKEN=${canary}\n`);
        const paths = [file, later, "pub.txt"];
        const script = [...paths.map((path) => ask(want("read", { path }))), say("Done.")];
        const { results, sent } = await stage.play("rem", { args, script });
        const why = PASSED.includes(link)
          ? "\\.agentclisecret:\\d no-cloud"
          : `${link.replaceAll(".", "\\.")} led to it`;
        for (const result of results.slice(0, 2)) assert.match(result, new RegExp(`is protected \\(${why}`));
        assert.match(results[2] ?? "", /PUB_marker/, "control: what is open is read");
        assert.doesNotMatch(sent, /CNRY_/);
        const local = await stage.play("loc", { script: [ask(want("read", { path: file })), say("Done.")] });
        const isListed = ["vault", "cellar"].includes(link);
        assert.match(local.results[0] ?? "", isListed ? /for no model/ : /TOKEN=/, "it keeps its tier");
      },
    );
  }
}

const INNER: readonly (readonly [what: string, line: string, link: string])[] = [
  ["what a link to it led to", "no-cloud: app/sub/current", "."],
  ["what a link above it led to", "no-cloud: app/sub/current/*/keys", ".."],
  ["what a removed line above the project covered", "no-cloud: k.txt", ""],
];

for (const [what, line, link] of INNER) {
  Deno.test(`a repository inside of a known project keeps protected: ${what}`, bubblewrap, async () => {
    await using stage = await openStage({ bare: true, marker: `${line}\n` });
    await stage.plant("app/sub/keys/k.txt", "k");
    await stage.write("app/pub.txt", "PUB_marker\n");
    await user(stage, `git init -q app/sub; ${link === "" ? "git init -q app" : `ln -s ${link} app/sub/current`}`);
    const script = [ask(want("read", { path: `${stage.project}/app/pub.txt` })), say("Done.")];
    const seen = await stage.play("rem", { cwd: `${stage.project}/app`, script });
    assert.match(seen.results[0] ?? "", /PUB_marker/, `control: a session ran\n${seen.done.stderr}`);
    await user(stage, link === "" ? ": > .agentclisecret" : "rm app/sub/current");
    const argv = ["sandbox", "--", "cat", "keys/k.txt"];
    const inner = await stage.play("loc", { cwd: `${stage.project}/app/sub`, argv, script: [] });
    assert.ok(!inner.done.stdout.includes(stage.canary("k")), inner.done.stderr);
    assert.notEqual(inner.done.code, 0);
  });
}

Deno.test("secrets trust releases the target of a link once link and line are gone", bubblewrap, async () => {
  await using stage = await openStage({ bare: true, marker: "no-cloud: .env\n" });
  await stage.plant("prod.txt", "k");
  stage.exempt("prod.txt");
  await Deno.symlink("prod.txt", `${stage.project}/.env`);
  await stage.play("rem", { script: [say("Hello.")] });
  const trust = async () => await runInProcess(["secrets", "trust", "--yes"], { home: stage.home });
  assert.match((await trust()).stderr, /nothing to accept/, "a link that stands is no difference");
  await user(stage, "rm .env; : > .agentclisecret");
  const listed = await runInProcess(["secrets", "list"], { home: stage.home });
  assert.match(listed.stdout, /^prod\.txt +no-cloud +\.env led to it$/m);
  const script = [ask(want("read", { path: "prod.txt" })), say("Done.")];
  assert.match((await stage.play("rem", { script })).results[0] ?? "", /is protected/, "control: not yet");
  const trusted = await trust();
  assert.match(
    trusted.stderr,
    /^ {2}\.agentclisecret, remembered: no-cloud: \.env\nwill be released:\n {2}prod\.txt \(\.env led to it\)$/m,
  );
  assert.match((await stage.play("rem", { script })).results[0] ?? "", /CNRY_/);
});

Deno.test("the home keeps no content of what is protected", bubblewrap, async () => {
  await using stage = await openStage();
  await stage.play("rem", { script: [say("Hello.")] });
  let text = "";
  for (const { name } of Deno.readDirSync(`${stage.home.agentcliHome}/projects`)) {
    text += await Deno.readTextFile(`${stage.home.agentcliHome}/projects/${name}`).catch(() => "");
  }
  assert.match(text, /"pattern":"\.env"/, "control: it keeps the rule");
  assert.doesNotMatch(text, /digest|CNRY_/);
});

Deno.test(
  "a session that read a file before it was protected continues with local models alone, or from before",
  bubblewrap,
  async () => {
    await using stage = await openStage({ marker: null });
    const first = await stage.play("loc", { script: [say("Hello.")] });
    assert.equal(first.done.code, 0);
    const read = (path: string) => [ask(want("read", { path })), say("Done.")];
    await stage.play("loc", { args: ["--continue"], script: read(".env") });
    stage.exempt(stage.home.agentcliHome);
    await stage.write(".agentclisecret", "no-cloud: .env\n");
    await user(stage, ROTATE);
    const remote = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(remote.done.code, 6, remote.done.stderr);
    assert.doesNotMatch(remote.sent, /CNRY_/);
    const fork = await stage.play("rem", { args: ["--continue", "--fork-session"], script: [say("Hello.")] });
    assert.equal(fork.done.code, 0, fork.done.stderr);
    assert.doesNotMatch(fork.sent, /CNRY_/);
    const local = await stage.play("loc", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(local.done.code, 0, "control: a local model continues");
  },
);

Deno.test("a session in which a read was refused continues with its remote model", bubblewrap, async () => {
  await using stage = await openStage();
  await stage.play("rem", { script: [ask(want("read", { path: ".env" })), say("Done.")] });
  const { done } = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
  assert.equal(done.code, 0, done.stderr);
});

Deno.test("what another session protected meanwhile is protected in one that runs", bubblewrap, async () => {
  await using stage = await openStage();
  const coded = "what no scan knows";
  const path = await stage.write("out.txt", coded);
  const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: "out.txt" })), say("Done.")];
  const work = async () => {
    const home = await openHome({ env: () => stage.home.agentcliHome, os: "linux" });
    const record = await ProjectRecord.open(home, stage.project, { markers: [], endpoints: [] });
    await record.tighten({ derived: [{ path, source: `${stage.project}/.env`, inode: 0, born: 0 }] });
  };
  const control = await stage.play("rem", { script });
  assert.match(control.results[1] ?? "", /no scan knows/, "control: no scan finds it");
  const { results } = await stage.play("rem", { script, during: { index: 1, work } });
  assert.match(results[0] ?? "", /PUB_marker/);
  assert.match(results[1] ?? "", /is protected \(it holds content of \.env\)/);
});

Deno.test("a line that the user adds while a model answers counts for the next call", linux, async () => {
  for (const kind of ["rem", "loc"] as const) {
    await using stage = await openStage({ bare: true, marker: "no-cloud: other\n" });
    await stage.plant("conf.txt", "c");
    await stage.write("pub.txt", "PUB_marker\n");
    const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: "conf.txt" })), say("Done.")];
    const work = async () => {
      await stage.write(".agentclisecret", "no-cloud: other\nno-cloud: conf.txt\n");
    };
    const played = await stage.play(kind, { script, during: { index: 1, work } });
    assertSealed(played);
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.match(played.results[1] ?? "", kind === "rem" ? /is protected/ : /CNRY_/);
  }
});

interface Way {
  name: string;
  call?: Record<string, unknown>;
  tool?: string;
  file?: string;
  from?: string;
  args?: readonly string[];
}

const WAYS: readonly Way[] = [
  { name: "another name of the argument", call: { path: "config.env" } },
  { name: "another spelling of the argument", call: { filePath: "config.env" } },
  { name: "a directory below", file: "sub/config.env", from: "sub", call: { file_path: "config.env" } },
  { name: "a search of the file", tool: "Grep", call: { pattern: "TOKEN", path: "config.env" } },
  { name: "a search of the project", tool: "Grep", call: { pattern: "TOKEN", output_mode: "content" } },
  { name: "a link that is gone", call: { file_path: "link" } },
  { name: "an attachment", args: ["--file", "config.env"] },
];

for (const { name, call, tool = "Read", file = "config.env", from = "", args: more = [] } of WAYS) {
  Deno.test(`what a stored session took by ${name} before it was protected stays with local models`, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.plant(file, "env", (canary) => `TOKEN=${canary}\n`);
    await stage.write("sub/pub.txt", "PUB_marker\n");
    await stage.git("init", "-q");
    stage.exempt(".git");
    stage.exempt(stage.home.agentcliHome);
    await Deno.symlink("config.env", `${stage.project}/link`);
    const script = [ask({ name: tool, input: call ?? { file_path: "sub/pub.txt" } }), say("Done.")];
    const local = await stage.play("loc", { cwd: `${stage.project}/${from}`, args: more, script });
    assert.match(local.sent, /CNRY_/, "control: the local model got it");
    await Deno.remove(`${stage.project}/link`);
    const control = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(control.done.code, 0, "control: nothing is protected yet");
    await stage.write(".agentclisecret", `no-cloud: ${file}\n`);
    await stage.write(file, "K: another-value\n");
    const remote = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(remote.done.code, 6, remote.done.stderr);
    assert.doesNotMatch(remote.sent, /CNRY_/);
  });
}

for (const rotates of [true, false]) {
  const way = rotates ? "and has changed" : "and is as it was";
  Deno.test(`what a session read in an added directory that is protected by now ${way} stays with local models`, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const added = `${stage.home.root}/D`;
    await stage.plant(`${added}/conf.env`, "env", (canary) => `TOKEN=${canary}\n`);
    await stage.write(`${added}/pub.txt`, "PUB_marker\n");
    stage.exempt(stage.home.agentcliHome);
    const read = (name: string) => [ask(want("read", { path: `${added}/${name}` })), say("Done.")];
    const addDir = ["--add-dir", added];
    const open = await stage.play("loc", { args: addDir, script: read("pub.txt") });
    assert.match(open.sent, /PUB_marker/);
    await stage.write(`${added}/.agentclisecret`, "no-cloud: conf.env\n");
    const control = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(control.done.code, 0, "control: what it read is open");
    await Deno.remove(`${added}/.agentclisecret`);
    await stage.play("loc", { args: ["--continue", ...addDir], script: read("conf.env") });
    await stage.write(`${added}/.agentclisecret`, "no-cloud: conf.env\n");
    await stage.play("loc", { cwd: added, script: [say("Hello.")] });
    if (rotates) await stage.write(`${added}/conf.env`, "another-value-of-it\n");
    const remote = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(remote.done.code, 6, remote.done.stderr);
    assert.doesNotMatch(remote.sent, /CNRY_/);
  });
}

Deno.test("of a session of an earlier version the words of its calls and attachments tell what it read", async () => {
  for (const way of ["call", "attachment"]) {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.plant("config.env", "env", (canary) => `TOKEN=${canary}\n`);
    stage.exempt(stage.home.agentcliHome);
    const args = way === "call" ? [] : ["--file", "config.env"];
    const script = [...way === "call" ? [ask({ name: "Read", input: { path: "config.env" } })] : [], say("Done.")];
    await stage.play("loc", { args, script });
    let changed = 0;
    for (const { name, isDirectory } of Deno.readDirSync(`${stage.home.agentcliHome}/projects`)) {
      if (!isDirectory) continue;
      for (const file of Deno.readDirSync(`${stage.home.agentcliHome}/projects/${name}`)) {
        const path = `${stage.home.agentcliHome}/projects/${name}/${file.name}`;
        if (!path.endsWith(".jsonl")) continue;
        const text = await Deno.readTextFile(path);
        changed += text.split(/"files":\[/).length - 1;
        await Deno.writeTextFile(path, text.replaceAll(/,"files":\[[^\]]*\]/g, ""));
      }
    }
    assert.ok(changed > 0, "control: this version names the files");
    await stage.write(".agentclisecret", "no-cloud: config.env\n");
    await stage.write("config.env", "K: another-value\n");
    const remote = await stage.play("rem", { args: ["--continue"], script: [say("Hello.")] });
    assert.equal(remote.done.code, 6, remote.done.stderr);
    assert.doesNotMatch(remote.sent, /CNRY_/);
  }
});
