/**
 * Undoes what tools and commands did to the project, turn by turn, even after a restart. Previous versions are kept in
 * the home, outside the project; those of protected files only in memory, for as long as the process runs
 * (specification of the boundary, §5).
 */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import type { Entry } from "../boundary/workspace/entry.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { AgentcliError } from "../errors.ts";
import { sha256 } from "../platform/digest.ts";
import { failureReason } from "../platform/disk_failure.ts";
import type { Home } from "../platform/home.ts";
import { addLine } from "../platform/shared_log.ts";
import {
  activityName,
  addChanges,
  type ContentPlace,
  type EntryState,
  eraseUnnamed,
  keepContents,
  keptContent,
  LONGEST,
  rewriteChanges,
  type StoredChange,
  storedChanges,
} from "./undo_files.ts";
import { type ChangedEntry, findEntry, inOrder, isBroken, type Restored, restoreEntry, stateOf } from "./undo_entry.ts";

/** An entry at one time; `unread` where nobody knows, for a reason in a few words. */
export type Content = Entry | { kind: "unread"; reason: string };

/** A change of an entry: one that a tool is about to make, or that a command has made. */
export interface EntryChange {
  turn: number;
  /** Absolute, no link in it. */
  path: string;
  before: Content;
  after: Content;
  /** The higher of both contents. */
  label: Label;
}

export interface ReplacedEntry extends EntryChange {
  before: Entry;
  after: Entry;
}

export interface TurnChange {
  path: string;
  label: Label;
  /** It is a directory, or was: what it holds has entries of its own. */
  isDirectory: boolean;
  /** Reads what was there before the turn; `not_kept`: too large, or protected and of an earlier process. */
  before(): Promise<Entry | { kind: "not_kept"; reason: string }>;
}

interface Recorded {
  turn: number;
  path: string;
  label: Label;
  state: { before: EntryState; after: EntryState } | null;
  /** Where the content before is: in memory, on the disk, or nowhere. */
  content: { kind: "memory"; bytes: Uint8Array<ArrayBuffer> } | { kind: "disk"; place: ContentPlace } | {
    kind: "none";
    reason: string;
  };
  /** It was not undone when somebody asked for it. */
  isRefused?: true;
}

const [NOT_KEPT, TOO_LARGE] = ["it was not kept", "it was too large to be kept"];
const TOO_MUCH = "undo of this session holds 512 MiB already";
const PROTECTED = "it is protected: its undo lasted as long as the process";

/** Whose undo it is. */
interface UndoOptions {
  sessionId: string;
  /** Where other sessions of the project, a real path, learn which files are changed here. */
  activity?: { home: Home; root: string } | undefined;
  onTrouble(text: string): void | Promise<void>;
}

/** Opens the undo of a session, with what an earlier process kept. Without a home nothing outlives the process. */
export async function openUndoStore(home: Home | null, options: UndoOptions): Promise<UndoStore> {
  const store = new UndoStore(home, options);
  await store.load();
  return store;
}

/** The changes of one session. */
export class UndoStore {
  readonly #home: Home | null;
  /** False once storing failed: then what is to be erased is still tried, and nothing is added. */
  #storing: boolean;
  /** By turn and path, in their order. */
  readonly #turns = new Map<number, Map<string, Recorded[]>>();
  /** The rules by which it was last checked for what is protected. */
  #rules = "";

  constructor(home: Home | null, readonly options: UndoOptions) {
    this.#home = home;
    this.#storing = home !== null;
  }

