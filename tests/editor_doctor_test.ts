/** `agentcli editor doctor`: what it runs, what it finds, and what it leaves alone. */
import assert from "node:assert/strict";
import { EVENTS } from "../src/editor/hooks/events.ts";
import { done, editor, installProgram } from "./helpers/editor_program.ts";
import { listenHttp, type Reply, type WireRequest } from "./helpers/fake_http.ts";
import { problemsOf } from "./helpers/json_schema.ts";
import { planServer, type ServerPlan } from "./helpers/mcp.ts";
import { runProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

interface Finding {
  level: string;
  subject: string;
  message: string;
  fix?: string;
}

/** The program for hooks, in a project with something protected. */
async function project(home: TemporaryHome): Promise<string> {
  await home.write(".agentclisecret", "no-cloud: secrets\n");
  await home.write("secrets/keys.md", "key correct-horse-battery-staple-42\n");
  return await installProgram(home);
}

async function doctor(home: TemporaryHome, ...args: string[]) {
  const { code, stdout, stderr } = await editor(home, "doctor", "--json", ...args);
  assert.ok(stdout.startsWith("{"), stderr);
  const { ok, skipped, findings } = JSON.parse(stdout) as { ok: boolean; skipped: number; findings: Finding[] };
  assert.equal(ok, code === 0);
  const of = (subject: RegExp) => findings.filter((one) => subject.test(one.subject));
  return { code, skipped, findings, of };
}

function ownHook(name: string, command: string, events: readonly string[]): string[] {
  const given = events.flatMap((event) => ["--event", event]);
  return ["add", "hook", name, ...given, "--command", command, "--powershell", "exit 0", "--yes"];
}

Deno.test("doctor runs every installed line, proves that the guard blocks, and finds one that fails open", async () => {
  await using home = await temporaryHome();
  const program = await project(home);
  await done(home, "add", "hook", "no-cloud-guard", "--set", `agentcli=${program}`, "--yes");
  await done(home, "add", "hook", "audit-log", "--event", "post_read_code", "--set", `agentcli=${program}`, "--yes");
  const healthy = await done(home, "doctor", "--json");
  const { findings } = JSON.parse(healthy.stdout) as { findings: { level: string; message: string }[] };
  assert.equal(findings.filter(({ message }) => message.startsWith("blocks a protected file")).length, 5);
  assert.equal(findings.filter(({ message }) => message.startsWith("lets a harmless")).length, 6);
  const none = `${home.root}/nowhere`;
  const nowhere = await runProgram(["editor", "doctor"], { home, env: { TMPDIR: none, TEMP: none } });
  assert.match(
    nowhere.stdout,
    /^failure: hooks: they were not tried: no temporary directory can be made.*\n {2}fix: set TMPDIR/m,
  );
  await Deno.remove(program);
  await done(home, ...ownHook("broken", "no-such-program", ["pre_read_code"]));
  const { code, stdout: gone } = await editor(home, "doctor");
  assert.equal(code, 1);
  assert.match(gone, /exit 127, and the editor then lets everything pass/);
  assert.match(gone, /it blocks a harmless action/);
  assert.match(gone, /^failure: .*it blocks a protected file only as it blocks everything/m);
  assert.doesNotMatch(gone, /^ok: .*blocks a protected file/m);
});

Deno.test("doctor starts servers, counts their tools, and finds one that does not answer", async () => {
  await using home = await temporaryHome();
  const { entry: many } = await planServer(`${home.root}/servers`, "many", manyTools(101));
  await home.write("many.json", JSON.stringify(many));
  await done(home, "add", "mcp", "many", "--file", "many.json", "--yes");
  await done(home, "add", "mcp", "dead", "--command", "no-such-program", "--yes");
  const { code, stdout } = await editor(home, "doctor");
  assert.equal(code, 1);
  assert.match(stdout, /server many: answers, with 101 tools/);
  assert.match(stdout, /101 tools are active; the editor accepts at most 100/);
  assert.match(stdout, /server dead: its program "no-such-program" is not on PATH/);
});

Deno.test("every event is tried with an input that is as the editor's", async () => {
  await using home = await temporaryHome();
  await done(home, ...ownHook("record", `cat >>'${home.root}/seen'; echo >>'${home.root}/seen'`, EVENTS));
  const { code, of } = await doctor(home);
  assert.equal(code, 0);
  assert.equal(of(/record/).filter(({ level }) => level === "ok").length, EVENTS.length);
  const schema = JSON.parse(
    await Deno.readTextFile(new URL("fixtures/editor/schemas/windsurf-hook-stdin.schema.json", import.meta.url)),
  );
  const inputs = (await Deno.readTextFile(`${home.root}/seen`)).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(inputs.map(({ agent_action_name }) => agent_action_name).sort(), [...EVENTS].sort());
  for (const input of inputs) {
    assert.deepEqual(problemsOf(input, schema), []);
    const recorded = new URL(`fixtures/editor/payloads/${input.agent_action_name}.json`, import.meta.url);
    const fields = (value: { tool_info: object }) => Object.keys(value.tool_info).sort();
    assert.deepEqual(fields(input), fields(JSON.parse(await Deno.readTextFile(recorded))));
  }
});

/** Hooks and servers that nobody installed from here, each of which leaves a file when it runs. */
async function foreign(home: TemporaryHome): Promise<string[]> {
  const touch = (name: string) => `touch '${home.root}/${name}'`;
  await home.write(".ide/hooks.json", JSON.stringify({ hooks: { pre_read_code: [{ command: touch("hook") }] } }));
  await home.write(
    "../home/.vendor/ide/mcp_config.json",
    JSON.stringify({ mcpServers: { strange: { command: "sh", args: ["-c", touch("server")] } } }),
  );
  return ["hook", "server"];
}

async function existing(home: TemporaryHome, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => Deno.stat(`${home.root}/${name}`).then(() => [name], () => [])));
  return found.flat();
}

