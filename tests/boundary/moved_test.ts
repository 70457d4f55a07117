/** What the home knows follows a project that moves, and holds for what comes to its path before that is noticed. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded, standing } from "./slipped.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const HELLO = { script: [say("Hello.")] };
const read = (path: string) => [ask(want("read", { path })), say("Done.")];

/** Runs the user's own command beside the project, which is a repository. */
async function user(stage: Stage, command: string): Promise<void> {
  const named = ["user.name=Tester", "user.email=tester@example.test"].flatMap((value) => ["-c", value]);
  const args = ["-ec", `git() { command git ${named.join(" ")} "$@"; }; ${command}`];
  const { success, stderr } = await new Deno.Command("bash", { args, cwd: stage.home.root }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

async function openRepository(): Promise<Stage> {
  const stage = await openStage({ bare: true, marker: null });
  await stage.write("pub.txt", "PUB_marker\n");
  await user(stage, "cd project; git init -q; git add pub.txt; git commit -qm first; git clone -q . ../origin");
  for (const path of [".git", stage.home.agentcliHome]) stage.exempt(path);
  return stage;
}

const ASIDE = "mv project aside; git clone -q origin project; cp aside/.env aside/later.txt project";

for (
  const [name, step, runsAside] of [
    ["it was not", "true", false],
    ["nothing ran there", ASIDE, false],
    ["a session ran there", ASIDE, true],
  ] as const
) {
  Deno.test(
    `a project that was moved aside leaves its rules at its path until it is found: ${name}`,
    linux,
    async () => {
      await using stage = await openRepository();
      await stage.plant(".env", "env");
      await stage.plant("later.txt", "later");
      const first = await stage.play("loc", { script: read("later.txt") });
      assert.match(first.results[0] ?? "", /CNRY_/, "control: nothing protects it yet");
      await stage.write(".agentclisecret", "no-cloud: later.txt\nno-cloud: .env\n");
      await stage.play("loc", HELLO);
      await user(stage, step);
      if (runsAside) await stage.play("loc", { ...HELLO, cwd: `${stage.home.root}/aside` });
      const { results, sent } = await stage.play("rem", { script: read(".env") });
      if (runsAside) return assert.match(results[0] ?? "", /CNRY_/, "what is there now is another project");
      assert.match(results[0] ?? "", /is protected/);
      const { id } = JSON.parse((await runInProcess(["sessions", "list", "--json"], { home: stage.home })).stdout)
        .sessions.at(-1);
      const stored = await stage.play("rem", { ...HELLO, args: ["--resume", id] });
      assert.equal(stored.done.code, 6, stored.done.stderr);
      assert.doesNotMatch(sent + stored.sent, /CNRY_/);
    },
  );
}

Deno.test("a session resumed in a moved project leaves what came to the former path alone", linux, async () => {
  await using stage = await openRepository();
  await stage.plant(".env", "env");
  await stage.write(".agentclisecret", "no-cloud: .env\n");
  await stage.play("loc", HELLO);
  await user(stage, "mv project aside");
  const work = async () => {
    await user(stage, "git clone -q origin project; echo 'no-cloud: new.txt' > project/.agentclisecret");
    await stage.plant("new.txt", "new");
    await stage.play("loc", HELLO);
    await stage.write("../aside/.agentclisecret", "no-cloud: .env\nno-cloud: more.txt\n");
    await Deno.remove(`${stage.project}/.agentclisecret`);
  };
  const script = [ask(want("read", { path: "pub.txt" })), say("Done.")];
  const aside = await stage.play("loc", { script, cwd: `${stage.home.root}/aside`, during: { index: 0, work } });
  assert.match(aside.results[0] ?? "", /PUB_marker/, "control: it went on");
  const { results, sent } = await stage.play("rem", { script: read("new.txt") });
  assert.match(results[0] ?? "", /is protected/);
  assert.doesNotMatch(sent, /CNRY_/);
});

Deno.test("a removed line of a project that moved still protects in a repository inside of it", linux, async () => {
  await using stage = await openRepository();
  await stage.plant("api/.env", "env");
  await user(stage, "git init -q project/api");
  await stage.write(".agentclisecret", "no-cloud: api/.env\nno-cloud: other\n");
  await stage.play("loc", HELLO);
  await stage.write(".agentclisecret", "no-cloud: other\n");
  await user(stage, "mv project moved");
  const cwd = `${stage.home.root}/moved/api`;
  const { results } = await stage.play("rem", { script: read(".env"), cwd });
  assert.match(results[0] ?? "", /is protected .*remembered: no-cloud: api\/\.env/);
  const local = await stage.play("loc", { script: read(".env"), cwd });
  assert.match(local.results[0] ?? "", /CNRY_/, "control");
});

Deno.test("what a session read in an added directory that was known and protects it now stays local", async () => {
  await using stage = await openRepository();
  const added = `${stage.home.root}/added`;
  await stage.plant(`${added}/later.txt`, "later");
  await stage.write(`${added}/.agentclisecret`, "no-cloud: other\n");
  await stage.play("loc", { ...HELLO, cwd: added });
  await stage.play("loc", { script: read(`${added}/later.txt`), args: ["--add-dir", added] });
  const control = await stage.play("rem", { ...HELLO, args: ["--continue"] });
  assert.equal(control.done.code, 0, "control: nothing protects it yet");
  await stage.write(`${added}/.agentclisecret`, "no-cloud: later.txt\n");
  for (const isKnown of [false, true]) {
    if (isKnown) await stage.play("loc", { ...HELLO, cwd: added });
    const { done, sent } = await stage.play("rem", { ...HELLO, args: ["--continue"] });
    assert.equal(done.code, 6, done.stderr);
    assert.doesNotMatch(sent, /CNRY_/);
  }
});

Deno.test("whoever asks for a session of a project that moved is told how to read it", linux, async () => {
  await using stage = await openRepository();
  const words = "a prompt of the user";
  await stage.play("loc", { ...HELLO, prompt: words });
  const sessions = (...argv: string[]) =>
    runInProcess(["sessions", ...argv], { home: stage.home, cwd: stage.home.root });
  const [{ id }] = JSON.parse((await sessions("list", "--all", "--json")).stdout).sessions;
  const resume = async (cwd: string) =>
    (await stage.play("loc", { ...HELLO, args: ["--resume", id], cwd })).done.stderr;
  assert.match(await resume(stage.home.root), /it belongs to .*project: go there, or use -C/, "control");
  await user(stage, "mv project moved");
  const [, told = ""] =
    /which is gone; read it with: agentcli sessions (.*)/.exec(await resume(`${stage.home.root}/moved`)) ?? [];
  assert.match((await sessions(...told.split(" "))).stdout, new RegExp(words));
});

Deno.test(
  "whoever asks for a session of what became part of a larger project is told how to read it",
  linux,
  async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const words = "a prompt of the user";
    await stage.write("sub/a.txt", "a\n");
    const cwd = `${stage.project}/sub`;
    await stage.play("loc", { ...HELLO, prompt: words, cwd });
    const sessions = (...argv: string[]) => runInProcess(["sessions", ...argv], { home: stage.home, cwd });
    const [{ id }] = JSON.parse((await sessions("list", "--json")).stdout).sessions;
    assert.equal((await stage.play("loc", { ...HELLO, args: ["--resume", id], cwd })).done.code, 0, "control");
    await stage.write(".agentclisecret", "no-cloud: .env\n");
    const { stderr } = (await stage.play("loc", { ...HELLO, args: ["--resume", id], cwd })).done;
    const [, told = ""] = /part of this project now; read it with: agentcli sessions (.*)/.exec(stderr) ?? [];
    assert.match((await sessions(...told.split(" "))).stdout, new RegExp(words), stderr);
  },
);

for (const words of [["secrets", "trust", "--yes"], ["secrets", "add", "--local-endpoint", "gpu-box:8000"], []]) {
  Deno.test(
    `what is known of a project goes with it whatever the user says of the one now at its path: ${words.join(" ")}`,
    linux,
    async () => {
      await using stage = await openRepository();
      await stage.plant(".env", "env");
      await stage.plant("prod.json", "prod");
      await stage.write(".agentclisecret", "no-cloud: .env\nno-cloud: prod.json\n");
      const value = stage.canary("env");
      const command = `echo 'key ${value}' > notes.txt`;
      const script = [
        ask({ name: "Read", input: { file_path: ".env" } }, { name: "Bash", input: { command } }),
        say("Done."),
      ];
      await stage.play("loc", { script, args: ["--allowed-tools", "Bash"] });
      await stage.write(".agentclisecret", "no-cloud: .env\n");
      await user(
        stage,
        "mkdir archive; mv project archive/x; git clone -q origin project; echo PUB_new > project/new.txt",
      );
      await stage.play("loc", HELLO);
      if (words.length > 0) await stage.play("rem", { argv: words, prompt: null, script: [] });
      const here = await stage.play("rem", { script: read("new.txt") });
      assert.match(here.results[0] ?? "", /PUB_new/, "control: the new project works");
      const cwd = `${stage.home.root}/archive/x`;
      const there = await stage.play("rem", {
        cwd,
        script: [ask(want("read", { path: "notes.txt" }), want("read", { path: "prod.json" })), say("Done.")],
      });
      for (const result of there.results) assert.match(result, /is protected/);
      assert.match(there.done.stderr, /project is now at .*archive\/x/);
      assert.doesNotMatch(there.done.stderr, /\\0|\0/);
      assert.equal((await stage.play("rem", { ...HELLO, cwd })).done.stderr.includes("is now at"), false, "told once");
    },
  );
}

Deno.test("files that are known by their number are known after a restart", linux, async () => {
  await using stage = await openStage({ bare: true, marker: "no-cloud: .env\n" });
  await stage.plant(".env", "env");
  await stage.write("pub.txt", "PUB_marker\n");
  const command = `echo ${coded(stage.canary("env"))} > 'n-${stage.canary("env")}.txt'`;
  const args = ["--permission-mode", "bypassPermissions"];
  await stage.play("loc", { args, script: [ask(want("shell", { command })), say("Done.")] });
  const projects = `${stage.home.agentcliHome}/projects`;
  const names = [...Deno.readDirSync(projects)].map(({ name }) => name).filter((name) => name.endsWith(".json"));
  const known = names.map((name) => Deno.readTextFileSync(`${projects}/${name}`)).join("");
  assert.match(known, /"derived":\[\{[^\]]*"inode":[1-9]/, "control: it is known by its number");
  assert.doesNotMatch(known, /"device"/, "a restart can give the disks other numbers");
  const reads = want("read", { path: "pub.txt" });
  const script = [ask(reads, want("shell", { command: "cat n-*.txt 2> /dev/null; true" })), say("Done.")];
  const { results, sent, done } = await stage.play("rem", { args, script });
  assert.equal(done.code, 0, done.stderr);
  assert.doesNotMatch(sent, /CNRY_/);
  assert.ok(!sent.includes(coded(stage.canary("env"))));
  assert.match(results[0] ?? "", /PUB_marker/, "control");
});

Deno.test("commands of remote models run in a sandbox while a project is known whose place is not", linux, async () => {
  for (const isKnown of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    const { root } = stage.home;
    await stage.plant(`${root}/B/.env`, "env");
    if (isKnown) await stage.write(`${root}/B/.agentclisecret`, "no-cloud: .env\n");
    await stage.play("loc", { ...HELLO, cwd: `${root}/B` });
    await user(stage, "mv B aside; mkdir B; echo new > B/readme.txt");
    stage.exempt(`${root}/aside/.env`);
    await stage.play("loc", { ...HELLO, cwd: `${root}/B` });
    await stage.play("loc", { script: [], cwd: `${root}/B`, argv: ["secrets", "trust", "--yes"] });
    const command = `${CODED} < '${root}/aside/.env'; echo ran`;
    const args = ["--permission-mode", "bypassPermissions"];
    const script = [ask(want("shell", { command })), say("Done.")];
    const { results, sent } = await stage.play("rem", { args, script });
    assert.match(results[0] ?? "", /ran/);
    assert.equal(sent.includes(coded(stage.canary("env"))), !isKnown, "control: otherwise it is an open file");
  }
});

for (const what of ["nothing", "the project", "a directory of sandbox.write"]) {
  const ends = what === "nothing" ? "continues while nothing is moved" : `ends when ${what} is moved meanwhile`;
  Deno.test(`a command ${ends}`, { ignore: !hasBubblewrap() }, async () => {
    await using stage = await openStage({ bare: true, marker: "no-cloud: .env*\n" });
    const { root } = stage.home;
    await stage.plant(".env", "env");
    const cache = `${root}/cache`;
    await stage.write(`${cache}/.agentclisecret`, "no-cloud: .env*\n");
    const isProject = what === "the project";
    const [from, to] = [isProject ? stage.project : cache, `${root}/moved`];
    const settings = { sandbox: { write: [cache] } };
    const take = `${CODED} < "${isProject ? "." : cache}/.env.new" > took.txt; cat took.txt; echo > done.txt`;
    const waits = "for i in $(seq 1500); do [ -e go ] && break; sleep 0.02; done";
    const command = `echo > ready.txt; ${waits}; ${what === "nothing" ? "echo went on" : take}`;
    const args = ["--permission-mode", "bypassPermissions"];
    const running = stage.play("rem", {
      ...{ args, settings },
      script: [ask(want("shell", { command })), ask(want("read", { path: "took.txt" })), say("Done.")],
    });
    await standing(`${stage.project}/ready.txt`);
    if (what !== "nothing") await Deno.rename(from, to);
    const project = isProject ? to : stage.project;
    await stage.plant(what === "nothing" ? "later.txt" : `${to}/.env.new`, "new");
    await stage.write(`${project}/go`, "");
    const { results, sent, done } = await running;
    if (what === "nothing") return assert.match(results[0] ?? "", /went on/);
    const value = coded(stage.canary("new"));
    assert.ok((await Deno.readTextFile(`${project}/took.txt`)).includes(value), "control: it was seen");
    assert.equal(done.code, 6);
    assert.match(done.stderr, /was moved or replaced since this session began/);
    if (!isProject) await Deno.rename(to, from);
    const later = await stage.play("rem", { script: read("took.txt"), cwd: project, settings });
    assert.match(later.results[0] ?? "", /is protected/, later.done.stderr);
    assert.ok(!(sent + later.sent).includes(value));
  });
}

for (const isReplaced of [false, true]) {
  const does = isReplaced ? "ends when another directory comes to its path" : "continues while it is there";
  Deno.test(`a session of a project ${does}`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: "no-cloud: .env\nlocal-endpoints: 127.0.0.2\n" });
    await stage.write("pub.txt", "PUB_marker\n");
    await stage.play("loc", HELLO);
    const work = async () => {
      if (isReplaced) await user(stage, "mv project aside; mkdir project; cp aside/.agentclisecret project");
      await stage.plant(".env", "env");
    };
    const script = [ask(want("read", { path: "pub.txt" })), ask(want("read", { path: ".env" })), say("Done.")];
    const { sent, done } = await stage.play("lan", { script, during: { index: 1, work } });
    assert.equal(sent.includes(stage.canary("env")), !isReplaced);
    assert.equal(/was moved or replaced/.test(done.stderr), isReplaced, done.stderr);
  });
}

