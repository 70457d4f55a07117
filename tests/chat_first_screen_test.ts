/** What a chat shows before anything is said: where one is, which model answers and by which server. */
import assert from "node:assert/strict";
import { say, startFakeServer } from "./helpers/fake_server.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function terminalTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_TMUX, fn });
}

terminalTest("the first screen names program, place, branch, model, server, instructions and keys", async () => {
  await using home = await temporaryHome();
  await home.write("AGENTS.md", "Be brief.\n");
  await home.write(".ide/rules/tabs.md", "---\ntrigger: always_on\n---\nUse tabs.\n");
  await home.write(".git/HEAD", "ref: refs/heads/fix/the-port\n");
  await using server = startFakeServer({ script: [say("Here.")] });
  const model = { id: "qwen3:8b", context_window: 40_960 };
  await configure(home, { runtime_a: { baseUrl: server.baseUrl, models: [model] } });
  await using terminal = await openTerminal(["chat"], { home, columns: 140 });
  const shown = await terminal.shows(/^local/m);
  assert.match(
    shown,
    /^agentcli \d+\.\d+\.\d+ {2}\S.*\/project · fix\/the-port\nOllama \(runtime_a\) · qwen3:8b {2}local, window of 41k$/m,
  );
  assert.match(shown, /^instructions: AGENTS\.md, \.ide\/rules\/tabs\.md\n\/help .*@ files$/m);
  assert.match(shown, /^local · Ollama · qwen3:8b · /m);
  await terminal.type("/models");
  await terminal.press("Enter");
  await terminal.shows(/^ {2}Ollama \(runtime_a\) · fake {2}local$/m);
  await terminal.resize(20, 5);
  await terminal.shows(/^>\nlocal/m);
});

terminalTest("a model is switched to by the server's own name, and by its id alone", async () => {
  await using home = await temporaryHome();
  await using one = startFakeServer({ models: ["a"], script: [say("From one.")] });
  await using two = startFakeServer({ models: ["qwen3:8b"], script: [say("From two.")] });
  await configure(home, {
    runtime_a: { baseUrl: one.baseUrl, models: [{ id: "a" }] },
    runtime_d: { baseUrl: two.baseUrl, models: [{ id: "qwen3:8b" }] },
  }, { default_provider: "runtime_a" });
  await using terminal = await openTerminal(["chat", "--model", "llamacpp"], { home, columns: 100 });
  await terminal.shows(/^llama\.cpp \(runtime_d\) · qwen3:8b/m);
  await terminal.type("/model ollama:a");
  await terminal.press("Enter");
  await terminal.shows(/^model: Ollama \(runtime_a\) · a \(local\)$/m);
  await terminal.type("/model qwen3:8b");
  await terminal.press("Enter");
  await terminal.shows(/^model: llama\.cpp \(runtime_d\) · qwen3:8b \(local\)$/m);
});

terminalTest(
  "the choice of the first model names files without their directories, and sends the whole id",
  async () => {
    await using home = await temporaryHome();
    const files = ["/srv/models/qwen/Coder-30B-Q4_K_M.gguf", "/srv/models/qwen/Coder-7B-Q4_K_M.gguf"];
    await using server = startFakeServer({ models: files, script: [say("From a file.")] });
    await configure(home, { runtime_d: { baseUrl: server.baseUrl, models: files.map((id) => ({ id })) } });
    await using terminal = await openTerminal(["chat"], { home, columns: 100 });
    await terminal.shows(
      /^> llama\.cpp \(runtime_d\) · Coder-30B-Q4_K_M {2}[^]*^ {2}llama\.cpp \(runtime_d\) · Coder-7B-Q4_K_M {2}/m,
    );
    await terminal.press("Enter");
    await terminal.shows(/^llama\.cpp \(runtime_d\) · Coder-30B/m);
    await terminal.type("hello");
    await terminal.press("Enter");
    await terminal.shows(/From a file\./);
    assert.equal(server.chats()[0]?.json.model, files[0]);
  },
);

terminalTest("a long id of a model leaves room for where it runs and for its window", async () => {
  await using home = await temporaryHome();
  const file = "/srv/models/qwen/Qwen3-Coder-30B-A3B-Instruct-Q4_K_M-00001-of-00002.gguf";
  const hub = "someone/Qwen3-Coder-30B-A3B-Instruct-1M-with-a-long-name-Q4_K_M";
  await using server = startFakeServer({ models: [file, hub], script: [] });
  const models = [file, hub].map((id) => ({ id, context_window: 32_768 }));
  await configure(home, { runtime_d: { baseUrl: server.baseUrl, models } });
  for (
    const [id, screens] of [
      [file, [
        [100, /^local · llama\.cpp · Qwen3-Coder-30B-A3B-Instruct-Q4_K_M · [\d.]+k? of 32\.8k \(\d %\)$/m],
        [60, /^local · llama\.cpp · Qwen3-Coder-3[^ ]*… · [\d.]+k? of 32\.8k \(\d %\)$/m],
        [40, /^local · Qwen3-Coder-30B-A3B-Instruct-[^ ]*…$/m],
      ]],
      [hub, [
        [80, /^local · llama\.cpp · someone\/Qwen3-Coder-30B-A3[^ ]*… · [\d.]+k? of 32\.8k \(\d %\)$/m],
        [60, /^local · llama\.cpp · someone\/Qwen3[^ ]*… · [\d.]+k? of 32\.8k \(\d %\)$/m],
      ]],
    ] as const
  ) {
    await using terminal = await openTerminal(["chat", "--model", `runtime_d:${id}`], { home, columns: screens[0][0] });
    for (const [columns, status] of screens) {
      await terminal.resize(columns, 24);
      await terminal.shows(status);
    }
    await terminal.resize(140, 24);
    await terminal.shows(/Q4_K_M · [\d.]+k? of 32\.8k/);
    await terminal.type("/status");
    await terminal.press("Enter");
    assert.ok((await terminal.shows(/^ +mode/m)).includes(`runtime_d:${id}`), "all of it on demand");
    await using narrow = await openTerminal(["chat", "--model", `runtime_d:${id}`], { home, columns: 60 });
    await narrow.shows(/^llama\.cpp \(runtime_d\) · (?:Qwen3|someone)[^ ]+ {2}local$/m);
  }
});
