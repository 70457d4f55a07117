import assert from "node:assert/strict";
import { dirname } from "../../src/platform/path.ts";
import { ask, say, want } from "../helpers/fake_server.ts";
import { reads, tryWays, type Way } from "./cases.ts";
import { assertRefusedResult, assertSealed, openStage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };

Deno.test("links, hard links and dot forms of a protected path are that path", linux, async () => {
  await using stage = await openStage();
  const { project } = stage;
  const link = (target: string, name: string) => Deno.symlink(target, `${project}/${name}`);
  await Deno.mkdir(`${project}/sub/deep`, { recursive: true });
  await link(".env", "a.txt");
  await link("secrets", "d");
  await link(".", "self");
  await link("l2", "l1");
  await link("l3", "l2");
  await link(".env", "l3");
  await link("../../secrets/k.txt", "sub/deep/up");
  await link(`${project}/.env`, "absolute");
  await link("sub", "through");
  await link("self/self/secrets", "winding");
  await Deno.link(`${project}/.env`, `${project}/h.txt`);
  await Deno.link(`${project}/secrets/k.txt`, `${project}/sub/deep/k.txt`);
  stage.exempt("h.txt");
  stage.exempt("sub/deep/k.txt");
  const env = [
    ".env",
    "a.txt",
    "self/self/.env",
    "self/a.txt",
    "l1",
    "absolute",
    "h.txt",
    "self/h.txt",
    "./.env",
    "sub/../.env",
    ".//.env",
    "sub/deep/../../.env",
    "through/../.env",
    `${project}/.env`,
    `${project}/self/sub/../.env`,
  ];
  const key = ["secrets/k.txt", "d/k.txt", "self/d/k.txt", "sub/deep/up", "through/deep/up", "winding/k.txt"];
  await tryWays(stage, [...reads("env", ...env), ...reads("key", ...key, "sub/deep/k.txt")]);
});

Deno.test("spellings that name nothing bring nothing, from no provider", { ...linux, timeout: 60_000 }, async () => {
  await using stage = await openStage();
  const { project } = stage;
  await Deno.symlink("loop2", `${project}/loop1`);
  await Deno.symlink("loop1", `${project}/loop2`);
  await Deno.symlink("/proc/self/environ", `${project}/environment`);
  const ways = reads(
    null,
    `file://${project}/.env`,
    "%2eenv",
    ".env/",
    ".env\0",
    ".env\0.txt",
    ".env ",
    ".env.",
    ".env::$DATA",
    "\\\\?\\C:\\.env",
    ".env\u200b",
    "\uff0eenv",
    "loop1",
    "environment",
    `/proc/self/cwd/.env`,
    `/proc/self/root${project}/.env`,
    `/proc/1/root${project}/.env`,
    "/dev/stdin",
    "/dev/fd/0",
    "~/.env",
    "..",
    "",
  );
  await tryWays(stage, ways);
});

Deno.test("an added directory brings its own rules and no way around those of the project", linux, async () => {
  await using stage = await openStage();
  const other = `${stage.home.root}/other`;
  await stage.plant(`${other}/keep/x.txt`, "other");
  await stage.write(`${other}/.agentclisecret`, "no-cloud: keep\n");
  await Deno.symlink(`${stage.project}/.env`, `${other}/gate`);
  const ways = [...reads("other", `${other}/keep/x.txt`), ...reads("env", `${other}/gate`)];
  await tryWays(stage, ways, { args: ["--add-dir", other] });
  await tryWays(stage, reads("env", `/proc/self/cwd/.env`, `/proc/self/root${stage.project}/.env`), {
    args: ["--add-dir", "/proc"],
    process: true,
  });
});

Deno.test("every spelling of a directory in a marker covers what lies in it", linux, async (test) => {
  for (const line of ["secrets", "secrets/", "./secrets", "secrets/**", "**/secrets", "SECRETS", "s?crets", "sec*"]) {
    await test.step(line, async () => {
      await using stage = await openStage({ marker: `NO-CLOUD :\t${line}\r\n`, bare: true });
      await stage.plant("secrets/a/b/c.txt", "deep");
      await tryWays(stage, reads("deep", "secrets/a/b/c.txt"));
    });
  }
});

Deno.test("names in other Unicode forms are the same name", linux, async () => {
  await using stage = await openStage({ marker: "no-cloud: s\u00e9crets\nno-cloud: Stra\u00dfe\n", bare: true });
  await stage.plant("se\u0301crets/x", "nfd");
  await stage.plant("STRASSE/x", "sharp");
  await tryWays(stage, [...reads("nfd", "se\u0301crets/x"), ...reads("sharp", "STRASSE/x")]);
});

