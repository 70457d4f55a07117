/**
 * What commands of a session that read protected content leave in files: found, protected, told, and released by the
 * user.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runProgram } from "../helpers/program.ts";
import { openStage, type Played } from "./harness.ts";
import { CODED, coded } from "./slipped.ts";

const sandboxed = { ignore: Deno.build.os !== "linux" };
const COMMANDS = ["--permission-mode", "bypassPermissions"];
const READ = ask(want("read", { path: ".env" }));

/** The project holds the copies: what counts is that no request does. */
function assertNotSent({ sent }: Played, canary: string): void {
  for (const form of [canary, btoa(canary), canary.toLowerCase()]) assert.ok(!sent.includes(form));
}

function shell(command: string) {
  return ask(want("shell", { command }));
}

Deno.test(
  "a command of a protected session writes a copy, and a later remote session does not get it",
  sandboxed,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    const left: Record<string, string> = {
      "notes.txt": `echo 'the key is ${canary}' > notes.txt`,
      "build/app.js": `mkdir -p build && printf 'const key = "%s";' '${canary}' > build/app.js`,
      "coded.txt": `echo '${btoa(canary)}' > coded.txt`,
    };
    const script = [READ, ...Object.values(left).map(shell), shell("echo nothing > plain.txt"), say("Done.")];
    const local = await stage.play("loc", { script, args: COMMANDS });
    assert.equal(local.done.code, 0, local.done.stderr);
    for (const path of Object.keys(left)) {
      assert.match(local.done.stderr, new RegExp(`protected from now on.*${path}`), path);
      const read = [ask(want("read", { path })), say("Done.")];
      const remote = await stage.play("rem", { script: read });
      assertNotSent(remote, canary);
      assert.match(remote.results.at(-1) ?? "", /is protected \(it holds content of \.env\)/, path);
      const again = await stage.play("loc", { script: read });
      assert.ok(again.sent.includes(canary) || again.sent.includes(btoa(canary)), `control: ${path} for a local model`);
    }
    const plain = await stage.play("rem", { script: [ask(want("read", { path: "plain.txt" })), say("Done.")] });
    assert.match(plain.results.at(-1) ?? "", /nothing/, "control: a file without a copy stays open");
  },
);

Deno.test("a copy in another encoding of text is found when the command ends", sandboxed, async () => {
  await using stage = await openStage();
  await stage.plant("secrets/word.txt", "word", (canary) => `${canary}\nпароль=сверхсекретно\n`);
  const text = "это сверхсекретно\n";
  const octal = (bytes: number[]) => bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const codes = Array.from(text, (letter) => letter.charCodeAt(0));
  const left: Record<string, number[]> = {
    "wide.txt": [0xfeff, ...codes].flatMap((code) => [code & 0xff, code >> 8]),
    "open.txt": Array.from("\ufeffэто открыто\n", (letter) => letter.charCodeAt(0)).flatMap((
      code,
    ) => [code & 0xff, code >> 8]),
  };
  const commands = Object.entries(left).map(([name, bytes]) => shell(`printf '${octal(bytes)}' > ${name}`));
  const script = [ask(want("read", { path: "secrets/word.txt" })), ...commands, say("Done.")];
  const local = await stage.play("loc", { script, args: COMMANDS });
  assert.equal(local.done.code, 0, local.done.stderr);
  for (const name of Object.keys(left)) {
    const found = new RegExp(`protected from now on.*${name}`).test(local.done.stderr);
    assert.equal(found, name !== "open.txt", `${name}: ${local.done.stderr}`);
  }
});

Deno.test("secrets list shows what was left, and secrets trust releases it", sandboxed, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const script = [READ, shell(`echo '${canary}' > notes.txt`), say("Done.")];
  await stage.play("loc", { script, args: COMMANDS });
  const { home } = stage;
  const listed = await runProgram(["secrets", "list"], { home });
  assert.match(listed.stdout, /notes\.txt.*holds content of \.env/);
  const trusted = await runProgram(["secrets", "trust", "notes.txt", "--yes"], { home });
  assert.equal(trusted.code, 0, trusted.stderr);
  const after = await runProgram(["secrets", "check", "notes.txt"], { home });
  assert.equal(after.code, 1, after.stdout);
});

Deno.test("a name that holds protected content makes its file protected", sandboxed, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const script = [READ, shell(`touch 'n-${canary}'`), say("Done.")];
  const local = await stage.play("loc", { script, args: COMMANDS });
  assert.match(local.done.stderr, /protected from now on.*file number/);
  assert.ok(!local.done.stderr.includes(canary), "stderr may go into a log");
  for await (const entry of Deno.readDir(`${stage.home.agentcliHome}/projects`)) {
    if (!entry.isFile) continue;
    const text = await Deno.readTextFile(`${stage.home.agentcliHome}/projects/${entry.name}`);
    assert.ok(!text.includes(canary), entry.name);
  }
  const remote = await stage.play("rem", { script: [ask(want("list", { path: "." })), say("Done.")] });
  assertNotSent(remote, canary);
});

for (const isEmptied of [false, true]) {
  Deno.test(`what a copy holds is known while its source ${isEmptied ? "is empty" : "stands"}`, sandboxed, async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    for (const name of ["app.env", "copy.txt"]) stage.exempt(name);
    const empty = ask({ name: "Write", input: { file_path: ".env", content: "# moved to app.env\n" } });
    const move = [READ, shell(`echo 'API_TOKEN=${canary}' > app.env`), ...isEmptied ? [empty] : [], say("Moved.")];
    await stage.play("loc", { args: COMMANDS, script: move });
    const copy = [
      ask(want("read", { path: "app.env" })),
      ask({ name: "Write", input: { file_path: "copy.txt", content: `API_TOKEN=${canary}\n` } }),
      shell(`echo 'API_TOKEN=${canary}' > copy.txt`),
      say("Copied."),
    ];
    const local = await stage.play("loc", { args: COMMANDS, script: copy });
    assert.match(local.results[1] ?? "", /is not protected, and the text holds/);
    const remote = await stage.play("rem", { script: [ask(want("read", { path: "copy.txt" })), say("Done.")] });
    assertNotSent(remote, canary);
    assert.match(remote.results.at(-1) ?? "", /is protected/);
  });
}

