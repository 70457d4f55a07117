/**
 * A model that runs elsewhere behind a loopback address is as remote from the first moment as one with a remote
 * address.
 */
import assert from "node:assert/strict";
import { ask, type FakeServerOptions, say, type Script, startFakeServer, type Step } from "../helpers/fake_server.ts";
import { planServer } from "../helpers/mcp.ts";
import { openStage, type Stage } from "./harness.ts";
import { standing } from "./slipped.ts";

const UNTIL = (path: string) => `for i in $(seq 500); do [ -e ${path} ] && break; sleep 0.02; done`;

const entry = (id: string) => ({ models: [{ id, context_window: 32_768 }] });
const read = (file_path: string) => ask({ name: "Read", input: { file_path } });
const LIST = { object: "list", data: [{ id: "fake", object: "model", owned_by: "openai" }] };

/** How a model can run elsewhere; the first is the control. */
const WAYS: Record<string, { id: string; server: Omit<FakeServerOptions, "script"> }> = {
  "by its address": { id: "fake", server: { host: "127.0.0.2" } },
  "by its name": { id: "big:120b-cloud", server: { models: ["big:120b-cloud"] } },
  "by its server's word": {
    id: "fake",
    server: {
      routes: {
        "/v1/models": {
          kind: "status",
          status: 200,
          body: JSON.stringify(LIST),
          headers: { "content-type": "application/json", "x-litellm-version": "1.70.0" },
        },
      },
    },
  },
};

/** A server with a model elsewhere, as provider `far`. */
function startFar(way: string, script: Script) {
  const { id, server } = WAYS[way] ?? { id: "", server: {} };
  const far = startFakeServer({ ...server, script });
  const got = () => far.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
  return { far, got, selector: `far:${id}`, providers: { far: { baseUrl: far.baseUrl, ...entry(id) } } };
}

for (const way of Object.keys(WAYS)) {
  for (const pin of ["3", "9"]) {
    Deno.test(`a model of searches that is remote ${way} learns of no guess whether it is right (${pin})`, async () => {
      await using stage = await openStage({ bare: true, marker: "no-cloud: .env\n" });
      await stage.write(".env", `PIN=${pin}\n`);
      const guesses = [..."012345678"].map((digit) =>
        ({ name: "Grep", input: { pattern: `PIN=${digit}`, path: ".env", output_mode: "count" } }) as const
      );
      const { far, selector, providers } = startFar(way, [ask(...guesses), say("done")]);
      await using _ = far;
      const script = [ask({ name: "Explore", input: { task: "look around" } }), say("Done.")];
      const settings = { roles: { subagent: selector } };
      const { done, results } = await stage.play("loc", { block: entry("fake"), providers, settings, script });
      assert.equal(far.chats().length, 2, `${done.stderr}${results.join("\n")}`);
      const answers = far.chats()[1]?.json.messages.filter(({ role }: { role: string }) => role === "tool") ?? [];
      assert.equal(answers.length, guesses.length);
      for (const { content } of answers) assert.match(content, /^No match.*\.env is protected/s);
    });
  }
}

/** Protects `config.env`, which the session has read, and changes what stands in it. */
async function protectNow(stage: Stage): Promise<void> {
  await stage.write(".agentclisecret", "no-cloud: config.env\n");
  await stage.write("config.env", "K: another-value\n");
}

const READS = ["--tools", "Read"];
/** How what a local session holds can come to a model elsewhere: what the person says, and the settings. */
const ROUTES: Record<string, { args?: string[]; stdin?: string; role?: "compact" | "subagent"; mode?: string }> = {
  "with /model, without commands": { args: READS, stdin: "go\n/model FAR\nhello\n" },
  "with /model, without sandboxes": { stdin: "go\n/model FAR\nhello\n", mode: "never" },
  "with /model, with a sandbox everywhere": { stdin: "go\n/model FAR\nhello\n", mode: "always" },
  "with a summary, without commands": { args: READS, role: "compact" },
  "with a summary, with a sandbox everywhere": { role: "compact", mode: "always" },
  "with the task of a search": { role: "subagent" },
};

