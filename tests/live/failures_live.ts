import assert from "node:assert/strict";
import { pngFile } from "../helpers/images.ts";
import { runProgram, startProgram, temporaryHome } from "../helpers/program.ts";
import { configureLlama, isIdle, startLlama } from "./llama_server.ts";

/** A reply that continues until something ends it: the model's own end does not count. */
const ENDLESS = { params: { ignore_eos: true, temperature: 0 }, max_tokens: 100_000, context_window: 200_000 };

const TALK = ["run", "Count to sixty.", "--tools", "none"];

Deno.test("Ctrl-C ends the turn with 130, and the server stops generating", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 200_000 });
  await configureLlama(home, server, { model: ENDLESS });
  await using program = startProgram(TALK, { home });
  await program.closeInput();
  await program.stdout.until(/\S/);
  assert.ok(!await isIdle(server), "the server was at work");
  program.kill("SIGINT");
  const done = await program.finished;
  assert.equal(done.code, 130, done.stderr);
  assert.match(done.stderr, /interrupted/);
  await server.until("its slot", () => isIdle(server));
});

// SIGTERM is not tried: llama-server then goes silent up to its next ping, and now and then never ends.
Deno.test("a server that is killed while it answers is exit 4, and what had arrived is printed", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 200_000 });
  await configureLlama(home, server, { model: ENDLESS });
  await using program = startProgram(TALK, { home });
  await program.closeInput();
  const [seen] = await program.stdout.until(/^[^]*\S/);
  server.signal("SIGKILL");
  const done = await program.finished;
  assert.equal(done.code, 4, done.stderr);
  assert.ok(done.stdout.startsWith(seen));
  assert.match(done.stderr, /llama ended its reply before it was complete; retrying[^]*connection refused/);
  const again = await runProgram(TALK, { home });
  assert.equal(again.code, 4);
  assert.match(again.stderr, /refused/);
});

Deno.test("a server that hangs while it answers is left by --timeout with exit 7 and what had arrived", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 200_000 });
  await configureLlama(home, server, { model: ENDLESS });
  await using program = startProgram([...TALK, "--timeout", "5"], { home });
  await program.closeInput();
  const [seen] = await program.stdout.until(/^[^]*\S/);
  server.signal("SIGSTOP");
  const done = await program.finished;
  assert.equal(done.code, 7, done.stderr);
  assert.ok(done.stdout.startsWith(seen));
  server.signal("SIGCONT");
  await server.until("its slot", () => isIdle(server));
});

Deno.test("a second program waits for the only slot, and has it when the first is interrupted", async () => {
  await using home = await temporaryHome();
  await using other = await temporaryHome();
  await using server = await startLlama({ contextWindow: 200_000 });
  await configureLlama(home, server, { model: ENDLESS });
  await configureLlama(other, server, { model: { max_tokens: 32 } });
  await using first = startProgram(TALK, { home });
  await first.closeInput();
  await first.stdout.until(/\S/);
  await using second = startProgram([...TALK, "--output-format", "stream-json"], { home: other });
  await second.closeInput();
  await second.stdout.until(/"init"/);
  first.kill("SIGINT");
  assert.equal((await first.finished).code, 130);
  const done = await second.finished;
  assert.equal(done.code, 0, done.stderr);
});

Deno.test("a server with a key is exit 5 without it and with a wrong one, and answers with it", async () => {
  await using home = await temporaryHome();
  const key = "sk-right-key-000000";
  await using server = await startLlama({ key });
  for (const [apiKey, wanted] of [["local", 5], ["sk-wrong-key-111111", 5], ["$LLAMA_KEY", 0]] as const) {
    await configureLlama(home, server, { apiKey });
    const done = await runProgram(["run", "Say hello.", "--tools", "none"], { home, env: { LLAMA_KEY: key } });
    assert.equal(done.code, wanted, done.stderr);
    assert.doesNotMatch(done.stdout + done.stderr, /sk-(wrong|right)-key/);
    assert.equal(/key/.test(done.stderr), wanted === 5);
  }
});

Deno.test("a prompt longer than the server's context is exit 7 and repeats nothing of it", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama({ contextWindow: 512 });
  await configureLlama(home, server);
  const done = await runProgram(["run", "word ".repeat(3000), "--tools", "none", "--json"], { home });
  assert.equal(done.code, 7, done.stderr);
  const result = JSON.parse(done.stdout);
  assert.equal(result.error_code, "context_overflow");
  assert.doesNotMatch(JSON.stringify(result), /word word/);
});

Deno.test("a model that is not configured and not served is exit 3 and names the one that is", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  await configureLlama(home, server);
  const done = await runProgram(["run", "Say hello.", "--model", "llama:tiny-agnet"], { home });
  assert.equal(done.code, 3);
  assert.match(done.stderr, /tiny-agent/);
});

Deno.test("a model without vision is recognized by its server, or by one refusal, and the chat continues", async () => {
  await using home = await temporaryHome();
  await using server = await startLlama();
  await home.write("a.png", pngFile({ width: 64, height: 64 }));
  await configureLlama(home, server, {});
  const told = await runProgram(["run", "Look.", "--file", "a.png"], { home });
  assert.equal(told.code, 2, told.stderr);
  assert.match(told.stderr, /does not support image input/);
  await configureLlama(home, server, { model: { images: true } });
  const chat = await runProgram(["chat", "--max-turns", "1"], { home, stdin: "What is on @a.png?\nHello.\n" });
  assert.match(chat.stderr, /does not support image input with this model \(HTTP 500\)/);
  // What a small model says to it is nothing to count on, not even that it says something.
  assert.match(chat.stderr, /\b1 response\b/, "the second message is answered");
  assert.equal(chat.stderr.match(/does not support image input/g)?.length, 1);
});
