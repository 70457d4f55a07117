import assert from "node:assert/strict";
import { NO_DISK, runPrompt, testSession, testTool, turnOptions, words } from "../../tests/helpers/agent_session.ts";
import { ask as asking, startFakeServer } from "../../tests/helpers/fake_server.ts";
import { manualClock } from "../../tests/helpers/manual_clock.ts";
import { ProtectedSet } from "../boundary/policy/protected.ts";
import { AgentcliError } from "../errors.ts";
import { chat } from "../provider/chat/chat.ts";
import { HttpClient } from "../provider/http/client.ts";
import type { Chat, Endpoint } from "../provider/types.ts";
import { ContentScanner } from "./content_scanner.ts";
import { admitted } from "./admission.ts";
import { Localities } from "../provider/backends/localities.ts";

/** A scanner that notes the messages of each request it is asked about, and refuses the request of this number. */
function notingScanner(refused: number): ContentScanner & { messages: string[] } {
  const messages: string[] = [];
  return Object.assign(Object.create(ContentScanner.prototype) as ContentScanner, {
    messages,
    checkRequest(body: unknown) {
      assert(typeof body === "object" && body !== null && "messages" in body);
      messages.push(JSON.stringify(body.messages));
      return messages.length === refused
        ? Promise.reject(new AgentcliError("policy_refused", "no"))
        : Promise.resolve();
    },
    checkPart: () => Promise.resolve("open" as const),
    mayFind: () => true,
  });
}

Deno.test("a remote server gets the very bytes that were checked, of a long history too, and nothing after a refusal", async () => {
  const rounds = 8;
  await using server = startFakeServer({
    host: "127.0.0.2",
    script: Array.from({ length: rounds + 1 }, (_, at) => asking({ name: "Look", input: { path: `file ${at}` } })),
  });
  const clock = manualClock();
  const client = new HttpClient({ env: () => undefined, clock });
  const endpoint: Endpoint = {
    provider: "rem",
    baseUrl: server.baseUrl,
    keySource: "none",
    headers: {},
    caCerts: [],
    timeout: { connect: 10, firstByte: 600, idle: 300 },
    local: false,
  };
  const scanner = notingScanner(rounds);
  const marker = { path: "/project/.agentclisecret", lines: [{ tier: "no-cloud", pattern: ".env" }] as const };
  const remembered = [{ markers: [{ ...marker, inode: 0 }], derived: [] }];
  const session = testSession(1_000_000, {
    scanner,
    workspace: { ...NO_DISK, protection: new ProtectedSet(["/project"], { remembered }) },
    model: { provider: "rem", local: false },
    tools: [testTool("Look", ({ path }) => `${path}: "\u20ac" \u{1f600} \\ \n`.repeat(1500))],
  });
  const target = {
    located: { endpoint, model: "m", trusted: false },
    localities: new Localities(client, { clock }),
  };
  const ask: Chat = (request, asked) => chat(client, { endpoint, request }, { ...asked, clock });
  const options = turnOptions(admitted(ask, target, () => session));
  const result = await runPrompt(session, words("look"), options);
  client.close();
  assert.equal(result.errorCode, "policy_refused");
  const sent = server.chats().map((request) => request.text);
  assert.equal(sent.length, rounds - 1);
  assert.equal(scanner.messages.length, rounds);
  assert((sent.at(-1)?.length ?? 0) > 100_000);
  sent.forEach((text, at) =>
    assert(text.includes(`"messages":${scanner.messages[at]},"stream":true`), `request ${at}`)
  );
});
