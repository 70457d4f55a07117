/** What a local session takes in of another project's protected files stays here, though its own project protects nothing. */
import { joined } from "../../src/platform/text.ts";
import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure } from "../helpers/program.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded } from "./slipped.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const bubblewrap = { ignore: !hasBubblewrap() };
const args = ["--permission-mode", "bypassPermissions"];

/** A project `A` without a marker beside a known one, `B`, with a protected file. */
async function beside(stage: Stage): Promise<{ a: string; b: string }> {
  const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
  await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
  await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
  await stage.write(`${a}/open.txt`, "an open line of A\n");
  await stage.play("loc", { cwd: b, script: [say("Hello.")] });
  return { a, b };
}

for (
  const [name, commands] of [
    ["a command printed", (path: string) => [want("shell", { command: `cat '${path}'` })]],
    ["a command copied and a tool read", (path: string) => [
      want("shell", { command: `cp '${path}' copy.txt` }),
      want("read", { path: "copy.txt" }),
    ]],
  ] as const
) {
  Deno.test(
    `what ${name} of another project goes to no remote model later, and into no transcript`,
    linux,
    async () => {
      await using stage = await openStage({ bare: true, marker: null });
      const { a, b } = await beside(stage);
      stage.exempt(`${a}/copy.txt`);
      const script = [...commands(`${b}/.env`).map((call) => ask(call)), say("Done.")];
      const local = await stage.play("loc", { cwd: a, args, script });
      assert.match(local.sent, /CNRY_/, "control: the local model got it");
      assert.deepEqual(local.leaks.disk, []);
      const remote = await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("Hello.")] });
      assert.equal(remote.done.code, 6, remote.done.stderr);
      assert.doesNotMatch(remote.sent, /CNRY_/);
    },
  );
}

for (const call of ["run", "background", "MCP"]) {
  Deno.test(`where the home cannot be written no program starts beside a known project (${call})`, linux, async () => {
    for (const isWritable of [false, true]) {
      await using stage = await openStage({ bare: true, marker: null });
      const { a, b } = await beside(stage);
      stage.exempt(`${a}/copy.txt`);
      const { agentcliHome } = stage.home;
      // As on a full disk: what is there can be read, and nothing comes to it.
      const blocked = [`${agentcliHome}/unfinished`, `${agentcliHome}/projects/index.json.lock`];
      for (const path of isWritable ? [] : blocked) {
        await Deno.remove(path, { recursive: true }).catch(() => {});
        await Deno.symlink("/proc/self/none/none", path);
      }
      const command = `cp '${b}/.env' copy.txt`;
      const background = { name: "Bash", input: { command, background: true } };
      const script = [ask(call === "background" ? background : want("shell", { command })), say("Done.")];
      const server = { command: "sh", args: ["-c", command] };
      const servers = call === "MCP" ? ["--mcp-config", JSON.stringify({ mcpServers: { copies: server } })] : [];
      const local = await stage.play("loc", {
        cwd: a,
        args: [...args, ...servers, "--no-session-persistence"],
        script: call === "MCP" ? [say("Hello.")] : script,
      });
      assert.equal(local.done.code, 0, local.done.stderr);
      const copied = await Deno.stat(`${a}/copy.txt`).then(() => true, () => false);
      assert.equal(copied, isWritable, `${local.done.stderr} ${local.results}`);
      const told = call === "MCP" ? local.done.stderr : local.results[0] ?? "";
      if (!isWritable) {
        assert.match(
          told,
          call === "MCP" ? /was not started: .*cannot be kept in/ : /cannot be kept in .*Tell the user/,
        );
      }
      for (const path of isWritable ? [] : blocked) await Deno.remove(path);
      const read = [ask(want("read", { path: "copy.txt" })), say("Done.")];
      const remote = await stage.play("rem", { cwd: a, script: read });
      assert.doesNotMatch(remote.sent, /CNRY_/);
    }
  });
}

for (
  const [name, given] of [
    ["a person attached", () => ({ args: ["--file", "copy.txt"] })],
    ["a person piped in", (line: string) => ({ stdin: line, prompt: null })],
    ["stands in the instructions", (line: string) => ({ agents: line })],
  ] as [string, (line: string) => { args?: string[]; stdin?: string; prompt?: null; agents?: string }][]
) {
  Deno.test(`what ${name} of another project is for local models alone, and in no transcript`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a } = await beside(stage);
    for (const [line, isSecret] of [["nobody's open secret line", false], [stage.canary("env"), true]] as const) {
      const { agents = "# none", ...play } = given(line);
      for (const [file, text] of [["copy.txt", line], ["AGENTS.md", agents]] as const) {
        await stage.write(`${a}/${file}`, `${text}\n`);
        stage.exempt(`${a}/${file}`);
      }
      const local = await stage.play("loc", { cwd: a, ...play, script: [say("Hello.")] });
      assert.ok(local.sent.includes(line), "control: the local model got it");
      assert.deepEqual(local.leaks.disk, []);
      const remote = await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("Hello.")] });
      if (!isSecret) assert.ok(remote.sent.includes(line), "control: what nobody protects goes on");
      assert.deepEqual(remote.leaks.wire, []);
    }
  });
}