for (const where of ["at its path", "where it was moved to"]) {
  Deno.test(`what a killed command left is checked when its project is there again: ${where}`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: "no-cloud: .env\n" });
    const { root } = stage.home;
    await stage.plant(".env", "env");
    await stage.play("loc", HELLO);
    const { ino: inode, birthtime } = await Deno.stat(stage.project);
    const roots = [{ path: stage.project, inode, born: birthtime?.getTime() }];
    const note = JSON.stringify({ process: null, since: Date.now() - 500, roots });
    await stage.write(`${stage.home.agentcliHome}/unfinished/1.json`, note);
    const value = stage.canary("env");
    await stage.plant("notes.txt", "env", () => `k ${value}\n`);
    await user(stage, "mkdir away; mv project away/project; mkdir project");
    await stage.play("loc", HELLO);
    await stage.play("loc", { ...HELLO, cwd: root });
    if (where === "at its path") await user(stage, "rmdir project; mv away/project project");
    const cwd = where === "at its path" ? stage.project : `${root}/away/project`;
    await stage.play("loc", { ...HELLO, cwd });
    await stage.write(`${cwd}/.env`, "the content that it has since then\n");
    const { results, sent } = await stage.play("rem", { script: read("notes.txt"), cwd });
    assert.match(results[0] ?? "", /is protected/);
    assert.ok(!sent.includes(value));
  });
}