for (const [route, { args = [], stdin, role, mode }] of Object.entries(ROUTES)) {
  for (
    const [way, isProtected] of [...Object.keys(WAYS).map((way) => [way, true] as const), [
      "by its address",
      false,
    ]] as const
  ) {
    const does = isProtected ? "stays here" : "goes (control)";
    Deno.test(`what was read ${isProtected ? "before it was protected" : "and is open"} ${does} ${route}, to a model remote ${way}`, async () => {
      await using stage = await openStage({ bare: true, marker: null });
      await stage.plant("config.env", "env", (canary) => `TOKEN=${canary}\n`);
      const secret = stage.canary("env");
      const { far, got, selector, providers } = startFar(way, () => say("Nobody."));
      await using _ = far;
      const words = role === "compact"
        ? "go\nmore\nand more\nand more\n/compact\n"
        : stdin?.replace("FAR", selector) ?? "go\n";
      const then = role === "subagent"
        ? [ask({ name: "Explore", input: { task: `who uses ${secret}?` } })]
        : [say("A longer answer. ".repeat(400))];
      const played = await stage.play("loc", {
        block: { models: [{ id: "fake", context_window: role === "compact" ? 12_000 : 32_768 }] },
        providers,
        settings: {
          ...role === undefined ? {} : { roles: { [role]: selector } },
          ...mode === undefined ? {} : { sandbox: { mode } },
        },
        argv: ["chat", "--model", "loc", ...args],
        stdin: words,
        script: ({ index }) =>
          index === 0 ? read("config.env") : then[index - 1] ?? say("A longer answer. ".repeat(400)),
        during: { index: 1, work: () => isProtected ? protectNow(stage) : Promise.resolve() },
      });
      assert.ok(played.sent.includes(secret), "the local model got it");
      assert.equal(got().includes(secret), !isProtected, played.done.stderr);
    });
  }
}

for (const [way, isFar] of [...Object.keys(WAYS).map((way) => [way, true] as const), ["", false] as const]) {
  const does = isFar ? `hears nothing of a server for local models (${way})` : "is offered it (control)";
  Deno.test(`a model that is ${isFar ? "remote" : "local"} ${does}`, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const server = await planServer(`${stage.home.root}/servers`, "crm", {
      era: "modern",
      tools: [{
        name: "people",
        description: "Alice and others",
        inputSchema: {},
        does: "answer",
        answer: { content: [{ type: "text", text: "a row" }] },
      }],
    });
    const { far, got, selector, providers } = startFar(isFar ? way : "by its address", () => say("Done."));
    await using _ = far;
    const settings = { mcp_servers: { crm: { ...server.entry, label: "no-cloud", tools: { people: "direct" } } } };
    const played = await stage.play("loc", {
      settings,
      providers,
      block: entry("fake"),
      argv: ["run", "go", "--model", isFar ? selector : "loc"],
      prompt: null,
      script: [say("Done.")],
    });
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.equal(`${got()}${played.sent}`.includes("Alice"), !isFar);
    assert.equal((await server.heard()).length > 0, !isFar, "whether it was started");
  });
}

for (const way of Object.keys(WAYS)) {
  Deno.test(`a session of a model that is remote ${way} is called so, and shows what is hidden`, async () => {
    await using stage = await openStage();
    const { far, selector, providers } = startFar(way, () => say("Hi."));
    await using _ = far;
    const play = { block: entry("fake"), providers, prompt: null, script: [] };
    const chat = await stage.play("loc", { ...play, argv: ["chat", "--model", selector], stdin: "/status\n" });
    assert.match(chat.done.stderr, /model +far:\S+, remote/);
    assert.match(chat.done.stderr, /hidden from this model: 1 file, 1 directory/);
    const json = ["--output-format", "stream-json", "--verbose"];
    const run = await stage.play("loc", { ...play, argv: ["run", "hello", "--model", selector, ...json] });
    assert.match(run.done.stdout, /"local":false/, run.done.stderr);
  });

  Deno.test(`a copy of a session for a model that is remote ${way} ends before protected content`, async () => {
    await using stage = await openStage();
    const { far, got, selector, providers } = startFar(way, () => say("Hi."));
    await using _ = far;
    const play = { block: entry("fake"), providers };
    await stage.play("loc", { ...play, prompt: "the first words", script: [say("Hi.")] });
    await stage.play("loc", { ...play, prompt: "then", args: ["--continue"], script: [read(".env"), say("Hi.")] });
    const argv = ["run", "three", "--model", selector, "--continue"];
    const whole = await stage.play("loc", { ...play, argv, prompt: null, script: [] });
    assert.equal(whole.done.code, 6, "control: not without a copy");
    const copy = await stage.play("loc", { ...play, argv: [...argv, "--fork-session"], prompt: null, script: [] });
    assert.equal(copy.done.code, 0, copy.done.stderr);
    assert.match(copy.done.stderr, /with 2 of 6 items/);
    assert.match(got(), /the first words/);
    assert.ok(!got().includes(stage.canary("env")));
  });

  Deno.test(`a model that is remote ${way} can be used where the instructions are protected`, async () => {
    await using stage = await openStage({ bare: true, marker: "no-cloud: AGENTS.md\n" });
    await stage.plant("AGENTS.md", "rules", (canary) => `Use ${canary} for everything.\n`);
    const { far, got, selector, providers } = startFar(way, () => say("Hi."));
    await using _ = far;
    const argv = ["run", "hello", "--model", selector];
    const { done } = await stage.play("loc", { block: entry("fake"), providers, argv, prompt: null, script: [] });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(far.chats().length, 1);
    assert.ok(!got().includes(stage.canary("rules")));
  });
}

