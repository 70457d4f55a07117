/** Lists the stored sessions by the ends of their files, so that the size of a transcript does not matter. */
import { didYouMean } from "../config/suggest.ts";
import type { Label } from "../boundary/policy/label.ts";
import { MARKER_NAME } from "../boundary/policy/marker.ts";
import { AgentcliError } from "../errors.ts";
import { listSync } from "../platform/files.ts";
import type { Home } from "../platform/home.ts";
import { readPart } from "../platform/journal.ts";
import { isWithin, join } from "../platform/path.ts";
import { exists } from "../platform/real_path.ts";
import { isPrompt, typedText, type UserItem } from "./item.ts";
import { loadTranscript } from "./load.ts";
import { isSessionId, PROJECTS, projectSlug, transcriptName } from "./paths.ts";
import { readBegunPrompt, readLine } from "./read_line.ts";

/** One stored session, as far as a list shows it. */
export interface SessionSummary {
  id: string;
  slug: string;
  /** Null when the first line of the file is gone. */
  projectRoot: string | null;
  /** The user's first words as they were typed, cut; empty when they were not stored. Not cleaned for a terminal. */
  firstPrompt: string;
  /** The name that a person gave it; empty for none. Not cleaned for a terminal. */
  title: string;
  /** ISO 8601; empty when unknown. */
  created: string;
  /** Milliseconds since 1970, of the file. */
  updated: number;
  turns: number;
  model: string;
  /** The model's provider; undefined where an earlier version wrote the session. */
  provider: string | undefined;
  label: Label;
  /** Bytes of the file. */
  size: number;
}

export type SessionScope = { projectRoot: string } | "all";

/** Bytes of the first words that are shown at most. */
const PROMPT_LIMIT = 200;
/** Bytes read from each end of a file. */
const END_LENGTH = 64 * 1024;

interface SessionFile {
  id: string;
  slug: string;
  modified: number;
  size: number;
}

async function sessionFiles(home: Home, scope: SessionScope): Promise<SessionFile[]> {
  const slugs = scope === "all"
    ? (listSync(home.file(PROJECTS)) ?? []).filter(({ kind }) => kind === "directory").map(({ name }) => name)
    : [projectSlug(scope.projectRoot)];
  const files: SessionFile[] = [];
  for (const slug of slugs) {
    for (const entry of listSync(home.file(`${PROJECTS}/${slug}`)) ?? []) {
      const id = entry.name.replace(/\.jsonl$/, "");
      if (entry.kind !== "file" || id === entry.name || !isSessionId(id)) continue;
      const status = await home.status(transcriptName(slug, id));
      if (status !== null) files.push({ id, slug, modified: status.modified, size: status.size });
    }
  }
  return files.sort((one, other) => other.modified - one.modified || (one.id < other.id ? -1 : 1));
}

/** The sessions of the scope, last written first. Files that hold no line of a session are left out. */
export async function listSessions(home: Home, scope: SessionScope): Promise<SessionSummary[]> {
  return await Array.fromAsync(summaries(home, scope));
}

/**
 * Yields the sessions whose id begins with a text. Two projects can share a directory: then the first line of the file
 * decides.
 */
async function* summaries(home: Home, scope: SessionScope, beginning = ""): AsyncGenerator<SessionSummary> {
  for (const file of await sessionFiles(home, scope)) {
    if (!file.id.startsWith(beginning)) continue;
    const summary = await summarize(home, file);
    const isElsewhere = scope !== "all" && (summary?.projectRoot ?? scope.projectRoot) !== scope.projectRoot;
    if (summary !== null && !isElsewhere) yield summary;
  }
}

/**
 * Finds the session that `id` names in the scope: a whole id, a unique beginning of at least 4 characters, the name
 * that a person gave it, or `latest`. Throws `unknown_session` with similar ids, or with the project that it belongs
 * to.
 */
export async function findSession(home: Home, id: string, scope: SessionScope): Promise<SessionSummary> {
  if (id === "latest") {
    for await (const summary of summaries(home, scope)) return summary;
    throw new AgentcliError("unknown_session", "this project has no session to continue", {
      hint: "see all: agentcli sessions list --all",
    });
  }
  const wanted = id.toLowerCase();
  const byId = /^[0-9a-f-]{4,36}$/.test(wanted) ? await Array.fromAsync(summaries(home, scope, wanted)) : [];
  const listed = byId.length > 0 ? byId : await named(home, wanted, scope);
  const [first, second] = listed;
  if (first !== undefined && second === undefined) return first;
  if (first !== undefined) {
    const what = byId.length > 0 ? "the beginning" : "the name";
    throw new AgentcliError("unknown_session", `"${id}" is ${what} of ${listed.length} sessions`, {
      hint: `give ${byId.length > 0 ? "more of the" : "an"} id: ${
        listed.slice(0, 3).map((summary) => summary.id).join(", ")
      }`,
    });
  }
  throw new AgentcliError("unknown_session", `no session "${id.slice(0, 64)}"${scope === "all" ? "" : " here"}`, {
    hint: await hintFor(home, wanted, scope),
  });
}

