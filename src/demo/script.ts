/**
 * The demo's model: a fixed script that calls the offered tools as the prompt asks, then reports what they returned.
 */
import { answer } from "./answer.ts";
import type { DemoMessage, DemoRequest } from "./server.ts";
import { type Intents, intentsOf } from "./intents.ts";

interface DemoCall {
  name: string;
  input: Record<string, unknown>;
}

export interface DoneCall extends DemoCall {
  result: string;
}

export type DemoReply = { kind: "calls"; text: string; calls: DemoCall[] } | { kind: "text"; text: string };

/** Rounds of calls after which the script answers whatever it has. */
const ROUND_LIMIT = 4;

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

function begin(intents: Intents): DemoCall[] {
  if (intents.edit) return reads([intents.edit.file]);
  if (intents.command !== undefined) {
    return [{ name: "Bash", input: { command: intents.command, description: "The command of the prompt" } }];
  }
  const search = intents.search === undefined ? [] : [{ name: "Grep", input: { pattern: literal(intents.search) } }];
  const calls = [...search, ...reads(intents.files)];
  return calls.length > 0 ? calls : [{ name: "Glob", input: { pattern: "./*" } }];
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Returns the calls that follow what was done; empty when the answer is next. */
function follow(intents: Intents, rounds: readonly DoneCall[][]): DemoCall[] {
  const last = rounds.at(-1) ?? [];
  const [only] = last;
  if (intents.edit) {
    const { file, from, to } = intents.edit;
    const wasRead = rounds.length === 1 && /^\s*\d+\t/m.test(only?.result ?? "");
    return wasRead ? [{ name: "Edit", input: { file_path: file, old_string: from, new_string: to } }] : [];
  }
  if (only?.name !== "Glob") return [];
  const files = pickFiles(only.result);
  if (files.length > 0) return reads(files);
  // Nothing to read at the top: a pattern without a slash looks into the directories, once.
  return rounds.length === 1 ? [{ name: "Glob", input: { pattern: "*" } }] : [];
}

/** Returns the reply to a request. Calls only tools that the request offers. */
export function replyTo(request: Pick<DemoRequest, "messages" | "tools">): DemoReply {
  const at = request.messages.findLastIndex((message) => message.role === "user");
  const intents = intentsOf(request.messages[at]?.content ?? "");
  const rounds = roundsSince(request.messages.slice(at + 1));
  const wanted = rounds.length === 0 ? begin(intents) : rounds.length < ROUND_LIMIT ? follow(intents, rounds) : [];
  const calls = wanted.filter((call) => request.tools.includes(call.name));
  if (calls.length > 0) return { kind: "calls", text: "", calls };
  const missing = [...new Set(wanted.map((call) => call.name))];
  return { kind: "text", text: answer(intents, { rounds, missing }) };
}

/** Best first; within one row the shorter path wins. */
const RANKS: readonly RegExp[] = [
  /^readme(\.\w+)?$/i,
  /^(package\.json|deno\.jsonc?|pyproject\.toml|cargo\.toml|go\.mod|pom\.xml|build\.gradle(\.kts)?|gemfile|composer\.json)$/i,
  /^(main|index|app|mod|lib|cli|server|__main__)\.(ts|js|mjs|tsx|jsx|py|go|rs|java|rb|c|cpp|sh)$/i,
  /\.md$/i,
  /\.(ts|js|mjs|py|go|rs|java|rb|c|cpp|sh|toml|ya?ml|json|txt)$/i,
];

/** Files read when the prompt names none. */
const CHOICE = 3;

function rankOf(path: string): number {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const rank = RANKS.findIndex((pattern) => pattern.test(name));
  return /(^|[-.])lock\b/.test(name) ? -1 : rank;
}

/** At most three paths of a Glob result, best first: README, manifest, main file, then others that hold text. */
function pickFiles(listing: string): string[] {
  return listing.split("\n")
    .map((line) => line.trim())
    .filter((path) => path !== "" && rankOf(path) >= 0)
    .map((path) => ({ path, rank: rankOf(path), depth: path.split("/").length }))
    .sort((a, b) => a.rank - b.rank || a.depth - b.depth || (a.path < b.path ? -1 : 1))
    // One of a rank first, so that three manifests do not push out the main file.
    .filter((entry, at, all) => entry.rank > 2 || all.findIndex(({ rank }) => rank === entry.rank) === at)
    .slice(0, CHOICE)
    .map(({ path }) => path);
}
