import assert from "node:assert/strict";
import { placeOf, transcriptHome } from "../../tests/helpers/transcripts.ts";
import { loadTranscript } from "./load.ts";

/** `AGENTCLI_TEST_KILLS=100` for the long form. */
const KILLS = Number(Deno.env.get("AGENTCLI_TEST_KILLS") ?? 15);

/** Lets a writer run until it has acknowledged `count` items more, kills it, and gives the last acknowledged one. */
async function writeAndKill(home: string, count: number): Promise<number> {
  const script = new URL("../../tests/helpers/transcript_writer.ts", import.meta.url).href;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", "--no-check", "--quiet", script, home],
    env: { DENO_NO_UPDATE_CHECK: "1" },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  let killed = false;
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (killed || text.split("\n").length <= count) continue;
    killed = true;
    child.kill("SIGKILL");
  }
  await child.status;
  assert.ok(killed, "the writer ended by itself");
  return Number(text.slice(0, text.lastIndexOf("\n")).split("\n").at(-1));
}

Deno.test(`a session that is killed ${KILLS} times and gone on with has lost nothing that was acknowledged`, async () => {
  await using place = await transcriptHome();
  for (let kill = 0; kill < KILLS; kill++) {
    const acknowledged = await writeAndKill(place.home.path, 1 + Math.floor(Math.random() * 12));
    const { items, problems } = await loadTranscript(place.home, placeOf());
    assert.deepEqual(problems, []);
    assert.ok(items.length > acknowledged, `${items.length} items, ${acknowledged} acknowledged`);
    const numbers = items.map((item) => item.kind === "user" ? parseInt(item.text) : NaN);
    assert.deepEqual(numbers, items.map((_, index) => index));
  }
});
