// Drives the program through the TypeScript SDK of the Agent Client Protocol. Holds every line of the agent against the
// SDK's schema of version 1, and prints what was seen as JSON.
import { spawn } from "node:child_process";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Readable, Transform, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [packages, executable] = process.argv.slice(2);
const require = createRequire(`${packages}/index.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { client, methods, ndJsonStream } = await load("@agentclientprotocol/sdk");
const { default: Ajv } = await load("ajv/dist/2020.js");
const schemaFile = `${packages}/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json`;
const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
const ajv = new Ajv.default({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(schema, "acp");

/** The definition of a method's request, notification or response. */
function definition(method, end) {
  const found = Object.entries(schema.$defs).filter(([name, { "x-method": of }]) => of === method && end.test(name));
  if (found.length !== 1) throw new Error(`${found.length} definitions of ${method}`);
  return `acp#/$defs/${found[0][0]}`;
}

const problems = [];
const kinds = new Set();
const asked = new Map();
function check(line) {
  const message = JSON.parse(line);
  const { method, id, params, result, error } = message;
  let name;
  if (method !== undefined) name = definition(method, id === undefined ? /Notification$/ : /Request$/);
  else if (error === undefined) name = definition(asked.get(id), /Response$/);
  else name = "acp#/$defs/Error";
  const validate = ajv.getSchema(name);
  const value = method !== undefined ? params : error ?? result;
  if (!validate(value)) problems.push({ name, errors: ajv.errorsText(validate.errors), value });
  kinds.add(params?.update?.sessionUpdate ?? method ?? name.replace(/.*\//, ""));
}

/** Passes lines on and shows each to `see`. */
function tapped(see) {
  let rest = "";
  return new Transform({
    transform(chunk, _encoding, done) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines) see(line);
      done(null, chunk);
    },
  });
}

const seen = { updates: [], asked: [], read: [] };
const permission = { current: "once" };
const app = client({ name: "test" })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    seen.asked.push(params.options.map(({ kind }) => kind));
    return { outcome: { outcome: "selected", optionId: permission.current } };
  })
  .onRequest(methods.client.fs.readTextFile, ({ params }) => {
    seen.read.push(params.path);
    return { content: readFileSync(params.path, "utf8") };
  })
  .onNotification(methods.client.session.update, ({ params }) => void seen.updates.push(params.update));

const agent = spawn(executable, ["acp"], { stdio: ["pipe", "pipe", "inherit"] });
const input = tapped((line) => {
  const { id, method } = JSON.parse(line);
  if (method !== undefined && id !== undefined) asked.set(id, method);
});
input.pipe(agent.stdin);
const stream = ndJsonStream(Writable.toWeb(input), Readable.toWeb(agent.stdout.pipe(tapped(check))));
await app.connectWith(stream, async (ctx) => {
  seen.initialized = await ctx.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      session: { notices: {}, compaction: {} },
      auth: { terminal: true },
    },
    clientInfo: { name: "test", version: "1.0.0" },
  });
  await ctx.request(methods.agent.authenticate, { methodId: "setup-local" });
  const cwd = process.cwd();
  const created = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const { sessionId } = created;
  const prompt = async (text, more = []) =>
    (await ctx.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }, ...more] }))
      .stopReason;
  const write = (name) => `CALL Write {"file_path":"${name}","content":"a"}`;
  seen.stops = [await prompt("hello"), await prompt(write("allowed.txt"))];
  permission.current = "deny";
  seen.stops.push(await prompt(write("denied.txt")));
  permission.current = "session";
  seen.stops.push(await prompt('CALL Bash {"command":"echo out; exit 3"}'));
  writeFileSync("old.txt", "one\n");
  utimesSync("old.txt", new Date(0), new Date(0));
  seen.stops.push(await prompt('CALL Read {"file_path":"old.txt"}'));
  const todos = [{ content: "Do it", status: "in_progress" }];
  seen.stops.push(await prompt(`CALL TodoWrite ${JSON.stringify({ todos })}`));
  const long = "word ".repeat(5000);
  for (let count = 0; count < 3; count++) await prompt(long);
  seen.stops.push(await prompt("/context"), await prompt("/compact"), await prompt("/nothing"));
  await ctx.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
  for (const [configId, value] of [["mode", "default"], ["model", "quick"], ["thinking", "off"]]) {
    await ctx.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
  }
  const hanging = prompt("HANG");
  setTimeout(() => ctx.notify(methods.agent.session.cancel, { sessionId }), 300);
  seen.stops.push(await hanging);
  seen.failed = await prompt("FAIL").then(() => null, (error) => String(error.message));
  seen.listed = (await ctx.request(methods.agent.session.list, { cwd })).sessions.length;
  await ctx.request(methods.agent.session.close, { sessionId });
  const before = seen.updates.length;
  const mcpServers = [{ type: "sse", name: "old", url: "http://127.0.0.1:1/sse", headers: [] }];
  await ctx.request(methods.agent.session.load, { sessionId, cwd, mcpServers });
  seen.replayed = seen.updates.slice(before).map(({ sessionUpdate }) => sessionUpdate);
  await ctx.request(methods.agent.session.close, { sessionId });
  await ctx.request(methods.agent.session.resume, { sessionId, cwd });
  seen.stops.push(await prompt("again"));
  await ctx.request(methods.agent.session.delete, { sessionId });
});
agent.stdin.end();
const code = await new Promise((resolve) => agent.on("exit", resolve));
process.stdout.write(`\n${JSON.stringify({ ...seen, code, problems, kinds: [...kinds].sort() })}\n`);
