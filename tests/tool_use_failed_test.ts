/** A server that could not read its model's call hands back what the model wrote. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

function failed(generation: string): Step {
  const error = { message: "Failed to call a function.", code: "tool_use_failed", failed_generation: generation };
  return {
    kind: "status",
    status: 400,
    body: JSON.stringify({ error }),
    headers: { "content-type": "application/json" },
  };
}

async function played(generation: string) {
  await using home = await temporaryHome();
  await home.write("a.txt", "the content of a\n");
  await using server = startFakeServer({
    script: [failed(generation), ask(want("read", { path: "a.txt" })), say("Read."), say("Read.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "read it"], { home });
  return { done, chats: server.chats() };
}

Deno.test("the call that a server could not read is run from what it hands back", async () => {
  const { done, chats } = await played('<function=Read>{"file_path": "a.txt"}</function>');
  assert.equal(done.code, 0, done.stderr);
  assert.match(chats[1]?.text ?? "", /the content of a/, "the next request holds the result");
});

Deno.test("where it holds no call, the model is asked again once", async () => {
  const { done, chats } = await played("I would rather read a file");
  assert.equal(done.code, 0, done.stderr);
  assert.equal(chats[0]?.text, chats[1]?.text, "the same request");
  assert.match(chats[2]?.text ?? "", /the content of a/);
});
