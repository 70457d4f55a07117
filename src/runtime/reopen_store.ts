/** The stored side of a session that is resumed or forked: what was stored, and where the rest is written. */
import { recordsAt } from "../boundary/policy/project.ts";
import { ProtectedSet } from "../boundary/policy/protected.ts";
import { forkSession, resumeTranscript } from "../session/open_transcript.ts";
import { findSession } from "../session/list.ts";
import { dirname, isWithin, resolve } from "../platform/path.ts";
import { realOrNamed } from "../platform/real_path.ts";
import { type SessionItem, sourceOfFormer, type ToolCall, type ToolResultItem } from "../session/item.ts";
import { loadTranscript, openPart, type StoredSession } from "../session/load.ts";
import type { SessionStore, StorePlace } from "./store.ts";
import type { StoreOptions } from "./session_options.ts";

/** Opens the session `wanted`, or a copy of it. Throws as {@link openStore} does. */
export async function reopenStore(
  wanted: string,
  options: StoreOptions,
  parts: StorePlace & { gitBranch: string | undefined },
): Promise<SessionStore> {
  const { home, projectRoot } = parts;
  const found = await findSession(home, wanted, { projectRoot });
  if (options.forkSession) {
    const id = options.sessionId?.toLowerCase() ?? crypto.randomUUID();
    const whole = await judged(await loadTranscript(home, found), parts);
    // A session that met protected content goes elsewhere only as it was before that (specification of the boundary,
    // "Letting out").
    const stored = parts.local ? whole : openPart(whole);
    if (options.noSessionPersistence) return { id, transcript: null, stored };
    return { id, transcript: await forkSession(home, stored, { ...parts, sessionId: id }), stored };
  }
  if (options.noSessionPersistence) {
    return { id: found.id, transcript: null, stored: await judged(await loadTranscript(home, found), parts) };
  }
  const { stored, transcript } = await resumeTranscript(home, { ...parts, slug: found.slug, id: found.id });
  return { id: found.id, transcript, stored: await judged(stored, parts) };
}

/** Names of arguments that are a file or a directory, as models call them; without `_`, in lower case. */
const PATHS: ReadonlySet<string> = new Set(
  ["path", "file", "filename", "filepath", "absolutepath", "relativepath", "relativeworkspacepath", "targetfile"],
);
/** The head of an attached file. */
const ATTACHED = /^(?:File|Image) (.+?):/gm;

/**
 * Returns a stored session with labels as they count now. What was read from a file may be from before the file was
 * protected, and the file may have changed since: no scan finds that. From there on all is for local models alone, and
 * where the system message was made from it, everything.
 */
export async function judged(
  stored: StoredSession,
  place: Pick<StorePlace, "home" | "projectRoot"> & Partial<Pick<StorePlace, "cwd" | "roots" | "local">>,
): Promise<StoredSession> {
  const { projectRoot: root, cwd = root, roots = [root], home } = place;
  const starts = [...new Set([root, cwd, stored.meta?.cwd ?? root])];
  const { items, context } = stored;
  const settled = settledCalls(items);
  const instructions = instructionsOf(context).map((file) => resolve(root, file));
  const used = items.map((item) => usedBy(item, { starts, root, settled }));
  const all = new Set([instructions, ...used].flat());
  if (all.size === 0) return stored;
  const open = async (roots: readonly string[], path?: string) =>
    await ProtectedSet.open(roots, { path, remembered: await recordsAt(home, roots) });
  // As in a session: for a remote model all of it is walked, for a local one only where a marker is known.
  const own = await open(roots, place.local === false ? undefined : root);
  const others = new Map<string, ProtectedSet>();
  const covered = new Set<string>();
  for (const path of all) {
    for (const name of new Set([path, realOrNamed(path)])) {
      const directory = dirname(name);
      const isOwn = roots.some((root) => isWithin(root, directory));
      const rules = isOwn ? own : others.get(directory) ?? await open([directory], name);
      others.set(directory, rules);
      // A marker that is unusable for a moment does not count.
      if ((own.named(name) ?? rules.named(name)) !== null) covered.add(path);
    }
  }
  const isProtected = (path: string) => covered.has(path);
  const isSystem = instructions.some(isProtected);
  const first = isSystem ? 0 : used.findIndex((paths, at) => items[at]?.label === "open" && paths.some(isProtected));
  if (first < 0) return stored;
  const from = firstHolding(items, first);
  const path = (isSystem ? instructions : used[first])?.find(isProtected);
  const source = path === undefined ? undefined : sourceOfFormer(path, root);
  const named = items.findIndex((item, at) => at >= first && item.kind !== "assistant");
  return {
    ...stored,
    items: items.map((item, at) => {
      if (at < from) return item;
      const isNamed = at === named && item.kind !== "assistant" && source !== undefined;
      return { ...item, label: "no-cloud", ...isNamed ? { source: item.source ?? source } : {} };
    }),
    context: isSystem && context !== null ? { ...context, system: { ...context.system, label: "no-cloud" } } : context,
    label: "no-cloud",
  };
}

/**
 * Returns where the content of a file can first be, given the first item that names it: a call can hold what it wrote.
 */
function firstHolding(items: readonly SessionItem[], first: number): number {
  const found = items[first];
  if (found?.kind === "assistant") return first + 1;
  if (found?.kind !== "tool_result") return first;
  return items.findIndex((item) => item.kind === "assistant" && item.calls.some(({ id }) => id === found.callId));
}

/** Returns the files that the system message was made from; earlier versions did not store them. */
function instructionsOf(context: StoredSession["context"]): readonly string[] {
  const { text = "", files } = context?.system ?? {};
  return files ?? [...text.matchAll(/^Instructions from (.+):$/gm)].map(([, name = ""]) => name);
}

/** The calls whose words count for nothing: they failed, or their results name the files that were used. */
function settledCalls(items: readonly SessionItem[]): ReadonlySet<string> {
  const isSettled = (item: ToolResultItem) => item.isError || item.files !== undefined;
  return new Set(items.flatMap((item) => item.kind === "tool_result" && isSettled(item) ? [item.callId] : []));
}

/**
 * Returns the absolute paths that an item may hold content of: those that were used for it, and, since earlier versions
 * did not store them, those that the words of calls and attachments name.
 */
function usedBy(
  item: SessionItem,
  { starts, root, settled }: { starts: readonly string[]; root: string; settled: ReadonlySet<string> },
): string[] {
  const from = (names: readonly string[]) => names.flatMap((name) => starts.map((start) => resolve(start, name)));
  if (item.kind === "assistant") return from(item.calls.filter(({ id }) => !settled.has(id)).flatMap(pathsOf));
  const files = (item.files ?? []).map((file) => resolve(root, file));
  if (item.kind !== "user" || item.files !== undefined || item.label !== "open") return files;
  return from([...item.text.matchAll(ATTACHED)].map(([, name = ""]) => name));
}

function pathsOf({ name: tool, input }: ToolCall): string[] {
  // Names may be shown.
  if (/^(?:glob|ls|list)/i.test(tool)) return [];
  return Object.entries(input ?? {}).flatMap(([name, value]) =>
    typeof value === "string" && PATHS.has(name.toLowerCase().replace(/[_-]/g, "")) ? [value] : []
  );
}