Deno.test(
  "a copy below sandbox.write is protected for a session whose project it is in, until it is released",
  sandboxed,
  async () => {
    await using stage = await openStage();
    const place = `${stage.home.root}/W`;
    await stage.write(`${place}/notes.txt`, "an open line\n");
    await stage.write(`${place}/other.txt`, "an open line\n");
    stage.exempt(`${place}/notes.txt`);
    const settings = { sandbox: { write: [place] } };
    const canary = stage.canary("env");
    const script = [
      READ,
      shell(`echo '${canary}' > '${place}/notes.txt'; echo more >> '${place}/other.txt'`),
      say("Done."),
    ];
    await stage.play("loc", { args: COMMANDS, settings, script });
    await stage.write(".env", "API_TOKEN=another value\n");
    const reads = [ask(want("read", { path: "notes.txt" }), want("read", { path: "other.txt" })), say("Done.")];
    const there = await stage.play("rem", { cwd: place, settings, script: reads });
    assert.match(there.results[0] ?? "", /is protected/);
    assert.match(there.results[1] ?? "", /more/, "control");
    assertNotSent(there, canary);
    await stage.play("rem", { cwd: place, argv: ["secrets", "trust", "notes.txt", "--yes"], prompt: null, script: [] });
    const released = await stage.play("rem", { cwd: place, settings, script: reads });
    assert.match(released.results[0] ?? "", new RegExp(canary), "the user's word");
  },
);

const DEEP = "d".repeat(240);

/** Where a command leaves a file, how a person names it later, and whether a look at the file is possible. */
const PLACES = [
  ["at a short path", "mkdir -p s/x; cd s/x", "true", "s/x/f.txt", true],
  ["below a name that is not UTF-8", "mkdir -p s/$'\\xff'; cd s/$'\\xff'", "mv s/$'\\xff' s/y", "s/y/f.txt", false],
  [
    "below a path that is too long",
    `for i in $(seq 16); do mkdir ${DEEP}; cd ${DEEP}; done`,
    "true",
    `${DEEP}/`.repeat(16) + "f.txt",
    false,
  ],
] as const;

for (const [where, go, name, path, isSeen] of PLACES) {
  Deno.test(`what a command of protected content leaves ${where} stays here`, sandboxed, async () => {
    for (const isSecret of isSeen ? [true, false] : [true]) {
      await using stage = await openStage({ bare: true, marker: null });
      await stage.plant(".env", "env");
      await stage.write(".agentclisecret", "no-cloud: .env\n");
      await stage.write("pub.txt", "an open line\n");
      const command = `${go}; echo '${isSecret ? stage.canary("env") : "an open line"}' > f.txt`;
      const local = await stage.play("loc", { args: COMMANDS, script: [shell(command), say("Done.")] });
      assert.equal(/protected from now on/.test(local.done.stderr), isSecret, local.done.stderr);
      await new Deno.Command("bash", { args: ["-c", name], cwd: stage.project }).output();
      const reads = [ask(want("read", { path }), want("read", { path: "pub.txt" })), say("Done.")];
      const remote = await stage.play("rem", { script: reads });
      assert.doesNotMatch(remote.sent, /CNRY_/);
      assert.match(remote.results[0] ?? "", isSecret ? /is protected|is too long or not/ : /an open line/);
      assert.match(remote.results[1] ?? "", /an open line/, "control");
    }
  });
}

Deno.test(
  "a file with content that a command of another project left goes to no host that this project trusts",
  sandboxed,
  async () => {
    for (const isSecret of [false, true]) {
      await using stage = await openStage({ bare: true, marker: null });
      const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
      await stage.plant(`${b}/.env`, "env");
      await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
      await stage.write(`${b}/open.txt`, "an open line\n");
      await stage.write(`${a}/.agentclisecret`, "local-endpoints: 127.0.0.2\n");
      await stage.play("loc", { cwd: b, script: [say("Hello.")] });
      // The home remembers it.
      await stage.write(`${b}/.agentclisecret`, "# nothing\n");
      const line = isSecret ? stage.canary("env") : "an open line";
      const command = `echo '${line}' > '${a}/notes.txt'; echo '${line}' | ${CODED} >> '${a}/notes.txt'`;
      const settings = { sandbox: { write: [a] } };
      await stage.play("loc", { cwd: b, args: COMMANDS, script: [shell(command), say("Done.")], settings });
      const script = [ask(want("read", { path: "notes.txt" })), say("Done.")];
      const play = () => stage.play("lan", { cwd: a, script });
      const local = await play();
      assert.ok(!local.sent.includes(coded(stage.canary("env"))));
      assert.equal(
        /no effect: .*notes\.txt holds content of .*FILE/.test(local.done.stderr),
        isSecret,
        local.done.stderr,
      );
      if (!isSecret) assert.match(local.results[0] ?? "", /an open line/, "control: the host is trusted");
      if (!isSecret) continue;
      await stage.play("rem", { cwd: a, argv: ["secrets", "trust", "notes.txt", "--yes"], prompt: null, script: [] });
      await stage.write(`${b}/.env`, "API_TOKEN=another value of today\n");
      assert.match((await play()).results[0] ?? "", new RegExp(stage.canary("env")), "control: the user's word");
    }
  },
);
