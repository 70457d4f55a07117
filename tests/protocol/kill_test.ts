import assert from "node:assert/strict";
import { startClient } from "../helpers/client.ts";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { configure, runProgram, temporaryHome } from "../helpers/program.ts";

/** How often the program is killed; `AGENTCLI_KILLS=100` for the long run. */
const KILLS = Number(Deno.env.get("AGENTCLI_KILLS") ?? 8);
/** A whole run of the program takes about so long; the kill comes at any moment of it. Milliseconds. */
const LONGEST_LIFE = 500;

Deno.test(`killed ${KILLS} times at any moment, a session resumes with all that was sent to its client`, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "alpha\n");
  await using server = startFakeServer({
    script: ({ json }) => {
      const last = json.messages.at(-1);
      return last.role === "tool" ? say(`after ${last.tool_call_id}`) : ask(want("read", { path: "a.txt" }));
    },
  });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 1_000_000 }] } });
  /** What was shown, in order: calls, results, answers, and messages that went into a running turn. */
  const told: string[] = [];
  const lives: number[] = [];
  let begun = false;
  for (let kill = 0; kill < KILLS; kill++) {
    const life = Math.random() * LONGEST_LIFE;
    lives.push(Math.round(life));
    await using client = startClient(begun ? ["--continue"] : [], { home });
    await client.say(`question ${kill} a`);
    await client.say(`question ${kill} b`);
    const timer = setTimeout(() => client.program.kill("SIGKILL"), life);
    await client.program.finished.finally(() => clearTimeout(timer));
    for (const line of client.lines()) {
      if (line.type === "result") assert.equal(line.subtype, "success", `${line.errors} after ${lives}`);
      const block = line.message?.content?.[0];
      if (block?.type === "tool_use") told.push(`call ${block.id}`);
      if (block?.type === "tool_result") told.push(`result ${block.tool_use_id}`);
      if (block?.type === "text") told.push(block.text);
    }
    begun ||= told.length > 0;
  }
  const done = await runProgram(["run", "the end", ...begun ? ["--continue"] : []], { home });
  assert.equal(done.code, 0, done.stderr);
  const { messages } = server.chats().at(-1)?.json;
  const held: string[] = [];
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) held.push(`call ${call.id}`);
    if (message.role === "tool") held.push(`result ${message.tool_call_id}`);
    else if (message.role !== "system" && message.content !== "") held.push(message.content);
  }
  let at = 0;
  for (const text of told) {
    at = held.indexOf(text, at) + 1;
    assert.ok(at > 0, `${text} was sent and is lost; killed after ${lives} ms`);
  }
});
