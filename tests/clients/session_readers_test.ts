/**
 * Programs of others that read transcripts. Run only where `AGENTCLI_TEST_CLIENTS` names a directory in which npm has
 * installed `@anthropic-ai/claude-agent-sdk` and `ccusage@17` (later versions need a binary beside the package), with
 * `node` on the path.
 */
import assert from "node:assert/strict";
import { toolHome } from "../helpers/tool_home.ts";
import { answer, CONTEXT, readCall, SESSION, transcriptOptions, userItem } from "../helpers/transcripts.ts";
import { openTranscript } from "../../src/session/open_transcript.ts";

const clients = Deno.env.get("AGENTCLI_TEST_CLIENTS");

/** Runs node in the directory of the clients with `home` as theirs; gives what it printed. */
async function node(home: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args,
    cwd: clients ?? ".",
    env: { CLAUDE_CONFIG_DIR: home },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** A home with one session of two replies, summarized between them. */
async function storedSession() {
  const place = await toolHome(null);
  const project = await Deno.realPath(await Deno.makeTempDir());
  const clock = { now: () => Date.now() };
  const transcript = await openTranscript(
    place.home,
    transcriptOptions({ projectRoot: project, cwd: project, context: CONTEXT, clock }),
  );
  const usage = { promptTokens: 100, completionTokens: 7, cachedTokens: 40 };
  const picture = { mediaType: "image/png", data: "A".repeat(20_000), width: 8, height: 8, name: "a.png" } as const;
  const items = [{ ...userItem("First words"), images: [picture] }, ...readCall("call00001", "text")];
  await transcript.record(items, { usage });
  const summary = { ...userItem("What was said"), origin: "summary" as const };
  await transcript.record([summary]);
  await transcript.record([summary, answer("Done")], { usage });
  await transcript.close();
  const dispose = async () => {
    await Deno.remove(project, { recursive: true });
    await place[Symbol.asyncDispose]();
  };
  return { home: place.home.path, project, [Symbol.asyncDispose]: dispose };
}

Deno.test({
  name: "the session functions of the SDK list and read a transcript",
  ignore: clients === undefined,
  async fn() {
    await using stored = await storedSession();
    const script = `
      import { getSessionMessages, listSessions } from "@anthropic-ai/claude-agent-sdk";
      const dir = ${JSON.stringify(stored.project)};
      const sessions = await listSessions({ dir });
      const messages = await getSessionMessages(sessions[0].sessionId, { dir });
      process.stdout.write(JSON.stringify({ sessions, messages }));`;
    const { sessions, messages } = JSON.parse(await node(stored.home, ["--input-type=module", "-e", script]));
    assert.deepEqual([sessions[0].sessionId, sessions[0].firstPrompt, sessions[0].cwd], [
      SESSION,
      "First words",
      stored.project,
    ]);
    assert.deepEqual(messages.map((message: { type: string }) => message.type), [
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
  },
});

Deno.test({
  name: "ccusage counts the tokens of a transcript, and no costs",
  ignore: clients === undefined,
  async fn() {
    await using stored = await storedSession();
    const report = JSON.parse(
      await node(stored.home, ["node_modules/ccusage/dist/index.js", "daily", "--json", "--offline"]),
    );
    const { inputTokens, outputTokens, cacheReadTokens, totalCost } = report.totals;
    assert.deepEqual({ inputTokens, outputTokens, cacheReadTokens, totalCost }, {
      inputTokens: 120,
      outputTokens: 14,
      cacheReadTokens: 80,
      totalCost: 0,
    });
  },
});