Deno.test("files that appear during a session are covered, also by a marker that appears", linux, async (test) => {
  await test.step("below a protected directory", async () => {
    await using stage = await openStage();
    const during = { index: 0, work: async () => void await stage.plant("secrets/new/late.txt", "late") };
    await tryWays(stage, reads("late", "secrets/new/late.txt"), { during });
  });
  await test.step("a marker between two requests", async () => {
    await using stage = await openStage({ marker: null });
    const script = [
      ask(want("read", { path: "pub.txt" })),
      ask(want("read", { path: ".env" })),
      say("Done."),
    ];
    const during = { index: 0, work: async () => void await stage.write(".agentclisecret", "no-cloud: .env\n") };
    const played = await stage.play("rem", { script, during });
    assertSealed(played);
    assertRefusedResult(played.results[1], "read after the marker appeared");
    assert.match(played.results[0] ?? "", /PUB_marker/);
  });
});

Deno.test("a marker governs its files from wherever the program is started", linux, async (test) => {
  await test.step("above the project", async () => {
    await using stage = await openStage();
    await tryWays(stage, reads("env", "project/.env", `${stage.project}/.env`), { cwd: stage.home.root });
  });
  await test.step("below the marker", async () => {
    await using stage = await openStage();
    await stage.write("sub/x", "x");
    await tryWays(stage, reads("env", ".env", "../.env"), { cwd: `${stage.project}/sub` });
  });
  await test.step("through a link", async () => {
    await using stage = await openStage();
    const alias = `${stage.home.root}/alias`;
    await Deno.symlink(stage.project, alias);
    stage.exempt(alias);
    await tryWays(stage, reads("env", ".env", `${alias}/.env`), { cwd: alias });
  });
  await test.step("nested", async () => {
    await using stage = await openStage();
    await stage.plant("sub/x", "nest");
    await stage.write("sub/.agentclisecret", "no-cloud: x\nlocal-endpoints: 127.0.0.2\n");
    await tryWays(stage, [...reads("nest", "sub/x"), ...reads("env", ".env")]);
  });
  await test.step("above the root", async () => {
    await using stage = await openStage({ marker: null });
    await stage.write(`${stage.home.root}/.agentclisecret`, "no-cloud: project/.env\nno-cloud: */secrets\n");
    await tryWays(stage, [...reads("env", ".env"), ...reads("key", "secrets/k.txt")]);
  });
});

Deno.test("a linked worktree obeys the marker that only the main tree has", linux, async () => {
  await using stage = await openStage({ git: true });
  const tree = `${stage.home.root}/wt`;
  await stage.git("worktree", "add", "--quiet", "--detach", tree);
  stage.exempt(tree);
  await tryWays(stage, [...reads("env", ".env"), ...reads("key", "secrets/k.txt")], { cwd: tree });
  const inside = `${stage.project}/trees/wt`;
  await stage.git("worktree", "add", "--quiet", "--detach", inside);
  stage.exempt(inside);
  await tryWays(stage, reads("env", "trees/wt/.env"));
});

Deno.test("a path in a marker that is a link protects what it leads to", linux, async () => {
  await using stage = await openStage({ marker: "no-cloud: link\nno-cloud: gate/k.txt\n", bare: true });
  await stage.plant("conf/real.txt", "real");
  await stage.plant("place/k.txt", "gate");
  await Deno.symlink("conf/real.txt", `${stage.project}/link`);
  await Deno.symlink("place", `${stage.project}/gate`);
  await Deno.symlink("conf", `${stage.project}/other`);
  await tryWays(stage, [
    ...reads("real", "link", "conf/real.txt", "other/real.txt"),
    ...reads("gate", "gate/k.txt", "place/k.txt"),
  ]);
});

Deno.test("a line with a wildcard covers what lies behind links to directories, by every name", linux, async () => {
  const lines = ["apps/*/keys", "**/on/k.txt", "ways/**/w.txt", "*/way/c.txt"];
  const marker = lines.map((line) => `no-cloud: ${line}\n`).join("");
  await using stage = await openStage({ marker, bare: true });
  await stage.plant("real/keys/t", "keys");
  await stage.plant("place/k.txt", "on");
  await stage.plant("lib/deep/w.txt", "deep");
  await stage.plant("end/c.txt", "chain");
  await stage.write("place/open.txt", "PUB_marker\n");
  const links = {
    "apps/x": "../real",
    "a/b/on": "../../place",
    "ways/in": "../lib",
    "c/way": "../middle",
    middle: "end",
  };
  for (const [link, target] of Object.entries(links)) {
    await Deno.mkdir(dirname(`${stage.project}/${link}`), { recursive: true });
    await Deno.symlink(target, `${stage.project}/${link}`);
  }
  await tryWays(stage, [
    ...reads("keys", "apps/x/keys/t", "real/keys/t"),
    ...reads("on", "a/b/on/k.txt", "place/k.txt"),
    ...reads("deep", "ways/in/deep/w.txt", "lib/deep/w.txt"),
    ...reads("chain", "c/way/c.txt", "middle/c.txt", "end/c.txt"),
  ]);
  const played = await stage.play("rem", { script: [ask(want("read", { path: "place/open.txt" })), say("Done.")] });
  assert.match(played.results[0] ?? "", /PUB_marker/, "control: what no line names is open");
  assert.match(played.done.stderr, /lines without a match: 0/);
});