for (
  const [what, input, isLabeled] of [
    ["of a protected file", { path: ".env" }, true],
    ["of protected files alone", { glob: "*.env" }, true],
    ["of the project (control)", {}, false],
  ] as const
) {
  Deno.test(`that a search ${what} found nothing ${isLabeled ? "stays here" : "continues"}`, async () => {
    await using stage = await openStage();
    const grep = ask({ name: "Grep", input: { pattern: "nowhere", ...input } });
    const local = await stage.play("loc", { block: entry("fake"), script: [grep, say("No.")] });
    assert.match(local.results[0] ?? "", /^No match/);
    const after = await stage.play("rem", { args: ["--continue"], script: [say("ok")] });
    assert.equal(after.done.code, isLabeled ? 6 : 0, after.done.stderr);
    if (isLabeled) assert.match(after.done.stderr, /this session has read \.env/);
  });
}

Deno.test("a model of searches that turns out to run elsewhere while it searches hears nothing of what it found", async () => {
  for (const turns of [true, false]) {
    await using stage = await openStage({ bare: true, marker: "no-cloud: .env\n" });
    await stage.write(".env", "PIN=9\n");
    await stage.write("open.txt", "nothing\n");
    const routes: NonNullable<FakeServerOptions["routes"]> = {};
    const grep = ask({ name: "Grep", input: { pattern: "PIN=3", output_mode: "count" } });
    const far = startFakeServer({
      routes,
      script({ index }) {
        if (index > 0) return say("seen");
        if (turns) Object.assign(routes, WAYS["by its server's word"]?.server.routes);
        return grep;
      },
    });
    await using _ = far;
    const script = [ask({ name: "Explore", input: { task: "look around" } }), say("Done.")];
    const settings = { roles: { subagent: "far:fake" } };
    const providers = { far: { baseUrl: far.baseUrl, ...entry("fake") } };
    const { done } = await stage.play("loc", { block: entry("fake"), providers, settings, script });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(far.chats().length, turns ? 1 : 2, turns ? "" : "control");
  }
});

Deno.test("a server that did not say where its model runs is asked again with the next prompt", async () => {
  for (const answers of [true, false]) {
    await using stage = await openStage();
    const silent: Step = { kind: "status", status: 503, body: "{}" };
    const routes: NonNullable<FakeServerOptions["routes"]> = { "/v1/models": silent, "/models": silent };
    const far = startFakeServer({
      routes,
      script({ index }) {
        if (answers) { for (const path of Object.keys(routes)) delete routes[path]; }
        return index % 2 === 0 ? read(".env") : say("Hm.");
      },
    });
    await using _ = far;
    const providers = { far: { baseUrl: far.baseUrl, ...entry("fake") } };
    const argv = ["chat", "--model", "far:fake"];
    await stage.play("loc", { block: entry("fake"), providers, argv, stdin: "go\nagain\n", script: [] });
    const results = far.chats().at(-1)?.json.messages.filter(({ role }: { role: string }) => role === "tool") ?? [];
    assert.match(results[0]?.content ?? "", /\.env is protected/);
    assert.equal((results[1]?.content ?? "").includes(stage.canary("env")), answers);
  }
});