  async load(): Promise<void> {
    if (this.#home === null) return;
    for (const change of await storedChanges(this.#home, this.options.sessionId)) {
      const { turn } = change;
      const redacted = `a protected file (${change.path.slice(0, 8)})`;
      // Earlier versions added a line for each change that was undone.
      if (change.kind === "undone") [change.path, redacted].forEach((path) => this.#turns.get(turn)?.delete(path));
      else if (change.kind === "redacted") {
        const content = { kind: "none", reason: PROTECTED } as const;
        this.#add({ turn, path: redacted, label: "no-cloud", state: null, content });
      } else {
        const { before, after, path, kept: place } = change;
        const content = place === null
          ? { kind: "none", reason: TOO_LARGE } as const
          : { kind: "disk", place } as const;
        this.#add({ turn, path, label: "open", state: { before, after }, content });
      }
    }
    await this.#settle([eraseUnnamed]);
  }

  /**
   * Call before a tool makes its change, and when a command has made some. Never rejects for lack of room: then undo of
   * it lasts as long as the process.
   */
  async record(changes: readonly EntryChange[]): Promise<void> {
    await this.#note(changes.filter(({ after }) => after.kind !== "unread").map(({ path }) => path));
    const added: Recorded[] = [];
    for (const { turn, path, before, after, label } of changes) {
      const isKept = before.kind === "file" && before.bytes.length <= LONGEST;
      added.push({
        ...{ turn, path, label: labelOf({ label }) },
        state: { before: await stateOf(before), after: await stateOf(after) },
        content: isKept ? { kind: "memory", bytes: before.bytes } : { kind: "none", reason: TOO_LARGE },
      });
    }
    for (const one of added) this.#add(one);
    if (!this.#storing) return;
    await this.#store(async (home) => {
      await this.#keep(home, added.filter(({ label }) => label === "open"));
      await addChanges(home, this.options.sessionId, await Promise.all(added.map(lineOf)));
    });
  }

  async #keep(home: Home, added: readonly Recorded[]): Promise<void> {
    // Each content is kept once.
    const places = new Map<unknown, ContentPlace | undefined>();
    for (const one of this.#all()) if (one.content.kind === "disk") places.set(contentOf(one), one.content.place);
    const fresh = new Map<unknown, Uint8Array>();
    for (const one of added) {
      const content = contentOf(one);
      if (one.content.kind === "memory" && !places.has(content)) fresh.set(content, one.content.bytes);
    }
    const kept = await keepContents(home, this.options.sessionId, [...fresh.values()]);
    [...fresh.keys()].forEach((content, at) => places.set(content, kept?.[at]));
    for (const one of added.filter(({ content }) => content.kind === "memory")) {
      const place = places.get(contentOf(one));
      one.content = place === undefined ? { kind: "none", reason: TOO_MUCH } : { kind: "disk", place };
    }
  }

  /** Returns the turns with changes that were not undone, in order; `unreported`: nor refused in this process. */
  turns({ unreported = false }: { unreported?: boolean } = {}): number[] {
    const left = this.#all().filter(({ isRefused }) => !unreported || isRefused !== true);
    return [...new Set(left.map(({ turn }) => turn))].sort((one, other) => one - other);
  }

  /** Returns the changes of a turn, for a diff with the current files. */
  changes(turn: number): TurnChange[] {
    return this.#entries(turn).map(({ path, label, before, was, after }) => {
      const kinds = [was?.kind, after?.kind];
      return { path, label, before, isDirectory: kinds.every((kind) => kind === "directory" || kind === "absent") };
    });
  }

  /**
   * Undoes a turn, entry by entry: as it was before, or not at all where it is no longer what the turn left. What was
   * refused can still be undone later. Throws `usage` for a turn that changed nothing.
   */
  async undo(turn: number, workspace: Workspace): Promise<Restored[]> {
    const entries = this.#entries(turn);
    if (entries.length === 0) throw new AgentcliError("usage", `turn ${turn} changed no files`);
    await this.#note(entries.map(({ path }) => path));
    const restored: Restored[] = [];
    for (const entry of inOrder(entries)) restored.push(await restoreEntry(entry, workspace, { turn }));
    const done = new Set(restored.flatMap(({ path, outcome }) => outcome === "refused" ? [] : [path]));
    const changed = this.#turns.get(turn);
    for (const path of done) changed?.delete(path);
    for (const one of [...changed?.values() ?? []].flat()) one.isRefused = true;
    // After a kill before this point, everything is as it was before the turn, which then counts as no change.
    await this.#settle();
    return restored;
  }

  /** Makes undone changes again, where the entry is still what the undo left. */
  async redo(changes: readonly ReplacedEntry[], workspace: Workspace): Promise<Restored[]> {
    // The labels are those of the time of the undo.
    this.#rules = "";
    const restored: Restored[] = [];
    const ready: { change: ReplacedEntry; entry: ChangedEntry }[] = [];
    for (const change of changes) {
      const { path, label } = change;
      const before = () => Promise.resolve(change.after);
      const entry = { path, label, before, was: null, after: await stateOf(change.before), isBroken: false };
      const found = await findEntry(entry, workspace);
      if ("outcome" in found) restored.push(found);
      else ready.push({ change, entry });
    }
    await this.record(ready.map(({ change }) => change));
    for (const { change: { turn }, entry } of ready) restored.push(await restoreEntry(entry, workspace, { turn }));
    return restored;
  }