Deno.test("a link to a name that is not UTF-8 is refused with the reason, by every tool", linux, async () => {
  await using stage = await openStage();
  const args = ["-c", "mkdir $'n\\xff'; echo hi > $'n\\xff/x'; ln -s $'n\\xff' link"];
  const { success } = await new Deno.Command("bash", { args, cwd: stage.project }).output();
  assert.ok(success);
  const calls = [
    { name: "Read", input: { file_path: "link/x" } },
    { name: "Grep", input: { pattern: ".", path: "link" } },
    { name: "Glob", input: { pattern: "*", path: "link" } },
    { name: "Write", input: { file_path: "link/x", content: "y" } },
  ];
  for (const kind of ["rem", "loc"] as const) {
    const script = [...calls.map((call) => ask(call)), say("Done.")];
    const { done, results } = await stage.play(kind, { script, args: ["--permission-mode", "acceptEdits"] });
    assert.equal(done.code, 0, done.stderr);
    for (const result of results) assert.match(result, /cannot be used: a name on the way is not UTF-8/);
  }
});

Deno.test("search brings lines of protected files to the local model alone", linux, async () => {
  await using stage = await openStage();
  await Deno.symlink("secrets", `${stage.project}/d`);
  await stage.write(".gitignore", "build\n");
  const grep = (wanted: Parameters<typeof want>[1]) => want("grep", wanted);
  const everywhere: Way[] = [
    { name: "pattern alone", call: grep({ pattern: "CNRY" }), canary: "key" },
    { name: "directory", call: grep({ pattern: "CNRY", path: "." }), canary: "env" },
    { name: "any line", call: grep({ pattern: "^" }), canary: "env" },
    { name: "directory by link", call: grep({ pattern: "CNRY", path: "d" }), canary: "key" },
    { name: "file", call: grep({ pattern: "CNRY", path: ".env" }), canary: "env" },
    {
      name: "context",
      call: { name: "Grep", input: { pattern: "API", context: 5, glob: ".env" } },
      canary: "env",
    },
  ];
  const script = [ask(...everywhere.map((way) => way.call)), say("Done.")];
  const remote = await stage.play("rem", { script });
  assertSealed(remote);
  assert.match(remote.results[0] ?? "", /not searched: protected by a marker/);
  assertRefusedResult(remote.results[4], "grep in the file itself");
  const local = await stage.play("loc", { script });
  assertSealed(local);
  for (const [index, way] of everywhere.entries()) {
    assert.ok(local.results[index]?.includes(stage.canary(way.canary ?? "")), way.name);
  }
});

Deno.test("listings show names of protected paths, marked, and nothing of their content", linux, async () => {
  await using stage = await openStage({ marker: "no-cloud: .env\nlist-only: secrets\n" });
  const script = [
    ask(
      want("read", { path: "." }),
      want("list", { pattern: "**/*" }),
      want("read", { path: "secrets" }),
      want("read", { path: "secrets/k.txt" }),
    ),
    say("Done."),
  ];
  for (const provider of ["rem", "loc"] as const) {
    const played = await stage.play(provider, { script });
    assertSealed(played);
    const [root = "", glob = "", directory = "", file = ""] = played.results;
    assert.match(root, /^\.env \[no-cloud\]$/m);
    assert.match(root, /^secrets\/ \[list-only\]$/m);
    assert.match(glob, /^secrets\/k\.txt \[list-only\]$/m);
    assert.match(glob, /^pub\.txt$/m);
    assert.match(directory, /^k\.txt \[list-only\]$/m);
    assert.match(file, /\.agentclisecret:2 list-only: secrets.*no model/);
    assert.ok(!played.sent.includes(stage.canary("key")));
  }
});

Deno.test("pipes, devices and huge files end a read soon", { ...linux, timeout: 60_000 }, async () => {
  await using stage = await openStage();
  assert.ok((await new Deno.Command("mkfifo", { args: [`${stage.project}/pipe`] }).output()).success);
  {
    using huge = await Deno.open(`${stage.project}/huge`, { write: true, create: true });
    await huge.truncate(10 * 1024 ** 3);
  }
  const script = [
    ask(want("read", { path: "pipe" }), want("read", { path: "huge" }), want("grep", { pattern: "x", path: "huge" })),
    say("Done."),
  ];
  const played = await stage.play("rem", { script });
  assertSealed(played);
  assert.equal(played.done.code, 0, played.done.stderr);
  assert.match(played.results[0] ?? "", /pipe/);
});
