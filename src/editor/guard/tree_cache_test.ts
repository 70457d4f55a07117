import assert from "node:assert/strict";
import { denoIo } from "../../platform/deno_io.ts";
import { parseHookInput } from "../events.ts";
import { judge } from "./guard.ts";

const LONG_AFTER_MS = 3_600_000;
const SECRET = "correct-horse-battery-staple-42";

/** A project with enough directories to be remembered, and the guard as one call after another asks it. */
async function project() {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const cwd = `${root}/project`;
  const write = (path: string, text = "x") => {
    Deno.mkdirSync(`${cwd}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${cwd}/${path}`, text);
  };
  for (let at = 0; at < 20; at++) write(`src/d${at}/a.ts`, `let a = ${at};\n`);
  write("secrets/keys.md", `key ${SECRET}\n`);
  write(".agentclisecret", "no-cloud: secrets\nno-cloud: **/*.pem\n");
  const { clock } = denoIo();
  const io = {
    os: "linux",
    env: (name: string) => name === "AGENTCLI_HOME" ? `${root}/home` : undefined,
    // As if all of it had been at rest for long.
    clock: { ...clock, now: () => Date.now() + LONG_AFTER_MS },
  } as const;
  const ask = async (event: "pre_read_code" | "pre_user_prompt", info: unknown) =>
    await judge(parseHookInput(JSON.stringify({ tool_info: info }), event), { cwd, userHome: root, io });
  return {
    cwd,
    write,
    read: (path: string) => ask("pre_read_code", { file_path: path }),
    prompt: (text: string) => ask("pre_user_prompt", { user_prompt: text }),
    kept: () => [...Deno.readDirSync(`${root}/home/cache/trees`)].map(({ name }) => `${root}/home/cache/trees/${name}`),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

type Project = Awaited<ReturnType<typeof project>>;

function waitForNewTimes({ write, cwd }: Project): void {
  const time = () => {
    write("../probe");
    return Deno.statSync(`${cwd}/../probe`).mtime?.getTime() ?? 0;
  };
  for (const start = time(); time() <= start + 1;);
}

Deno.test("a call keeps what it saw, readable by the user alone, without content", async () => {
  await using at = await project();
  assert.equal(await at.read("src/d1/a.ts"), null);
  const [file = ""] = at.kept();
  const text = await Deno.readTextFile(file);
  assert.ok(text.includes("/src/d19"));
  for (const word of [SECRET, "let a"]) assert.equal(text.includes(word), false);
  if (Deno.build.os !== "windows") assert.equal((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
});

Deno.test("what was kept is written again only when enough of it is new", async () => {
  await using at = await project();
  await at.read("src/d1/a.ts");
  const [file = ""] = at.kept();
  Deno.utimeSync(file, 1, 1);
  const writtenAgain = async () => {
    await at.read("src/d1/a.ts");
    return Deno.statSync(file).mtime?.getTime() !== 1000;
  };
  waitForNewTimes(at);
  for (let more = 0; more < 3; more++) at.write(`src/d${more}/b.ts`);
  assert.equal(await writtenAgain(), false);
  for (let more = 0; more < 20; more++) at.write(`src/d${more}/c.ts`);
  assert.equal(await writtenAgain(), true);
});

/** What is done after a first call; then the path must be blocked, and it was open before. */
const ATTACKS: readonly [string, string, (at: Project) => void][] = [
  [
    "a marker in a directory that was seen",
    "src/d3/a.ts",
    (at) => at.write("src/d3/.agentclisecret", "no-cloud: a.ts\n"),
  ],
  ["a hard link in place of the file", "src/d4/a.ts", (at) => {
    Deno.removeSync(`${at.cwd}/src/d4/a.ts`);
    Deno.linkSync(`${at.cwd}/secrets/keys.md`, `${at.cwd}/src/d4/a.ts`);
  }],
  ["a link in place of the file", "src/d4/a.ts", (at) => {
    Deno.removeSync(`${at.cwd}/src/d4/a.ts`);
    Deno.symlinkSync("../../secrets/keys.md", `${at.cwd}/src/d4/a.ts`);
  }],
  ["a link in place of the directory", "src/d4/keys.md", (at) => {
    Deno.removeSync(`${at.cwd}/src/d4`, { recursive: true });
    Deno.symlinkSync("../secrets", `${at.cwd}/src/d4`);
  }],
  ["a covered link to the file", "src/d5/a.ts", (at) => Deno.symlinkSync("../d5/a.ts", `${at.cwd}/src/d6/x.pem`)],
  ["a line more in the marker", "src/d7/a.ts", (at) => at.write(".agentclisecret", "no-cloud: src/d7\n")],
  ["a marker that cannot be read", "src/d7/a.ts", (at) => at.write("src/d9/.agentclisecret", "no-cloud:\n")],
];

for (const [what, path, attack] of ATTACKS) {
  Deno.test(`what was kept hides nothing: ${what}`, async () => {
    await using at = await project();
    assert.equal(await at.read(path), null);
    assert.equal(await at.read(path), null);
    waitForNewTimes(at);
    attack(at);
    assert.notEqual(await at.read(path), null);
  });
}

Deno.test("a new protected file's name and content are known at the next prompt", async () => {
  await using at = await project();
  const prompt = "why does it hold MIIEvQIBADANBgkqhkiG?";
  assert.equal(await at.prompt(prompt), null);
  waitForNewTimes(at);
  at.write("src/d2/server.pem", "MIIEvQIBADANBgkqhkiG9w0\n");
  assert.match(await at.prompt(prompt) ?? "", /server\.pem/);
  assert.match(await at.prompt("look at server.pem") ?? "", /server\.pem/);
});

Deno.test("what was kept may be damaged or changed: the guard looks for itself", async () => {
  await using at = await project();
  assert.equal(await at.read("src/d1/a.ts"), null);
  const [file = ""] = at.kept();
  const text = await Deno.readTextFile(file);
  for (const bad of ["", "{", "null", text.slice(0, 500), text.replaceAll("/src/", "/../"), "\0".repeat(1000)]) {
    await Deno.writeTextFile(file, bad);
    assert.equal(await at.read("src/d1/a.ts"), null);
    assert.notEqual(await at.read("secrets/keys.md"), null);
  }
});

Deno.test("what nobody asked about for a month is removed", async () => {
  await using at = await project();
  await at.read("src/d1/a.ts");
  const [file = ""] = at.kept();
  const old = file.replace(/[^/]+$/, "old.json");
  await Deno.writeTextFile(old, "{}");
  Deno.utimeSync(old, 1, 1);
  await Deno.remove(file);
  await at.read("src/d1/a.ts");
  assert.deepEqual(at.kept(), [file]);
});