/** Returns how long ago something was, in words. */
export function ageText(milliseconds: number): string {
  const minutes = Math.floor(Math.max(0, milliseconds) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes}m ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h ago`;
  return `${Math.floor(minutes / (24 * 60))}d ago`;
}

/** Returns the sessions of a name, ignoring case. */
async function named(home: Home, wanted: string, scope: SessionScope): Promise<SessionSummary[]> {
  if (wanted === "") return [];
  return (await listSessions(home, scope)).filter(({ title }) => title.toLowerCase() === wanted);
}

async function hintFor(home: Home, wanted: string, scope: SessionScope): Promise<string> {
  const isSearched = scope !== "all" && wanted.length >= 4;
  const [other] = isSearched ? await Array.fromAsync(summaries(home, "all", wanted)) : [];
  if (other !== undefined) {
    const { projectRoot: root } = other;
    // That directory belongs to this project.
    const isPart = root !== null && scope !== "all" && isWithin(scope.projectRoot, root) &&
      ![".git", MARKER_NAME].some((name) => exists(join(root, name)));
    const end = root !== null && !exists(root) ? "which is gone" : isPart ? "which is part of this project now" : null;
    const way = end === null
      ? ": go there, or use -C"
      : `, ${end}; read it with: agentcli sessions show --all ${other.id}`;
    return `it belongs to ${root ?? "another project"}${way}`;
  }
  const names = (await listSessions(home, scope)).flatMap(({ id, title }) => title === "" ? [id] : [id, title]);
  const near = didYouMean(wanted, names);
  const see = scope === "all" ? "agentcli sessions list --all" : "agentcli sessions list";
  return near === undefined ? `see: ${see}` : `${near} See: ${see}`;
}

async function summarize(home: Home, file: SessionFile): Promise<SessionSummary | null> {
  const name = transcriptName(file.slug, file.id);
  const head = await headOf(home, name);
  const tail = await tailOf(home, name);
  const base = { id: file.id, slug: file.slug, updated: file.modified, size: file.size };
  if (head.said && tail !== null) {
    const { turn, model, provider, title = "", sessionLabel } = tail;
    return { ...base, ...head.facts, title, turns: turn, model, provider, label: sessionLabel };
  }
  // The lines are longer than what was read, or damaged: read the whole file.
  const stored = await loadTranscript(home, file);
  if (stored.items.length === 0) return null;
  const first = stored.items.find(isPrompt);
  return {
    ...base,
    projectRoot: stored.meta?.projectRoot ?? null,
    created: stored.meta?.timestamp ?? "",
    firstPrompt: first === undefined ? "" : beginningOf(first),
    title: stored.title ?? "",
    turns: stored.turns,
    model: stored.model,
    provider: stored.provider,
    label: stored.label,
  };
}

interface Head {
  facts: Pick<SessionSummary, "projectRoot" | "created" | "firstPrompt">;
  /** Whether the user's first words were found. */
  said: boolean;
}

async function headOf(home: Home, name: string): Promise<Head> {
  const facts: Head["facts"] = { projectRoot: null, created: "", firstPrompt: "" };
  const bytes = await readPart(home, name, { at: 0, length: END_LENGTH });
  const lines = new TextDecoder().decode(bytes ?? new Uint8Array()).split("\n");
  const begun = lines.pop() ?? "";
  for (const text of lines) {
    const line = readLine(text);
    if (line?.kind === "meta") {
      facts.projectRoot = line.meta.projectRoot;
      facts.created = line.meta.timestamp;
    }
    if (line?.kind !== "item" || !isPrompt(line.named.item)) continue;
    facts.firstPrompt = beginningOf(line.named.item);
    return { facts, said: facts.projectRoot !== null };
  }
  const words = readBegunPrompt(begun);
  if (words !== null) facts.firstPrompt = beginningOf({ text: words });
  return { facts, said: words !== null && facts.projectRoot !== null };
}

/** Returns the state at the last whole line; null when it is longer than what is read. */
async function tailOf(home: Home, name: string) {
  const bytes = await readPart(home, name, { length: END_LENGTH });
  if (bytes === null) return null;
  const lines = new TextDecoder().decode(bytes).split("\n");
  for (const text of lines.reverse()) {
    const line = readLine(text);
    if (line !== null && line.kind !== "meta") return line.state;
  }
  return null;
}

/** Returns the beginning of what a person typed in a prompt. */
function beginningOf(prompt: Pick<UserItem, "text" | "typed">): string {
  return typedText(prompt).slice(0, PROMPT_LIMIT);
}
