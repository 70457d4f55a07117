/** What other known projects protect is not there for commands of remote models and of models on trusted hosts. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
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

Deno.test("a session protects what its own project protects, and nothing of others (limit)", linux, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { a, b } = await beside(stage);
  const copy = ask(want("shell", { command: `cp '${b}/.env' copy.txt` }));
  const read = ask(want("read", { path: "copy.txt" }));
  for (const [cwd, isOpen] of [[a, true], [b, false]] as const) {
    await stage.play("loc", { cwd, args, script: [copy, read, say("Done.")] });
    await stage.write(`${cwd}/copy.txt`, await Deno.readTextFile(`${b}/.env`));
    const remote = await stage.play("rem", { cwd, args, script: [read, say("Done.")] });
    assert.equal(remote.sent.includes(stage.canary("env")), isOpen, remote.done.stderr);
  }
});

Deno.test(
  "links of another project take no program away, also once it is gone, but what sandbox.read names",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const [b, tools] = [`${stage.home.root}/B`, `${stage.home.root}/tools`];
    await stage.write(`${tools}/hello`, "#!/bin/sh\necho hello\n");
    await Deno.chmod(`${tools}/hello`, 0o755);
    await stage.write(`${b}/.agentclisecret`, "no-cloud: private\nno-cloud: named\n");
    await Deno.mkdir(`${b}/private`);
    const links = { "private/x": "/bin/bash", named: Deno.realPathSync("/usr/bin/env"), "private/tools": tools };
    for (const [link, target] of Object.entries(links)) await Deno.symlink(target, `${b}/${link}`);
    await stage.play("loc", { cwd: b, script: [say("Hello.")] });
    const script = [ask(want("shell", { command: "bash -c 'env printf ran'; hello" })), say("Done.")];
    const env = { PATH: `${tools}:/usr/bin:/bin` };
    for (const isThere of [true, false]) {
      if (!isThere) await Deno.remove(b, { recursive: true });
      for (const read of [[], [tools]]) {
        const { results: [result = ""] } = await stage.play("loc", {
          args,
          env,
          script,
          settings: { sandbox: { read } },
        });
        assert.match(result, /ran/);
        assert.equal(/^(?:ran)?hello/m.test(result), read.length === 0, result);
      }
    }
  },
);

Deno.test(
  "a copy that a command of another project left is not there, also where only PATH shows it",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const { b } = await beside(stage);
    const tools = `${stage.home.root}/tools`;
    await stage.write(`${tools}/open`, "open\n");
    const left = `echo 'API_TOKEN=${stage.canary("env")}' > ${JSON.stringify(tools)}/copy`;
    const copy = ask(want("read", { path: ".env" }), want("shell", { command: left }));
    await stage.play("loc", { cwd: b, args, script: [copy, say("Done.")], settings: { sandbox: { write: [tools] } } });
    const script = [ask(want("shell", { command: `cd ${JSON.stringify(tools)}; cat open copy` })), say("Done.")];
    const { results: [result = ""] } = await stage.play("loc", {
      args,
      script,
      env: { PATH: `${tools}:/usr/bin:/bin` },
    });
    assert.match(result, /^open\n.*copy: Permission denied/);
  },
);

for (const marker of [null, "no-cloud: .env\n", "no-cloud: other\n"]) {
  const there = marker === null ? "no marker" : `the marker ${JSON.stringify(marker)}`;
  for (const [first, isHidden] of [[["add", ".env"], true], [["check", ".env"], false]] as const) {
    const does = isHidden ? "are not there" : "are there (control)";
    Deno.test(
      `after secrets ${first[0]} in a project with ${there}, its files ${does} for commands elsewhere`,
      bubblewrap,
      async () => {
        await using stage = await openStage({ bare: true, marker: null });
        const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
        await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
        await stage.write(`${a}/open.txt`, "an open line of A\n");
        if (marker !== null) await stage.write(`${b}/.agentclisecret`, marker);
        await stage.play("loc", { cwd: b, argv: ["secrets", ...first], script: [] });
        const script = [ask(want("shell", { command: `cat open.txt; ${CODED} < '${b}/.env'` })), say("Done.")];
        const remote = await stage.play("rem", { cwd: a, args, script });
        assert.match(remote.results[0] ?? "", /an open line of A/, remote.done.stderr);
        assert.equal(remote.sent.includes(coded(stage.canary("env"))), !isHidden);
      },
    );
  }
}
