/**
 * The demo's "model": a fixed script that reads, searches, edits and runs what the prompt asks for with the tools it is
 * offered, and then tells what they returned. Pure: the same request always gets the same reply.
 * Source: specification of `--model demo`.
 */
import { answer } from "./answer.ts";
import { pickFiles } from "./pick_files.ts";
import type { DemoMessage, DemoRequest } from "./request.ts";
import { type Wishes, wishesOf } from "./wishes.ts";

/** A call that the script makes. */
export interface DemoCall {
  name: string;
  input: Record<string, unknown>;
}

/** A call that was made, with what came back. */
export interface DoneCall extends DemoCall {
  result: string;
}

/** What the script replies: calls, or a final text. */
export type DemoReply = { kind: "calls"; text: string; calls: DemoCall[] } | { kind: "text"; text: string };

/** Rounds of calls after which the script answers whatever it has. */
const ROUND_LIMIT = 4;

/** The calls since the last prompt, a list for each reply. */
function roundsSince(messages: readonly DemoMessage[]): DoneCall[][] {
  const results = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "tool") results.set(message.callId, message.content);
  }
  return messages.filter((message) => message.role === "assistant" && message.calls.length > 0)
    .map((message) => message.calls.map(({ id, name, input }) => ({ name, input, result: results.get(id) ?? "" })));
}

function reads(paths: readonly string[]): DemoCall[] {
  return paths.map((file_path) => ({ name: "Read", input: { file_path } }));
}

/** The first calls for a prompt. */
function begin(wishes: Wishes): DemoCall[] {
  if (wishes.edit) return reads([wishes.edit.file]);
  if (wishes.command !== undefined) {
    return [{ name: "Bash", input: { command: wishes.command, description: "The command of the prompt" } }];
  }
  const search = wishes.search === undefined ? [] : [{ name: "Grep", input: { pattern: literal(wishes.search) } }];
  const calls = [...search, ...reads(wishes.files)];
  return calls.length > 0 ? calls : [{ name: "Glob", input: { pattern: "./*" } }];
}

/** A pattern that matches exactly `text`. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The calls that follow what was done; empty when the answer is next. */
function follow(wishes: Wishes, rounds: readonly DoneCall[][]): DemoCall[] {
  const last = rounds.at(-1) ?? [];
  const [only] = last;
  if (wishes.edit) {
    const { file, from, to } = wishes.edit;
    const wasRead = rounds.length === 1 && /^\s*\d+\t/m.test(only?.result ?? "");
    return wasRead ? [{ name: "Edit", input: { file_path: file, old_string: from, new_string: to } }] : [];
  }
  if (only?.name !== "Glob") return [];
  const files = pickFiles(only.result);
  if (files.length > 0) return reads(files);
  // Nothing to read at the top: a pattern without a slash looks into the directories, once.
  return rounds.length === 1 ? [{ name: "Glob", input: { pattern: "*" } }] : [];
}

/** The reply to a request. Calls only tools that the request offers. */
export function replyTo(request: Pick<DemoRequest, "messages" | "tools">): DemoReply {
  const at = request.messages.findLastIndex((message) => message.role === "user");
  const wishes = wishesOf(request.messages[at]?.content ?? "");
  const rounds = roundsSince(request.messages.slice(at + 1));
  const wanted = rounds.length === 0 ? begin(wishes) : rounds.length < ROUND_LIMIT ? follow(wishes, rounds) : [];
  const calls = wanted.filter((call) => request.tools.includes(call.name));
  if (calls.length > 0) return { kind: "calls", text: "", calls };
  const missing = [...new Set(wanted.map((call) => call.name))];
  return { kind: "text", text: answer(wishes, { rounds, missing }) };
}