Deno.test("a file that came later is known once the other project was looked at again", linux, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { a, b } = await beside(stage);
  await stage.write(`${b}/deep/other.txt`, "an open line of B\n");
  await stage.plant(`${b}/deep/.env`, "new", (canary) => `LATER=${canary}\n`);
  const printed = (name: string) => [ask(want("shell", { command: `cat '${b}/deep/${name}'` })), say("Done.")];
  const look = await runInProcess(["secrets", "add", "other"], { home: stage.home, cwd: b });
  assert.equal(look.code, 0, look.stderr);
  await stage.play("loc", { cwd: a, args, script: printed("other.txt") });
  const control = await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("Hello.")] });
  assert.match(control.sent, /an open line of B/, "control: what no marker covers stays open");
  const local = await stage.play("loc", { cwd: a, args: [...args, "--continue"], script: printed(".env") });
  assert.match(local.sent, /CNRY_/, "control: the local model got it");
  assert.deepEqual(local.leaks.disk, []);
  const remote = await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("Hello.")] });
  assert.equal(remote.done.code, 6, remote.done.stderr);
  assert.doesNotMatch(remote.sent, /CNRY_/);
});

Deno.test("a local session that met another project's content carries it into no open file", linux, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { a, b } = await beside(stage);
  stage.exempt(`${a}/printed.txt`);
  const line = `API_TOKEN=${stage.canary("env")}`;
  const carry = [
    want("write", { path: "written.txt", content: `${line}\n` }),
    want("shell", { command: `echo ${line} > printed.txt` }),
  ];
  const read = (path: string) => ask(want("read", { path }));
  const meets = [ask(want("shell", { command: `cat '${b}/.env'` }))];
  const local = await stage.play("loc", {
    cwd: a,
    args,
    script: [...meets, ...carry.map((call) => ask(call)), say("Done.")],
  });
  assert.match(local.results[1] ?? "", /written\.txt is not protected, and the text holds what another project/);
  assert.match(local.done.stderr, /protected from now on, since they hold protected content: printed\.txt/);
  assert.deepEqual(local.leaks.disk, []);
  const remote = await stage.play("rem", {
    cwd: a,
    args,
    script: [read("written.txt"), read("printed.txt"), say("Done.")],
  });
  assert.deepEqual(remote.leaks.wire, []);
  assert.match(remote.results[1] ?? "", /printed\.txt is protected/);
  const open = [
    ask(want("write", { path: "open.md", content: "nobody's secret\n" })),
    ask(want("shell", { command: "echo nothing > none.txt" })),
    say("Done."),
  ];
  await stage.play("loc", { cwd: a, args, script: [...meets, ...open] });
  const control = await stage.play("rem", { cwd: a, args, script: [read("open.md"), read("none.txt"), say("Done.")] });
  assert.match(control.sent, /nobody's secret/, "control: what else it writes stays open");
  assert.match(control.results[1] ?? "", /nothing/);
});

Deno.test(
  "no list of changes keeps what another project protects, also of lines that the model did not see",
  linux,
  async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
    await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
    await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
    stage.exempt(`${a}/notes.txt`);
    for (const isKnown of [false, true]) {
      if (isKnown) await stage.play("loc", { cwd: b, script: [say("Hello.")] });
      await stage.write(`${a}/notes.txt`, `first\n${"line\n".repeat(50)}${stage.canary("env")}\n`);
      const script = [
        ask({ name: "Read", input: { file_path: "notes.txt", limit: 2 } }),
        ask({ name: "Edit", input: { file_path: "notes.txt", old_string: "first\n", new_string: "second\n" } }),
        say("Done."),
      ];
      const played = await stage.play("loc", { cwd: a, args, script });
      assert.match(await Deno.readTextFile(`${a}/notes.txt`), /^second/, played.results.join());
      assert.equal(played.leaks.disk.some((found) => found.includes("/undo/")), !isKnown, played.leaks.disk.join());
      await Deno.remove(`${stage.home.agentcliHome}/undo`, { recursive: true }).catch(() => {});
    }
  },
);

Deno.test("what commands print of nobody's secrets stays open beside a known project", linux, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { a } = await beside(stage);
  const script = [ask(want("shell", { command: "cat open.txt" })), say("Done.")];
  await stage.play("loc", { cwd: a, args, script });
  const remote = await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("Hello.")] });
  assert.equal(remote.done.code, 0, remote.done.stderr);
  assert.match(remote.sent, /an open line of A/);
});

