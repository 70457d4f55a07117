import assert from "node:assert/strict";
import {
  isCompaction,
  NO_DISK,
  replyOf,
  testSession,
  testTool,
  turnOptions,
} from "../../tests/helpers/agent_session.ts";
import { AgentcliError } from "../errors.ts";
import { plainProfile } from "../provider/profiles/profile.ts";
import { compactSession } from "./context/compact.ts";
import { ContentScanner } from "./content_scanner.ts";
import { explore } from "./explore.ts";
import { startTurnState } from "./turn_result.ts";
import { UNKNOWN_SERVER } from "./server.ts";
import type { Chat } from "../provider/types.ts";

const refusal = () => new AgentcliError("policy_refused", "no");

/** A scanner that finds `secret`, and nothing else, to be protected. */
const scanner = Object.assign(Object.create(ContentScanner.prototype) as ContentScanner, {
  mayFind: () => true,
  checkPart: (texts: readonly string[], _: unknown, { local }: { local: boolean }) =>
    !local && texts.some((text) => text.includes("secret")) ? Promise.reject(refusal()) : Promise.resolve("open"),
  checkRequest: (body: unknown) =>
    JSON.stringify(body).includes("secret") ? Promise.reject(refusal()) : Promise.resolve(),
});

/**
 * A local session that has searches, and summaries where `compact` is one, made by a remote model; what that one was
 * asked.
 */
function sessionWith(compact: Chat | null, search: Chat) {
  const model = { provider: "far", local: false };
  const far = testSession(32_768, { model });
  const side = {
    provider: "far",
    local: false,
    id: "c",
    contextWindow: 100_000,
    maxTokens: undefined,
    params: undefined,
  };
  return testSession(32_768, {
    tools: [testTool("Read", ({ path }) => path)],
    scanner,
    server: { ...UNKNOWN_SERVER, compactModel: () => Promise.resolve(compact && { ...side, chat: compact }) },
    explorer: ({ ownOnly }) =>
      Promise.resolve(
        ownOnly ? null : {
          model: far.model,
          server: UNKNOWN_SERVER,
          profile: plainProfile(far.model.entry),
          toolProtocol: "native",
          workspace: { ...NO_DISK, local: false },
          scanner,
          chat: () => search,
        },
      ),
  });
}

const own: Chat = (request) => Promise.resolve(replyOf({ text: isCompaction(request) ? "a summary of it" : "done" }));

/** Adds turns, enough of them for a summary. */
function fill({ items }: ReturnType<typeof sessionWith>): void {
  for (let at = 0; at < 6; at++) {
    items.push({ kind: "user", text: `${at} `.repeat(300), label: "open" });
    items.push({ kind: "assistant", id: `${at}`, text: "x ".repeat(9000), reasoning: "", calls: [], label: "open" });
  }
}

Deno.test("a remote model of a role hears nothing more of a session in which one was refused something", async () => {
  for (const found of ["secret", "nothing"]) {
    let asked = 0;
    const reading: Chat = ({ messages }) => {
      asked++;
      const isFirst = messages.at(-1)?.role === "user";
      return Promise.resolve(replyOf(isFirst ? { calls: [{ name: "Read", input: { path: found } }] } : { text: "it" }));
    };
    const summary: Chat = () => {
      asked++;
      return Promise.resolve(replyOf({ text: "a summary from afar" }));
    };
    const session = sessionWith(summary, reading);
    const options = turnOptions(own);
    const search = () => explore(session, { task: "look", callId: "c" }, options);
    const isRefused = found === "secret";
    assert.equal((await search()).isError, isRefused);
    const before = asked;
    const later = await search();
    assert.equal(later.isError, isRefused);
    if (isRefused) assert.match(later.content, /was refused something in this session\. Call Grep and Read instead/);
    fill(session);
    const manual = { ...options, state: startTurnState(options.io.clock), trigger: "manual" } as const;
    assert.ok(await compactSession(session, manual));
    assert.equal(asked > before, !isRefused, isRefused ? "" : "control");
  }
});

Deno.test("a refused summary ends searches by other models too, and the session's own model makes it", async () => {
  let asked = 0;
  const count: Chat = () => {
    asked++;
    return Promise.resolve(replyOf({ text: "there" }));
  };
  const session = sessionWith(() => Promise.reject(refusal()), count);
  fill(session);
  const options = turnOptions(own);
  const search = () => explore(session, { task: "look", callId: "c" }, options);
  assert.equal((await search()).content, "there", "control");
  assert.ok(await compactSession(session, { ...options, state: startTurnState(options.io.clock), trigger: "manual" }));
  assert.match(JSON.stringify(session.items), /a summary of it/);
  assert.ok((await search()).isError);
  assert.equal(asked, 1);
});
