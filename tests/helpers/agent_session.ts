/** A session without disk and network, and a model that does as a script says: for tests of the engine. */
import { admitPrompt } from "../../src/agent/admission.ts";
import { runTurn } from "../../src/agent/turn.ts";
import type { TurnOptions } from "../../src/agent/turn_options.ts";
import { createSession, type Session, type SessionModel, type SessionParts } from "../../src/agent/session.ts";
import { responseLimit } from "../../src/agent/context/tokens.ts";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import type { Workspace } from "../../src/boundary/workspace/workspace.ts";
import type { TurnEvent, TurnResult } from "../../src/protocol/turn_event.ts";
import { wordsOf } from "../../src/provider/chat/content.ts";
import type { Chat, ChatRequest, ChatResponse, WireMessage } from "../../src/provider/types.ts";
import type { Tool } from "../../src/tools/tool.ts";
import type { UserItem } from "../../src/session/item.ts";
import { manualClock } from "./manual_clock.ts";

/** What a model of a test answers; parts left out are empty. */
export type ScriptedReply = Partial<Omit<ChatResponse, "calls">> & {
  calls?: { name: string; input: Record<string, unknown> | null }[];
};

/** A reply from its parts. */
export function replyOf(scripted: ScriptedReply): ChatResponse {
  const calls = (scripted.calls ?? []).map((call) => ({ id: "", raw: "", ...call }));
  return {
    text: "",
    reasoning: "",
    finish: calls.length > 0 ? "tool_calls" : "stop",
    usage: null,
    model: null,
    ...scripted,
    calls,
  };
}

/** A tool that gives what `answer` makes of its input. */
export function testTool(name: string, answer: (input: { path: string }) => string | Error): Tool {
  return {
    name,
    description: `The tool ${name}.`,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    kind: "note",
    subject: (input) => input.path,
    run(input, { signal }) {
      signal.throwIfAborted();
      const content = answer(input);
      return Promise.resolve(
        typeof content === "string"
          ? { content, isError: false, label: "open" }
          : { content: content.message, isError: true, label: "open" },
      );
    },
  };
}

const refused = { refused: "absent", message: "there is no disk" } as const;

export const NO_DISK: Workspace = {
  root: "/project",
  additional: [],
  cwd: "/project",
  ambientLabel: "open",
  local: true,
  isHere: true,
  records: [],
  protection: new ProtectedSet([]),
  refresh: () => Promise.resolve(),
  beforeCall: () => Promise.resolve(),
  countsAsLocal: () => true,
  becomeRemote: () => {},
  ruleAt: () => null,
  lasts: () => Promise.resolve(false),
  resolve: () => Promise.resolve(refused),
  read: () => Promise.resolve(refused),
  peek: () => refused,
  lent: new Set(),
  noteUsed: () => {},
  takeUsed: () => [],
  status: () => Promise.resolve(null),
  list: () => Promise.resolve(refused),
  writeProtection: () => Promise.resolve(null),
  writable: () => Promise.resolve(null),
  write: () => Promise.resolve(refused),
  restore: () => Promise.resolve(refused),
};

/** A session of a model with this window. */
export function testSession(
  window: number,
  parts: Partial<Omit<SessionParts, "model">> & {
    entry?: Partial<SessionModel["entry"]>;
    model?: Partial<SessionModel>;
  } = {},
): Session {
  const entry = { id: "m", aliases: [], ...parts.entry };
  const model: SessionModel = {
    provider: "loc",
    baseUrl: "http://127.0.0.1:8080/v1",
    local: true,
    keySource: "none",
    entry,
    contextWindow: window,
    windowSource: "configured",
    maxTokens: responseLimit(window, entry, undefined),
    askedMaxTokens: undefined,
    temperature: undefined,
    ...parts.model,
  };
  return createSession({
    id: "s",
    system: { text: "You are tested.", label: "open", files: [], parts: [] },
    workspace: NO_DISK,
    tools: [],
    policy: { mode: "bypassPermissions", allow: [], deny: [] },
    secretVariables: [],
    ...parts,
    model,
  });
}

/** Options of a turn that collects its events. */
export function turnOptions(
  chat: Chat,
  more: Partial<TurnOptions> = {},
): TurnOptions & { events: TurnEvent[] } {
  const events: TurnEvent[] = [];
  const clock = manualClock();
  return {
    io: { env: () => undefined, environment: () => ({}), os: "linux", clock },
    signal: new AbortController().signal,
    ask: () => Promise.resolve(null),
    emit: (event) => void events.push(event),
    chat,
    maxTurns: undefined,
    ...more,
    events,
  };
}

/** Words of the user. */
export function words(text: string): UserItem {
  return { kind: "user", text, label: "open" };
}

/** The words of a message of a request; a negative place counts from the end. */
export function wordsAt(request: ChatRequest, at: number): string {
  const message = request.messages.at(at);
  return message === undefined ? "" : wordsOf(message);
}

/** Whether the request asks for a summary. */
export function isCompaction(request: ChatRequest): boolean {
  return request.tools.length === 0 && wordsAt(request, 0).startsWith("You keep the notes");
}

/** What is wrong with a history for some backend; empty for nothing. */
export function historyProblems(messages: readonly WireMessage[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let open = new Set<string>();
  messages.forEach((message, at) => {
    const previous = messages[at - 1]?.role;
    const say = (text: string) => problems.push(`message ${at} (${message.role}): ${text}`);
    if (message.role === "system" && at > 0) say("the system message is the first and only one");
    if (message.role !== "tool" && open.size > 0) say("calls are without results");
    if (at === 0 && message.role !== "system" && message.role !== "user") say("is the first");
    if (message.role === "user" && at > 0 && previous !== "system" && previous !== "assistant") {
      say(`follows ${previous}`);
    }
    if (message.role === "assistant" && previous !== "user" && previous !== "tool") say(`follows ${previous}`);
    const calls = message.role === "assistant" ? message.tool_calls ?? [] : [];
    if (message.content === "" && calls.length === 0) say("is empty");
    if (message.role === "tool" && !open.delete(message.tool_call_id)) say("answers no open call");
    if (message.role === "assistant") open = new Set(calls.map((call) => call.id));
    for (const call of calls) {
      if (seen.has(call.id)) say(`the id ${call.id} stands twice`);
      seen.add(call.id);
      const input: unknown = JSON.parse(call.function.arguments);
      if (typeof input !== "object" || input === null || Array.isArray(input)) say("arguments are no object");
    }
  });
  if (open.size > 0) problems.push("the last calls are without results");
  const last = messages.at(-1)?.role;
  if (last !== "user" && last !== "tool") problems.push(`the last message is of ${last}`);
  return problems;
}

/** Runs a turn with a prompt as a surface would: looked through, then handed to the engine. */
export async function runPrompt(session: Session, item: UserItem, options: TurnOptions): Promise<TurnResult> {
  return await runTurn(session, await admitPrompt(session, item, { allowed: false }), options);
}