/** What a command can leave in its project so that no sandbox can be made for the next one there. */
const HINDRANCES: Readonly<Record<string, string>> = {
  "a name that is no UTF-8": "touch $'x\\xff'",
  "more than can be covered": "mkfifo $(seq -f f%g 1700)",
};

for (const [what, command] of Object.entries(HINDRANCES)) {
  Deno.test(`${what} does not let the next command of a remote model run without a sandbox`, bubblewrap, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b } = await beside(stage);
    const show = `cat '${b}/.env'; echo ran > ran`;
    const shell = (line: string) => ask(want("shell", { command: line }));
    const script = [shell("echo in a sandbox"), shell(command), shell(show), say("Done.")];
    const remote = await stage.play("rem", { cwd: a, args, script });
    assert.match(remote.results[0] ?? "", /in a sandbox/, "control: one can be made at first");
    assert.match(remote.results[2] ?? "", /not run: other projects of the user have protected paths/);
    assert.deepEqual(remote.leaks.wire, []);
    assert.equal(await Deno.stat(`${a}/ran`).catch(() => null), null);
    const local = await stage.play("loc", { cwd: a, args, script: [shell(show), say("Done.")] });
    assert.match(local.sent, /CNRY_/, "control: without a sandbox it is read");
  });
}

Deno.test(
  "commands of a model on a trusted host see nothing of other projects, and those of one here do",
  bubblewrap,
  async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b } = await beside(stage);
    await stage.write(`${a}/.agentclisecret`, "local-endpoints: 127.0.0.2\n");
    const script = [ask(want("shell", { command: `${CODED} < '${b}/.env'; echo ran` })), say("Done.")];
    for (const provider of ["lan", "loc"] as const) {
      const played = await stage.play(provider, { cwd: a, args, script });
      assert.match(played.results[0] ?? "", /ran/, played.done.stderr);
      assert.equal(played.sent.includes(coded(stage.canary("env"))), provider === "loc", "control: a model here");
    }
  },
);

/** What can become of a file in the home, and what a command of a remote model gets then. */
const DAMAGES: readonly { file: RegExp; damage: (path: string) => Promise<void>; result: RegExp }[] = [
  {
    file: /^[0-9a-f]{32}\.json$/,
    damage: (path) => Deno.writeTextFile(path, "{"),
    result: /not run: .*the record of \S.*\/B, cannot be read/,
  },
  { file: /^index\.json$/, damage: (path) => Deno.remove(path), result: /No such file/ },
  { file: /^index\.json$/, damage: (path) => Deno.writeTextFile(path, "{"), result: /No such file/ },
];

for (const [at, { file, damage, result }] of DAMAGES.entries()) {
  Deno.test(`damage of the home (${at}) is no reason to run without a sandbox`, bubblewrap, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b } = await beside(stage);
    const records = `${stage.home.agentcliHome}/projects`;
    const names = [...Deno.readDirSync(records)].map(({ name }) => name).filter((name) => file.test(name));
    assert.equal(names.length, 1);
    await damage(`${records}/${names[0]}`);
    const script = [ask(want("shell", { command: `cat '${b}/.env'` })), say("Done.")];
    const remote = await stage.play("rem", { cwd: a, args, script });
    assert.match(remote.results[0] ?? "", result);
    assert.deepEqual(remote.leaks.wire, []);
  });
}

for (const [model, runsHere] of [["gpt-oss:120b-cloud", false], ["qwen3:8b", true]] as const) {
  const does = runsHere ? "are the user's own" : "see nothing of other projects";
  Deno.test(`commands of ${model} behind a local Ollama ${does}`, bubblewrap, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b } = await beside(stage);
    const answer = (body: unknown) => ({
      kind: "status" as const,
      status: 200,
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
    const server = {
      models: { object: "list", data: [{ id: model, object: "model", owned_by: "library" }] },
      routes: {
        "/": { kind: "status" as const, status: 200, body: "Ollama is running" },
        "/api/version": answer({ version: "0.20.0" }),
        "/api/show": answer({ details: {}, model_info: {} }),
      },
    };
    const script = [ask(want("shell", { command: `${CODED} < '${b}/.env'; echo ran` })), say("Done.")];
    const block = { models: [{ id: model, context_window: 32_768 }] };
    const played = await stage.play("loc", { cwd: a, args, script, server, block });
    assert.match(played.results[0] ?? "", /ran/);
    assert.equal(played.sent.includes(coded(stage.canary("env"))), runsHere, played.done.stderr);
  });
}