  /** Forgets what was kept of entries that are now protected; `rules` identifies the rules that decide it. */
  async forget(
    rules: string,
    isProtected: (path: string, content: Entry | null) => Promise<boolean>,
  ): Promise<void> {
    if (rules === this.#rules) return;
    this.#rules = rules;
    const open = this.#all().filter(({ label }) => label === "open");
    const found = new Set<unknown>();
    for (const one of open) {
      const entry = await this.#before(one);
      if (await isProtected(one.path, entry.kind === "not_kept" ? null : entry)) found.add(contentOf(one));
    }
    for (const one of open.filter((one) => found.has(contentOf(one)))) {
      const content = { kind: "none", reason: "it is protected by now" };
      Object.assign(one, { label: "no-cloud", state: null, content });
    }
    if (found.size > 0) await this.#settle();
  }

  /** Stores the records as they are now; contents that none of them names are erased. */
  async #settle(steps = [rewriteChanges, eraseUnnamed]): Promise<void> {
    const lines = await Promise.all(this.#all().map(lineOf));
    for (const step of steps) await this.#store((home) => step(home, this.options.sessionId, lines));
  }

  #add(one: Recorded): void {
    const changes = this.#turns.get(one.turn) ?? new Map<string, Recorded[]>();
    changes.set(one.path, [...changes.get(one.path) ?? [], one]);
    this.#turns.set(one.turn, changes);
  }

  #all(): Recorded[] {
    return [...this.#turns.values()].flatMap((changes) => [...changes.values()].flat());
  }

  #entries(turn: number): ChangedEntry[] {
    return [...this.#turns.get(turn) ?? []].map(([path, all]) => ({
      path,
      label: all.some(({ label }) => label !== "open") ? "no-cloud" : "open",
      before: () => this.#before(all[0]),
      was: all[0]?.state?.before ?? null,
      after: all.at(-1)?.state?.after ?? null,
      isBroken: isBroken(all),
    }));
  }

  async #before(one: Recorded | undefined): Promise<Entry | { kind: "not_kept"; reason: string }> {
    const notKept = (reason: string) => ({ kind: "not_kept", reason }) as const;
    if (one === undefined) return notKept(NOT_KEPT);
    const { state, content } = one;
    if (state === null) return notKept(content.kind === "none" ? content.reason : NOT_KEPT);
    const { before } = state;
    if (before.kind === "unread") return notKept(before.reason);
    if (before.kind === "absent" || before.kind === "link") return before;
    const mode = before.mode ?? null;
    if (before.kind === "directory") return { kind: "directory", mode };
    if (content.kind === "memory") return { kind: "file", bytes: content.bytes, mode };
    if (content.kind === "none" || this.#home === null) {
      return notKept(content.kind === "none" ? content.reason : NOT_KEPT);
    }
    try {
      const kept = { digest: before.digest, place: content.place };
      return { kind: "file", bytes: await keptContent(this.#home, this.options.sessionId, kept), mode };
    } catch (error) {
      return notKept(error instanceof AgentcliError ? error.message : failureReason(error));
    }
  }

  /** Tells other sessions that these changes are not the work of a command they may be running. */
  async #note(paths: readonly string[]): Promise<void> {
    const { activity, sessionId } = this.options;
    if (activity === undefined || paths.length === 0) return;
    const lines = await Promise.all(paths.map(async (path) => `${sessionId} ${await sha256(path)}`));
    addLine(activity.home, { name: await activityName(activity.root), line: lines.join("\n") });
  }

  async #store(work: (home: Home) => Promise<void>): Promise<void> {
    if (this.#home === null) return;
    try {
      await work(this.#home);
    } catch (error) {
      this.#storing = false;
      await this.options.onTrouble(`undo lasts no longer than this process: ${failureReason(error)}`);
    }
  }
}

/** Returns what names the content before, the same for each record of it. */
function contentOf(one: Recorded): unknown {
  return one.state?.before.kind === "content" ? one.state.before.digest : one;
}

async function lineOf(one: Recorded): Promise<StoredChange> {
  const { turn, path, label, state, content } = one;
  if (label !== "open" || state === null) return { kind: "redacted", turn, path: await sha256(path) };
  return { kind: "open", turn, path, ...state, kept: content.kind === "disk" ? content.place : null };
}
