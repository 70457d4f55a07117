import assert from "node:assert/strict";
import { REPOSITORY, startCommand, temporaryHome } from "./helpers/program.ts";

/** The sources on loopback, as a web server has them. */
function serveSources() {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (!/^\/(main\.ts|src\/[\w/.-]+)$/.test(pathname) || pathname.includes("..")) {
      return new Response("", { status: 404 });
    }
    const type = pathname.endsWith(".ts") ? "application/typescript" : "text/plain";
    return await Deno.readFile(`${REPOSITORY}${pathname}`).then(
      (bytes) => new Response(bytes, { headers: { "content-type": type } }),
      () => new Response("", { status: 404 }),
    );
  });
  return server;
}

/** A cache without modules of a URL; packages are those that the tests have already. */
async function freshCache(folder: string): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout));
  await Deno.mkdir(folder, { recursive: true });
  await Deno.symlink(npmCache, `${folder}/npm`);
  return folder;
}

Deno.test("main.ts runs from a URL, whatever Deno and npm files the directory has", async () => {
  await using home = await temporaryHome();
  await using server = serveSources();
  const url = `http://127.0.0.1:${server.addr.port}/main.ts`;
  const files = {
    "deno.json": '{ "imports": { "npm:yaml@2.9.1": "./evil.ts", "npm:zod@4": "./evil.ts" }, "lock": "./other.lock" }',
    "package.json": '{ "type": "commonjs", "dependencies": { "yaml": "0.0.1" } }',
    "evil.ts": 'throw new Error("a file of the project was loaded");',
    "README.md": "# From afar\n",
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${home.project}/${name}`, text);
  const env = { DENO_DIR: await freshCache(`${home.tmp}/cache`) };
  const command = [Deno.execPath(), "run", "--quiet", "-A", url];
  const call = async (...args: string[]) => {
    const program = startCommand([...command, ...args], { home, env });
    await program.closeInput();
    return await program.finished;
  };
  const version = await call("version");
  assert.equal(version.stderr, "");
  assert.match(version.stdout, /\nsource, Deno/);
  const turn = await call("run", "--model", "demo", "Read README.md");
  assert.equal(turn.code, 0, turn.stderr);
  assert.match(turn.stdout, /headings: From afar/);
});
