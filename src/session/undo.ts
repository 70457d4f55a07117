/**
 * Taking back what tools did to files, turn by turn, also after a restart. Previous versions lie in the home, outside of
 * the project; those of protected files stay in memory and last as long as the process (specification of the boundary, §5).
 */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import type { Refusal, ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { AgentcliError } from "../errors.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { reasonOf } from "./place.ts";
import { addChange, type FileState, keepContent, keptContent, storedChanges } from "./undo_files.ts";

/** Most bytes of one file that are kept. */
const CONTENT_LIMIT = 64 * 1024 * 1024;

/** A change that a tool is about to make. */
export interface FileChange {
  turn: number;
  /** Absolute. */
  path: string;
  /** Null when there is no such file yet. */
  before: Uint8Array<ArrayBuffer> | null;
  after: Uint8Array<ArrayBuffer>;
  /** The higher of both contents. */
  label: Label;
}

/** The changes of one turn to one file, together. */
export interface TurnChange {
  path: string;
  /** The content before the turn; `not_kept`: too large, or protected and of an earlier process. */
  before: { kind: "absent" } | { kind: "content"; bytes: Uint8Array<ArrayBuffer> } | {
    kind: "not_kept";
    reason: string;
  };
  /** The highest of all contents that the turn gave it, and of the one before. */
  label: Label;
}

/** The result of restoring one file. */
export type Restored =
  | { path: string; outcome: "restored" | "removed" | "unchanged" }
  | { path: string; outcome: "refused"; reason: string };

/** The changes of one session. */
export interface UndoStore {
  /** Call before the change is made. Never rejects for lack of room: then undo of it lasts as long as the process. */
  record(change: FileChange): Promise<void>;
  /** Turns with changes that were not taken back, in order. */
  turns(): number[];
  /** Returns the changes of a turn, for a diff with the current files. */
  changes(turn: number): Promise<TurnChange[]>;
  /**
   * Takes a turn back, file by file: byte for byte as it was before, or not at all where the file is no longer what the
   * turn left. What was refused stays to be taken back. `onReplaced` is told what {@link UndoStore.redo} takes. Throws
   * `usage` for a turn that changed nothing.
   */
  undo(
    turn: number,
    workspace: Workspace,
    options?: { onReplaced?(change: FileChange): void },
  ): Promise<Restored[]>;
  /** Makes a change again that was taken back, where the file is still what that left. */
  redo(change: FileChange, workspace: Workspace): Promise<Restored>;
}

interface Entry {
  turn: number;
  path: string;
  label: Label;
  state: { before: FileState; after: string } | null;
  /** Where the content before is: in memory, on the disk, or nowhere. */
  content: { kind: "memory"; bytes: Uint8Array<ArrayBuffer> } | { kind: "disk" } | { kind: "none"; reason: string };
}

/** Whose undo it is. */
export interface UndoOptions {
  sessionId: string;
  /** Told once when nothing more can be kept, and waited for. */
  onTrouble(text: string): void | Promise<void>;
}

/** Opens the undo of a session, with what an earlier process kept. Without a home nothing outlives the process. */
export async function openUndoStore(home: Home | null, options: UndoOptions): Promise<UndoStore> {
  const store = new HomeUndo(home, options);
  await store.load();
  return store;
}

class HomeUndo implements UndoStore {
  readonly #home: Home | null;
  /** False once storing failed. */
  #storing: boolean;
  #entries: Entry[] = [];

  constructor(home: Home | null, readonly options: UndoOptions) {
    this.#home = home;
    this.#storing = home !== null;
  }

  async load(): Promise<void> {
    if (this.#home === null) return;
    const storedNames = new Map<string, string>();
    for (const change of await storedChanges(this.#home, this.options.sessionId)) {
      const { turn } = change;
      if (change.kind === "undone") this.#drop({ turn, path: storedNames.get(change.path) ?? change.path });
      else if (change.kind === "redacted") {
        const content = { kind: "none", reason: "it is protected: its undo lasted as long as the process" } as const;
        const path = `a protected file (${change.path.slice(0, 8)})`;
        storedNames.set(change.path, path);
        this.#entries.push({ turn, path, label: "no-cloud", state: null, content });
      } else {
        const { before, after, path } = change;
        const content = change.kept
          ? { kind: "disk" as const }
          : { kind: "none" as const, reason: "it was too large to be kept" };
        this.#entries.push({ turn, path, label: "open", state: { before, after }, content });
      }
    }
  }

  async record(change: FileChange): Promise<void> {
    const { turn, path, before } = change;
    const label = labelOf(change);
    const state = {
      before: before === null
        ? { kind: "absent" } as const
        : { kind: "content", digest: await sha256(before) } as const,
      after: await sha256(change.after),
    };
    const kept = before === null || before.length <= CONTENT_LIMIT;
    const content: Entry["content"] = kept
      ? { kind: "memory", bytes: before ?? new Uint8Array() }
      : { kind: "none", reason: "it was too large to be kept" };
    const entry: Entry = { turn, path, label, state, content };
    this.#entries.push(entry);
    await this.#store(async (home) => {
      const { sessionId } = this.options;
      if (label !== "open") {
        return await addChange(home, sessionId, { kind: "redacted", turn, path: await nameDigest(path) });
      }
      if (kept && before !== null && state.before.kind === "content") {
        await keepContent(home, sessionId, { digest: state.before.digest, bytes: before });
      }
      await addChange(home, sessionId, { kind: "open", turn, path, ...state, kept });
      // The disk has it: memory need not.
      if (kept) entry.content = { kind: "disk" };
    });
  }

  turns(): number[] {
    return [...new Set(this.#entries.map((entry) => entry.turn))].sort((one, other) => one - other);
  }

  async changes(turn: number): Promise<TurnChange[]> {
    return await Promise.all(
      this.#files(turn).map(async ({ first, last }) => ({
        path: first.path,
        // Labels only rise in a session.
        label: last.label,
        before: await this.#before(first),
      })),
    );
  }

  async undo(
    turn: number,
    workspace: Workspace,
    { onReplaced = () => {} }: { onReplaced?(change: FileChange): void } = {},
  ): Promise<Restored[]> {
    const files = this.#files(turn);
    if (files.length === 0) throw new AgentcliError("usage", `turn ${turn} changed no files`);
    const restored: Restored[] = [];
    for (const file of files) {
      const result = await this.#restore(file, workspace, { onReplaced });
      restored.push(result);
      if (result.outcome === "refused") continue;
      this.#drop({ turn, path: result.path });
      const stored = file.first.label === "open" ? result.path : await nameDigest(result.path);
      await this.#store((home) => addChange(home, this.options.sessionId, { kind: "undone", turn, path: stored }));
    }
    return restored;
  }

  async redo(change: FileChange, workspace: Workspace): Promise<Restored> {
    const { path, before, after } = change;
    const refuse = (reason: string): Restored => ({ path, outcome: "refused", reason });
    const resolved = await workspace.resolve(path);
    if ("refused" in resolved) return refuse(resolved.message);
    const now = await stateNow(resolved, workspace);
    if ("refused" in now) return refuse(now.message);
    const left: FileState = before === null ? { kind: "absent" } : { kind: "content", digest: await sha256(before) };
    if (!sameState(now.state, left)) return refuse(`${resolved.display} has changed since`);
    await this.record(change);
    const failed = await workspace.write(resolved, after);
    return "refused" in failed ? refuse(failed.message) : { path, outcome: "restored" };
  }

  #drop({ turn, path }: { turn: number; path: string }): void {
    this.#entries = this.#entries.filter((entry) => entry.turn !== turn || entry.path !== path);
  }

  /** The first and the last change of each file in a turn. */
  #files(turn: number): { first: Entry; last: Entry }[] {
    const files = new Map<string, { first: Entry; last: Entry }>();
    for (const entry of this.#entries) {
      if (entry.turn !== turn) continue;
      files.set(entry.path, { first: files.get(entry.path)?.first ?? entry, last: entry });
    }
    return [...files.values()];
  }

  async #before({ state, content }: Entry): Promise<TurnChange["before"]> {
    if (state === null || content.kind === "none") {
      return { kind: "not_kept", reason: content.kind === "none" ? content.reason : "it was not kept" };
    }
    if (state.before.kind === "absent") return { kind: "absent" };
    if (content.kind === "memory") return { kind: "content", bytes: content.bytes };
    if (this.#home === null) return { kind: "not_kept", reason: "it was not kept" };
    try {
      return { kind: "content", bytes: await keptContent(this.#home, this.options.sessionId, state.before) };
    } catch (error) {
      return { kind: "not_kept", reason: error instanceof AgentcliError ? error.message : reasonOf(error) };
    }
  }

  async #restore(
    { first, last }: { first: Entry; last: Entry },
    workspace: Workspace,
    { onReplaced }: { onReplaced(change: FileChange): void },
  ): Promise<Restored> {
    const { path, turn } = first;
    const refuse = (reason: string): Restored => ({ path, outcome: "refused", reason });
    const before = await this.#before(first);
    if (before.kind === "not_kept") return refuse(before.reason);
    const resolved = await workspace.resolve(path);
    if ("refused" in resolved) return refuse(resolved.message);
    const now = await stateNow(resolved, workspace);
    if ("refused" in now) return refuse(now.message);
    const { state } = now;
    if (first.state !== null && sameState(state, first.state.before)) return { path, outcome: "unchanged" };
    if (state.kind === "absent") return refuse(`${resolved.display} has been removed since`);
    if (state.digest !== last.state?.after) return refuse(`${resolved.display} has changed since`);
    const failed = before.kind === "absent"
      ? await workspace.remove(resolved)
      : await workspace.write(resolved, before.bytes);
    if (failed !== null && "refused" in failed) return refuse(failed.message);
    onReplaced({
      turn,
      path,
      before: before.kind === "absent" ? null : before.bytes,
      after: now.bytes,
      label: last.label,
    });
    return { path, outcome: before.kind === "absent" ? "removed" : "restored" };
  }

  async #store(work: (home: Home) => Promise<void>): Promise<void> {
    if (this.#home === null || !this.#storing) return;
    try {
      await work(this.#home);
    } catch (error) {
      this.#storing = false;
      await this.options.onTrouble(`undo lasts no longer than this process: ${reasonOf(error)}`);
    }
  }
}

/** Returns the digest that stands for a name. */
function nameDigest(path: string): Promise<string> {
  return sha256(path);
}

/** The file as it is, with its whole content. */
async function stateNow(
  path: ResolvedPath,
  workspace: Workspace,
): Promise<{ state: FileState; bytes: Uint8Array<ArrayBuffer> } | Refusal> {
  const read = await workspace.read(path, { limit: CONTENT_LIMIT });
  if (!("refused" in read)) {
    return { state: { kind: "content", digest: await sha256(read.bytes) }, bytes: read.bytes };
  }
  return read.refused === "absent" ? { state: { kind: "absent" }, bytes: new Uint8Array() } : read;
}

function sameState(one: FileState, other: FileState): boolean {
  if (one.kind === "absent" || other.kind === "absent") return one.kind === other.kind;
  return one.digest === other.digest;
}