Deno.test("what others wrote is run only with --foreign, and reported as not tried without", async () => {
  await using home = await temporaryHome();
  const names = await foreign(home);
  const careful = await doctor(home);
  assert.deepEqual(await existing(home, names), []);
  assert.equal(careful.code, 0);
  assert.equal(careful.skipped, 2);
  assert.match(careful.of(/pre_read_code/)[0]?.message ?? "", /it was written by others, so it was not run/);
  assert.match(careful.of(/server strange/)[0]?.fix ?? "", /--foreign/);
  await editor(home, "doctor", "--yes");
  assert.deepEqual(await existing(home, names), []);
  const bold = await doctor(home, "--foreign");
  assert.deepEqual(await existing(home, names), names);
  assert.equal(bold.skipped, 0);
  assert.match(bold.of(/server strange/)[0]?.message ?? "", /ended with exit code 0/);
});

Deno.test({
  name: "on a terminal doctor asks before it runs what others wrote",
  ignore: !HAS_TMUX,
  fn: async () => {
    await using home = await temporaryHome();
    const names = await foreign(home);
    for (const [answer, expected] of [["n", []], ["y", names]] as const) {
      await using terminal = await openTerminal(["editor", "doctor"], { home, columns: 120 });
      await terminal.shows(/Also run 2 hooks and servers written by others/);
      await terminal.type(answer);
      await terminal.press("Enter");
      await terminal.shows(/EXIT/);
      assert.deepEqual(await existing(home, names), expected);
    }
  },
});

