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
  assert.match(shown, /^instructions: AGENTS\.md\n\/help .*@ files$/m);
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
