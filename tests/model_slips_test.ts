/** Slips of small models with files, through the whole program: what would be lost is refused, what is meant is done. */
import assert from "node:assert/strict";
import { ask, type PlannedCall, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

/** Runs one turn in which the model makes these calls, one a response; returns the results and the files after it. */
async function runCalls(files: Record<string, string>, calls: readonly PlannedCall[], window = 32_768) {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [...calls.map((call) => ask(call)), say("Done.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: window }] } });
  for (const [name, content] of Object.entries(files)) await home.write(name, content);
  const done = await runInProcess(["run", "go", "--permission-mode", "bypassPermissions"], { home });
  assert.equal(done.code, 0, done.stderr);
  const messages: { role: string; content: string }[] = server.chats().at(-1)?.json.messages;
  const after = Object.fromEntries(
    await Promise.all(Object.keys(files).map(async (name) => [name, await home.read(name)])),
  );
  return { results: messages.filter(({ role }) => role === "tool").map(({ content }) => content), after };
}

const call = (name: string, input: Record<string, unknown>): PlannedCall => ({ name, input });

Deno.test("a page of a long file is not enough to write it anew", async () => {
  const text = Array.from({ length: 1494 }, (_, at) => `row ${at + 1}\n`).join("");
  const { results, after } = await runCalls({ "a.txt": text }, [
    call("Read", { file_path: "a.txt", limit: 20 }),
    call("Write", { file_path: "a.txt", content: "row 1\n" }),
  ]);
  assert.match(results[1] ?? "", /has 1,494 lines, .* call Edit/);
  assert.equal(after["a.txt"], text);
});