/** What somebody else can change of a hook that was installed from here. */
const CHANGES: readonly [string, (home: TemporaryHome) => Promise<unknown>][] = [
  ["its script", (home) => home.write(".ide/hooks/audit-log.sh", `touch '${home.root}/ran'\n`)],
  ["where it runs", async (home) => {
    await home.write("other/.ide/hooks/audit-log.sh", `touch '${home.root}/ran'\n`);
    const text = await home.read(".ide/hooks.json");
    await home.write(
      ".ide/hooks.json",
      text.replaceAll('"show_output"', '"working_directory": "other", "show_output"'),
    );
  }],
  ["its command line", async (home) => {
    const text = await home.read(".ide/hooks.json");
    await home.write(".ide/hooks.json", text.replaceAll(/"command": "/g, `"command": "touch '${home.root}/ran'; `));
  }],
];

for (const [what, change] of CHANGES) {
  Deno.test(`a hook of ours is not run when somebody changed ${what}`, async () => {
    await using home = await temporaryHome();
    await done(home, "add", "hook", "audit-log", "--event", "post_read_code", "--set", "agentcli=true", "--yes");
    assert.equal((await doctor(home)).skipped, 0);
    await change(home);
    const { skipped } = await doctor(home);
    assert.equal(skipped, 1);
    assert.deepEqual(await existing(home, ["ran"]), []);
    await editor(home, "doctor", "--foreign");
    assert.deepEqual(await existing(home, ["ran"]), ["ran"]);
  });
}

Deno.test("a missing program and a missing script are distinguished", async () => {
  await using home = await temporaryHome();
  await project(home);
  const given = ["--event", "post_read_code", "--set", "agentcli=/nowhere/agentcli", "--yes"];
  await done(home, "add", "hook", "audit-log", ...given);
  await done(home, "add", "hook", "no-cloud-guard", "--set", "agentcli=/nowhere/agentcli", "--yes");
  const program = await doctor(home);
  for (const subject of [/post_read_code/, /pre_user_prompt/]) {
    assert.match(program.of(subject)[0]?.fix ?? "", /--set agentcli=/);
  }
  await Deno.remove(`${home.project}/.ide/hooks`, { recursive: true });
  // Of a line of one's own no script was installed, so applying brings none back.
  const lines = ["--command", "bash gone.sh", "--powershell", "& ./gone.ps1"];
  await done(home, "add", "hook", "mine", "--event", "pre_write_code", ...lines, "--yes");
  const script = await doctor(home);
  const own = script.of(/pre_write_code \(project, mine\)/)[0]?.fix ?? "";
  assert.match(own, /^repair the command line in .*hooks\.json$/);
  for (const subject of [/post_read_code/, /pre_user_prompt/]) {
    assert.equal(script.of(subject)[0]?.fix, "agentcli editor apply");
  }
});

Deno.test("a guard that somebody made harmless is found", async () => {
  await using home = await temporaryHome();
  await project(home);
  const program = `${home.root}/passes`;
  await Deno.writeTextFile(program, '#!/bin/sh\necho "no-cloud-guard: pass $4"\n', { mode: 0o755 });
  await done(home, "add", "hook", "no-cloud-guard", "--set", `agentcli=${program}`, "--yes");
  const { code, of } = await doctor(home);
  assert.equal(code, 1);
  const told = of(/pre_read_code/).map(({ level, message }) => `${level}: ${message}`).join("\n");
  assert.match(told, /failure: it does not block a protected file \(exit 0 instead of 2\)/);
  assert.match(told, /failure: it lets an input pass that it cannot read/);
});

/** A server with so many tools. */
function manyTools(count: number): ServerPlan {
  return { era: "legacy", tools: Array.from({ length: count }, (_, at) => ({ name: `t${at}`, inputSchema: {} })) };
}

/** Answers as a server of streamable HTTP does: `form` is how. */
function mcpServer(form: "json" | "events", count: number) {
  return async ({ body }: WireRequest, reply: Reply) => {
    const { id, method } = JSON.parse(new TextDecoder().decode(body));
    if (method === "notifications/initialized") return await reply.whole(202, {}, "");
    const tools = Array.from({ length: count }, (_, at) => ({ name: `t${at}` }));
    const result = method === "initialize" ? { protocolVersion: "2025-06-18", capabilities: { tools: {} } } : { tools };
    const text = JSON.stringify({ jsonrpc: "2.0", id, result });
    const type = form === "json" ? "application/json" : "text/event-stream";
    await reply.whole(
      200,
      { "content-type": type, "mcp-session-id": "s-1" },
      form === "json" ? text : `event: message\ndata: ${text}\n\n`,
    );
  };
}

for (const form of ["json", "events"] as const) {
  Deno.test(`a server at an address of this machine is asked for its tools (${form})`, async () => {
    await using home = await temporaryHome();
    const requests: WireRequest[] = [];
    const server = listenHttp("127.0.0.1", async (request, reply) => {
      requests.push(request);
      await mcpServer(form, 7)(request, reply);
    });
    try {
      const url = `http://localhost:${server.port}/mcp?x=1`;
      await done(home, "add", "mcp", "near", "--server-url", url, "--header", "X-Who=me", "--yes");
      const { of } = await doctor(home);
      assert.deepEqual(of(/server near/).map(({ level, message }) => [level, message]), [[
        "ok",
        "answers, with 7 tools",
      ]]);
      assert.deepEqual(requests.map(({ method, path }) => `${method} ${path}`), Array(3).fill("POST /mcp?x=1"));
      assert.deepEqual(requests.map(({ headers }) => headers.get("x-who")), ["me", "me", "me"]);
      assert.deepEqual(requests.map(({ headers }) => headers.get("mcp-session-id")), [null, "s-1", "s-1"]);
    } finally {
      await server.close();
    }
  });
}

Deno.test("a server elsewhere is not asked, nor where one of this machine leads to", async () => {
  await using home = await temporaryHome();
  const elsewhere = listenHttp("127.0.0.2", mcpServer("json", 1));
  const near = listenHttp(
    "127.0.0.1",
    (_request, reply) => reply.whole(307, { location: `http://127.0.0.2:${elsewhere.port}/mcp` }, ""),
  );
  try {
    await done(home, "add", "mcp", "far", "--server-url", `http://127.0.0.2:${elsewhere.port}/mcp`, "--yes");
    await done(home, "add", "mcp", "leading", "--server-url", `http://127.0.0.1:${near.port}/mcp`, "--yes");
    const { of, code } = await doctor(home, "--foreign");
    assert.equal(of(/server far/)[0]?.level, "skipped");
    assert.equal(of(/server leading/)[0]?.level, "failure");
    assert.equal(code, 1);
    assert.equal(elsewhere.connections.length, 0);
    assert.equal(near.connections.length > 0, true);
  } finally {
    await Promise.all([near.close(), elsewhere.close()]);
  }
});

Deno.test("tools that are turned off do not count, and dead servers are found with what to do", async () => {
  await using home = await temporaryHome();
  const many = await planServer(`${home.root}/servers`, "many", manyTools(101));
  const entry = { ...many.entry, disabledTools: ["t0", "t1", "absent"] };
  await home.write("many.json", JSON.stringify(entry));
  await done(home, "add", "mcp", "many", "--file", "many.json", "--yes");
  const good = await doctor(home);
  assert.equal(good.of(/server many/)[0]?.message, "answers, with 99 tools, and 2 that are switched off");
  assert.equal(good.code, 0);
  await home.write("dead.sh", "echo 'no licence' >&2; exit 3\n");
  await done(home, "add", "mcp", "dying", "--command", "sh", "--arg", `${home.project}/dead.sh`, "--yes");
  await done(home, "add", "mcp", "closed", "--server-url", "http://127.0.0.1:9/mcp", "--yes");
  await home.write("off.json", JSON.stringify({ ...entry, disabled: true }));
  await done(home, "add", "mcp", "off", "--file", "off.json", "--yes");
  const bad = await doctor(home);
  assert.equal(bad.code, 1);
  assert.equal(bad.of(/server dying/)[0]?.message, "ended with exit code 3: no licence");
  assert.equal(bad.of(/server closed/)[0]?.level, "failure");
  assert.equal(bad.of(/server off/)[0]?.message, "is switched off");
  assert.ok(bad.findings.filter(({ level }) => level === "failure").every(({ fix }) => fix !== undefined));
});

Deno.test("what does not load is found: shadowed files, long files, names of skills", async () => {
  await using home = await temporaryHome();
  await home.write(".windsurf/hooks.json", '{"hooks":{"pre_read_code":[{"command":"true"}]}}');
  await home.write(".devin/hooks.json", '{"hooks":{"pre_write_code":[{"command":"true"}]}}');
  await home.write(".windsurf/rules/long.md", `---\ntrigger: always_on\n---\n${"x".repeat(12_001)}`);
  await home.write(".windsurf/skills/one/SKILL.md", "---\nname: two\ndescription: d\n---\n");
  await home.write(".windsurf/hooks/x.sh", "");
  const { code, findings, of } = await doctor(home, "--dialect", "windsurf");
  assert.equal(code, 1);
  assert.ok(
    findings.some(({ message }) => /\.windsurf\/hooks\.json: it is not read/.test(message)),
    JSON.stringify(findings),
  );
  assert.match(of(/rule long/)[0]?.message ?? "", /12,?000/);
  assert.equal(of(/skill one/)[0]?.level, "failure");
  const text = await editor(home, "doctor", "--dialect", "windsurf");
  assert.match(text.stdout, /failure: rule long: .*\n {2}fix: repair \.windsurf\/rules\/long\.md\n/);
});