Deno.test("what a local model says and writes of another project by itself stays here", linux, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { a } = await beside(stage);
  for (const [value, isSecret] of [["nobody's open secret line", false], [stage.canary("env"), true]] as const) {
    const script = [ask(want("write", { path: "w.txt", content: `token ${value}\n` })), say(`It is ${value}.`)];
    const local = await stage.play("loc", { cwd: a, args, script });
    assert.deepEqual(local.leaks.disk, [], local.done.stderr);
    const remote = await stage.play("rem", { cwd: a, args: ["--continue"], script: [say("Hello.")] });
    if (!isSecret) assert.ok(remote.sent.includes(value), "control: what nobody protects goes on");
    assert.deepEqual(remote.leaks.wire, []);
  }
});

for (
  const [name, marker, isKnown] of [
    ["stays on this machine, whatever endpoints the projects have", "local-endpoints: 127.0.0.2\n", true],
    [
      "goes to the endpoints of this project while the home does not know the other (control)",
      "local-endpoints: 127.0.0.2\n",
      false,
    ],
    ["stays on this machine without endpoints (control)", "", true],
  ] as const
) {
  Deno.test(`what a chat takes in of another project ${name}`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b } = await beside(stage);
    const canary = stage.canary("env");
    await runInProcess(["secrets", "add", "--local-endpoint", "127.0.0.2", "--yes"], { home: stage.home, cwd: b });
    if (!isKnown) await Deno.remove(`${stage.home.agentcliHome}/projects`, { recursive: true });
    if (marker !== "") await stage.write(`${a}/.agentclisecret`, marker);
    await using near = startFakeServer({ script: () => say("Fine.") });
    await using far = startFakeServer({ host: "127.0.0.2", script: () => say("Fine.") });
    const providers = { loc: { baseUrl: near.baseUrl }, rem: { baseUrl: far.baseUrl, local: true } };
    for (const roles of [{}, { compact: "rem:fake" }]) {
      await configure(stage.home, providers, { default_provider: "loc", roles });
      const lines = [`the token is ${canary}`, "more", "/compact", "/model rem", "1", "and now?", `again: ${canary}`];
      const stdin = lines.map((line) => `${line}\n`).join("");
      const done = await runInProcess(["chat"], { home: stage.home, cwd: a, stdin, terminal: true });
      const heard = (server: typeof near) => new TextDecoder().decode(joined(server.received()));
      assert.ok(heard(near).includes(canary), "control: the model here got it");
      assert.equal(heard(far).includes(canary), !isKnown, done.stdout + done.stderr);
    }
  });
}

for (const own of ["OWN=a-secret-of-this-project-112233", ""]) {
  Deno.test(
    `what another project protects reaches no endpoint of this one ${own === "" ? "alone" : "beside its own"}`,
    linux,
    async () => {
      await using stage = await openStage({ bare: true, marker: null });
      const { a } = await beside(stage);
      await stage.write(`${a}/.agentclisecret`, "local-endpoints: 127.0.0.2\nno-cloud: own.env\n");
      await stage.write(`${a}/own.env`, "OWN=a-secret-of-this-project-112233\n");
      await stage.write(`${a}/both.txt`, `${own}\n${stage.canary("env")}\n`);
      for (const [prompt, calls] of [[`${own} ${stage.canary("env")}`, []], ["go", ["own.env", "both.txt"]]] as const) {
        const script = [...calls.map((path) => ask(want("read", { path }))), say("Done.")];
        const played = await stage.play("lan", { cwd: a, prompt, args, script });
        assert.ok(!played.sent.includes(stage.canary("env")), played.done.stderr);
        assert.equal(played.done.code, 6, played.done.stderr);
        const control = await stage.play("lan", { cwd: a, prompt: own, args, script: [say("Done.")] });
        assert.ok(control.sent.includes(own), "control: its own may go there");
      }
    },
  );
}

Deno.test(
  "a protected file of another project that was renamed there is hidden from commands",
  bubblewrap,
  async () => {
    for (const name of [".env", "prod.txt", "open.txt"]) {
      await using stage = await openStage({ bare: true, marker: null });
      const { a, b } = await beside(stage);
      await stage.write(`${b}/open.txt`, "an open line of B\n");
      if (name === "prod.txt") await Deno.rename(`${b}/.env`, `${b}/prod.txt`);
      stage.exempt(`${b}/prod.txt`);
      const settings = { sandbox: { read: [b] } };
      const script = [ask(want("shell", { command: `cat '${b}/${name}'` })), say("Done.")];
      const remote = await stage.play("rem", { cwd: a, args, script, settings });
      assert.equal(remote.sent.includes("an open line of B"), name === "open.txt", "control: the directory is there");
      assert.ok(!remote.sent.includes(stage.canary("env")), name);
    }
  },
);