Deno.test("a model that turns out to run elsewhere hears nothing more of a server for local models", async () => {
  for (const turns of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.write("open.txt", "nothing\n");
    const server = await planServer(`${stage.home.root}/servers`, "crm", {
      era: "modern",
      tools: [{ name: "people", description: "Alice and others", inputSchema: {}, does: "answer", answer: {} }],
    });
    const routes: NonNullable<FakeServerOptions["routes"]> = {};
    const far = startFakeServer({
      routes,
      script({ index }) {
        if (turns) Object.assign(routes, WAYS["by its server's word"]?.server.routes);
        return index === 0 ? read("open.txt") : say("Done.");
      },
    });
    await using _ = far;
    const settings = { mcp_servers: { crm: { ...server.entry, label: "no-cloud", tools: { people: "direct" } } } };
    const providers = { far: { baseUrl: far.baseUrl, ...entry("fake") } };
    const argv = ["run", "go", "--model", "far:fake"];
    const { done } = await stage.play("loc", { settings, providers, block: entry("fake"), argv, script: [] });
    assert.match(far.chats()[0]?.text ?? "", /Alice/);
    assert.equal(far.chats().length, turns ? 1 : 2, done.stderr);
    assert.equal(done.code, turns ? 6 : 0, turns ? "" : "control");
  }
});

Deno.test("a session whose model turns out to run elsewhere in a search keeps what has become protected", async () => {
  for (const isProtected of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    await stage.plant("config.env", "env", (canary) => `TOKEN=${canary}\n`);
    const routes: NonNullable<FakeServerOptions["routes"]> = {};
    const far = startFakeServer({
      routes,
      async script({ index }) {
        if (index === 0) return read("config.env");
        if (index > 1) return say("Done.");
        if (isProtected) await protectNow(stage);
        Object.assign(routes, WAYS["by its server's word"]?.server.routes);
        return ask({ name: "Explore", input: { task: "look around" } });
      },
    });
    await using _ = far;
    const providers = { far: { baseUrl: far.baseUrl, ...entry("fake") } };
    const argv = ["run", "go", "--model", "far:fake"];
    const { done } = await stage.play("loc", { providers, block: entry("fake"), argv, script: [] });
    assert.equal(far.chats().length, isProtected ? 2 : 4, done.stderr);
    assert.equal(done.code, isProtected ? 6 : 0, isProtected ? "" : "control");
  }
});

Deno.test("background commands without a sandbox end when their model turns out to run elsewhere", {
  ignore: Deno.build.os === "windows",
}, async () => {
  for (const turns of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
    await stage.plant(`${b}/.env`, "env", (canary) => `TOKEN=${canary}\n`);
    await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
    await stage.write(`${a}/open.txt`, "nothing\n");
    await stage.play("loc", { cwd: b, script: [say("Hello.")] });
    const routes: NonNullable<FakeServerOptions["routes"]> = {};
    const command = `touch ready.txt; ${UNTIL("go.txt")}; cp '${b}/.env' x.txt; touch copied.txt; exec sleep 1000`;
    const far = startFakeServer({
      routes,
      async script({ index }) {
        if (index === 0) return ask({ name: "Bash", input: { command, background: true } });
        if (index > 2) return say("Done.");
        if (index === 2) {
          await stage.write(`${a}/go.txt`, "go");
          if (!turns) await standing(`${a}/copied.txt`);
          return read("x.txt");
        }
        await standing(`${a}/ready.txt`);
        if (turns) Object.assign(routes, WAYS["by its server's word"]?.server.routes);
        return read("open.txt");
      },
    });
    await using _ = far;
    const providers = { far: { baseUrl: far.baseUrl, ...entry("fake") } };
    const argv = ["run", "go", "--model", "far:fake", "--permission-mode", "bypassPermissions"];
    const { done } = await stage.play("loc", { cwd: a, providers, block: entry("fake"), argv, script: [] });
    const got = far.received().map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert.equal(far.chats().length, 4, done.stderr);
    assert.equal(got.includes(stage.canary("env")), !turns, turns ? done.stderr : "control: a local model reads it");
  }
});
