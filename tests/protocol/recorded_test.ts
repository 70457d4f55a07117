import assert from "node:assert/strict";
import { controlLineSchema, eventSchema } from "../../src/protocol/schema.ts";
import { say, startFakeServer } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, temporaryHome } from "../helpers/program.ts";
import recordings from "../fixtures/protocol/clients.json" with { type: "json" };

/** What `AGENTCLI_RECORD` of the tests with real clients kept, without answers to questions of that run. */
interface Recording {
  client: string;
  arguments: string[];
  input: string[];
}

async function replay(recording: Recording): Promise<void> {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: () => say("Echo.") });
  const model = (id: string) => ({ id, context_window: 32768 });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: [model("fake"), model("other")] },
  }, { default_provider: "loc", default_model: "fake" });
  // Whatever lies in the directory that was recorded would be looked through.
  const words = recording.arguments.map((word) => word.replace(/(^|=)\/tmp$/, `$1${home.tmp}`));
  const done = await runInProcess(words, { home, stdin: recording.input.join("\n") + "\n" });
  const told = `${recording.client}: ${recording.arguments.join(" ")}\n${done.stderr}`;
  const lines = done.stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  for (const line of lines) (line.type.startsWith("control_") ? controlLineSchema : eventSchema).parse(line);
  const sent = recording.input.map((line) => JSON.parse(line));
  const count = (all: { type: string }[], type: string) => all.filter((line) => line.type === type).length;
  assert.equal(count(lines, "result"), count(sent, "user"), told);
  const unknown = recording.arguments.some((word) => /nowhere:|loc:broken/.test(word));
  assert.equal(done.code, unknown ? 3 : 0, told);
  const answered = lines.filter((line) => line.type === "control_response").map((line) => line.response.request_id);
  const asked = sent.filter((line) => line.type === "control_request").map((line) => line.request_id);
  assert.deepEqual(answered, asked, told);
  assert.doesNotMatch(done.stderr, /option (?!--some-new-option)\S+ is not known/, told);
}

for (const client of new Set(recordings.map((recording) => recording.client))) {
  Deno.test(`what the ${client} sends is taken as it is`, async () => {
    for (const recording of recordings) if (recording.client === client) await replay(recording);
  });
}
