/** Lines of a marker as people write them: what they cover, and that lines which cover nothing are reported. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { tryWays } from "./cases.ts";
import { openStage } from "./harness.ts";

Deno.test("a name and a pattern without a slash are protected at every depth", async () => {
  await using stage = await openStage({ marker: "no-cloud: .env\nno-cloud: *.pem\nno-cloud: /top\n", bare: true });
  await stage.plant(".env", "env");
  await stage.plant("apps/web/.env", "web");
  await stage.plant("keys/deep/a.pem", "pem");
  await stage.plant("top/x", "top");
  await stage.write("sub/top/x", "open text\n");
  await tryWays(stage, [
    { name: "env", call: want("read", { path: ".env" }), canary: "env" },
    { name: "web", call: want("read", { path: "apps/web/.env" }), canary: "web" },
    { name: "pem", call: want("read", { path: "keys/deep/a.pem" }), canary: "pem" },
    { name: "top", call: want("read", { path: "top/x" }), canary: "top" },
  ]);
  const open = await stage.play("rem", { script: [ask(want("read", { path: "sub/top/x" })), say("Done.")] });
  assert.match(open.results[0] ?? "", /open text/, "an anchored pattern covers its own place alone");
});

Deno.test("escaped signs and spaces belong to names", async () => {
  const marker = "no-cloud: my\\ file.txt   \nno-cloud: \\#notes\nno-cloud: a\\,b\n";
  await using stage = await openStage({ marker, bare: true });
  const names = ["my file.txt", "#notes", "sub/a,b"];
  for (const [index, name] of names.entries()) await stage.plant(name, `n${index}`);
  await tryWays(
    stage,
    names.map((path, index) => ({ name: path, call: want("read", { path }), canary: `n${index}` })),
  );
});

Deno.test("an exclamation mark damages the marker, which says so", async () => {
  await using stage = await openStage({ marker: "no-cloud: *\nno-cloud: !pub.txt\n" });
  const played = await stage.play("rem", { script: [say("Hello.")] });
  assert.equal(played.done.code, 6);
  assert.match(played.done.stderr, /line 2 begins with !/);
});

const ODD = [".env .env.local", ".env; secrets", ".env // note", "- .env", "/etc/app.env"];

for (const line of ODD) {
  Deno.test(`a line that covers nothing is reported: ${line}`, async () => {
    await using stage = await openStage({ marker: `no-cloud: secrets\nno-cloud: ${line}\n` });
    const { home } = stage;
    const played = await stage.play("rem", { script: [say("Hello.")] });
    const [first = ""] = played.done.stderr.split("\n");
    assert.match(first, /hidden from this model: 0 files, 1 directory; lines without a match: 1; not scanned: none/);
    const row = new RegExp(
      `agentclisecret:2 no-cloud: ${line.replaceAll(/[.*/]/g, "\\$&")}(?:: covers nothing)? \\(it `,
    );
    for (const argv of [["secrets", "list"], ["secrets", "check", ".env"], ["doctor"]]) {
      const done = await runInProcess(argv, { home });
      assert.match(done.stdout + done.stderr, row, argv.join(" "));
    }
  });
}

Deno.test("a file of the same name that no line covers is reported, and lines that cover something are not", async () => {
  await using stage = await openStage({ marker: "no-cloud: /.env\nno-cloud: secrets\nno-cloud: secrets/k.txt\n" });
  await stage.write("apps/web/.env", "X=1\n");
  await stage.write("sub/.agentclisecret", "no-cloud: **/*.pem\n");
  await stage.write("sub/keys/a.pem", "k");
  const { home } = stage;
  const played = await stage.play("rem", { script: [say("Hello.")] });
  assert.match(
    played.done.stderr,
    /^agentcli: hidden from this model: 2 files, 1 directory; lines without a match: 0; same name but not covered: 1; not scanned: none/,
  );
  for (const argv of [["secrets", "list"], ["secrets", "check", ".env"], ["doctor"]]) {
    const done = await runInProcess(argv, { home });
    assert.match(
      done.stdout + done.stderr,
      /apps\/web\/\.env.*another (?:file|one) of that name is protected/,
      argv.join(" "),
    );
    assert.doesNotMatch(done.stdout + done.stderr, /covers nothing|nothing yet/, argv.join(" "));
  }
  const json = JSON.parse((await runInProcess(["secrets", "list", "--json"], { home })).stdout);
  assert.deepEqual([json.absent, json.uncovered], [[], [`${stage.project}/apps/web/.env`]]);
  const local = await stage.play("loc", { script: [say("Hello.")] });
  assert.doesNotMatch(local.done.stderr, /hidden from this model/);
});

Deno.test("what the scan cannot read is reported at the start of a remote session", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using stage = await openStage();
  const path = `${stage.project}/secrets/large`;
  await Deno.writeTextFile(path, "x");
  await Deno.truncate(path, 65 * 1024 * 1024);
  const played = await stage.play("rem", { script: [say("Hello.")] });
  assert.match(played.done.stderr, /hidden from this model: .*; not scanned: 1 file/);
});

/** Ways into `/disk/q` by the link `top/code/q`, which leads there by `mid/q`. */
const WAYS = {
  "-C": (way: string, real: string) => ({ cwd: `${real}/..`, argv: ["-C", way], args: [], env: undefined }),
  "cd": (way: string, real: string) => ({ cwd: real, argv: [], args: [], env: { PWD: way } }),
  "--add-dir": (way: string, real: string) => ({
    cwd: `${real}/..`,
    argv: [],
    args: ["--add-dir", way],
    env: undefined,
  }),
};

for (const [name, way] of Object.entries(WAYS)) {
  for (
    const [where, line, isProtected] of [
      ["top", "code/q/keys", true],
      ["top", "code/*/keys", true],
      ["mid", "q/keys", true],
      ["top", "code/other/keys", false],
      ["top", "above/*/keys", true],
    ] as const
  ) {
    const does = isProtected ? "holds" : "does not hold (control)";
    Deno.test(`${line} in a marker above a link that a session is started by ${does}: ${name}`, async () => {
      await using stage = await openStage({ bare: true, marker: null });
      const { root } = stage.home;
      const real = `${root}/disk/q`;
      await stage.write(`${root}/${where}/.agentclisecret`, `no-cloud: ${line}\n`);
      await stage.plant(`${real}/keys/t`, "k");
      for (const place of ["top/code", "mid"]) await Deno.mkdir(`${root}/${place}`, { recursive: true });
      await Deno.symlink("../../mid/q", `${root}/top/code/q`);
      await Deno.symlink(real, `${root}/mid/q`);
      await Deno.symlink("../disk", `${root}/top/above`);
      await stage.write(`${real}/pub.txt`, "PUB_marker\n");
      const { cwd, argv, args, env } = way(`${root}/top/${line.split("/")[0] === "above" ? "above" : "code"}/q`, real);
      const play = { cwd, ...env === undefined ? {} : { env } };
      const script = [
        ...["keys/t", "pub.txt"].map((path) => ask(want("read", { path: `${real}/${path}` }))),
        say("Done."),
      ];
      const all = [...argv, "run", "go", "--model", "rem", ...args];
      const remote = await stage.play("rem", { ...play, argv: all, script });
      assert.equal(remote.sent.includes(stage.canary("k")), !isProtected, remote.done.stderr);
      assert.match(remote.sent, /PUB_marker/, "control: the rest is open");
      if (name === "--add-dir") return;
      const check = await stage.play("loc", {
        ...play,
        argv: [...argv, "secrets", "check", `${real}/keys/t`],
        script: [],
      });
      assert.equal(check.done.code, isProtected ? 0 : 1, check.done.stdout + check.done.stderr);
    });
  }
}
