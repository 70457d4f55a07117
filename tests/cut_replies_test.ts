import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, startProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

/** Ends after the words `one two`. */
const CUT: Step = { kind: "cut", events: 3, message: { kind: "message", text: "one two three four" } };
const GONE: Step = { kind: "raw", bytes: "" };
const EMPTY: Step = { kind: "empty" };

async function ran(script: readonly Step[], args: readonly string[] = []) {
  const home = await temporaryHome();
  const server = startFakeServer({ script });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  const done = await runInProcess(["run", "count", ...args], { home });
  return {
    done,
    chats: server.chats(),
    stored: await transcripts(home),
    async [Symbol.asyncDispose]() {
      await server.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** Everything that is stored of the sessions of a home. */
async function transcripts({ agentcliHome }: TemporaryHome): Promise<string> {
  let text = "";
  for await (const project of Deno.readDir(`${agentcliHome}/projects`)) {
    if (!project.isDirectory) continue;
    for await (const file of Deno.readDir(`${agentcliHome}/projects/${project.name}`)) {
      if (file.name.endsWith(".jsonl")) {
        text += await Deno.readTextFile(`${agentcliHome}/projects/${project.name}/${file.name}`);
      }
    }
  }
  return text;
}

Deno.test("a reply that is cut after its first words is asked for again, and the second one is the answer", async () => {
  await using run = await ran([CUT, say("All four.")]);
  assert.equal(run.done.code, 0, run.done.stderr);
  assert.equal(run.done.stdout, "one two \nAll four.\n");
  assert.match(run.done.stderr, /^ {2}loc ended its reply.*; retrying, the text so far is discarded$/m);
  assert.equal(run.chats.length, 2);
  assert.equal(run.chats[0]?.text, run.chats[1]?.text, "the same request");
  assert.match(run.stored, /All four\./);
  assert.doesNotMatch(run.stored, /one two/);
});

Deno.test("also between two rounds of tools, each of which runs once", async () => {
  const look = (name: string) => ask(want("shell", { command: `echo x >> ${name}` }));
  await using run = await ran([look("a"), CUT, look("b"), say("Done.")], ["--permission-mode", "bypassPermissions"]);
  assert.equal(run.done.code, 0, run.done.stderr);
  assert.equal(run.chats.length, 4);
  assert.equal(run.chats[1]?.text, run.chats[2]?.text);
  assert.equal(run.done.stderr.match(/^\* Bash /gm)?.length, 2);
});

Deno.test("machine formats hold the answer alone, and every message that was begun is ended", async () => {
  await using json = await ran([CUT, say("All four.")], ["--output-format", "json"]);
  assert.equal(JSON.parse(json.done.stdout).result, "All four.");
  await using lines = await ran([CUT, say("All four.")], [
    "--output-format",
    "stream-json",
    "--include-partial-messages",
  ]);
  const events = lines.done.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(events.filter((event) => event.subtype === "api_retry").length, 1);
  assert.deepEqual(events.filter((event) => event.type === "assistant").map((event) => event.message.content[0].text), [
    "All four.",
  ]);
  const streamed = events.filter((event) => event.type === "stream_event").map(({ event }) => event);
  const starts = streamed.filter((event) => event.type === "message_start");
  assert.equal(new Set(starts.map((event) => event.message.id)).size, 2);
  assert.equal(streamed.filter((event) => event.type === "message_stop").length, 2);
  assert.equal(events.at(-1).result, "All four.");
});

Deno.test("a reply that is cut twice is exit 4, says so, and is stored as no answer", async () => {
  await using run = await ran([CUT, CUT, say("never")]);
  assert.equal(run.done.code, 4);
  assert.match(run.done.stderr, /two attempts failed; the answer above is incomplete\n {2}look at the server's log/);
  assert.equal(run.chats.length, 2);
  assert.doesNotMatch(run.stored, /one two/);
  await using json = await ran([CUT, CUT], ["--output-format", "json"]);
  const result = JSON.parse(json.done.stdout);
  assert.equal(result.error_code, "connection_lost");
  assert.equal("result" in result, false);
});

Deno.test("a server that is gone after its first words is reported as that", async () => {
  await using run = await ran([CUT, GONE, GONE]);
  assert.equal(run.done.code, 4);
  assert.match(run.done.stderr, /ended its reply before it was complete; retrying/);
  assert.doesNotMatch(run.done.stderr, /the answer above is incomplete/);
});

Deno.test("a bare [DONE] is asked for once, and the second is reported with both its reasons", async () => {
  await using once = await ran([EMPTY, say("Here.")]);
  assert.equal(once.done.code, 0, once.done.stderr);
  assert.equal(once.done.stdout, "Here.\n");
  await using twice = await ran([EMPTY, EMPTY, say("never")]);
  assert.equal(twice.done.code, 1);
  assert.equal(twice.chats.length, 2);
  assert.match(
    twice.done.stderr,
    /empty reply; two attempts failed\n {2}.*when the model fails.*longer than the window/,
  );
});

Deno.test("what a person interrupts is stored as interrupted", async () => {
  await using home = await temporaryHome();
  const gate = Promise.withResolvers<void>();
  const message = say("one two three four");
  await using server = startFakeServer({ script: [{ kind: "paused", events: 3, gate: gate.promise, message }] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
  await using run = startProgram(["run", "count"], { home });
  await run.closeInput();
  await run.stdout.until(/two/);
  run.kill("SIGINT");
  assert.equal((await run.finished).code, 130);
  gate.resolve();
  assert.match(await transcripts(home), /one two \\n\\n\[interrupted\]/);
});
