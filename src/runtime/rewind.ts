/** Rewinds a session to before a turn: its words, its files, or both; and undoes that. Loaded with the first change. */
import { writtenTodos } from "../agent/todos.ts";
import { textsOf } from "../boundary/scan/normalize.ts";
import { entryPath } from "../boundary/workspace/entry.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import type { Session } from "../agent/session.ts";
import { isPrompt, type SessionItem, type UserItem } from "../session/item.ts";
import type { ReplacedEntry, TurnChange, UndoStore } from "../session/undo.ts";
import { replacedBy, type Restored } from "../session/undo_entry.ts";
import type { OpenSession } from "./open_session.ts";
import { relativeTo } from "../platform/path.ts";

/** A file that a turn changed, before and after it; null for no file, undefined where it is no longer known. */
export interface ChangedFile {
  /** As people see it. */
  name: string;
  before: Uint8Array<ArrayBuffer> | null | undefined;
  after: Uint8Array<ArrayBuffer> | null | undefined;
  label: Label;
}

/** A turn that a session can be rewound to. */
export interface RewindPoint {
  prompt: UserItem;
  files: ChangedFile[];
  /** Commands that the model ran in it. */
  commands: number;
}

export interface RewindParts {
  words: boolean;
  files: boolean;
}

/** The parts that were rewound, as {@link redo} takes them. */
export interface Rewound {
  restored: readonly Restored[];
  /** Commands of the turns: what they changed outside of the snapshots is still there. */
  commands: number;
  changes: readonly ReplacedEntry[];
  /** The items removed from the session, and the items added after the rest later. */
  taken: readonly SessionItem[];
  note: SessionItem | null;
  /** Items of the session right after it, and the last of them. */
  length: number;
  last: SessionItem | undefined;
}

/** Most bytes of a file that is compared for the list, and most files of a turn. */
const COMPARED = 256 * 1024;
const MOST_COMPARED = 20;

/** Returns the turns, oldest first, each with what it changed. */
export async function rewindPoints({ session, undo }: OpenSession): Promise<RewindPoint[]> {
  const store = await undo();
  const { items, workspace } = session;
  const stored = new Set(store.turns());
  /** The content of a file right after the turn in question. */
  const after = new Map<string, ChangedFile["after"]>();
  const points: RewindPoint[] = [];
  for (let at = items.length - 1, end = items.length; at >= 0; at--) {
    const prompt = items[at];
    if (prompt === undefined || !isPrompt(prompt)) continue;
    const { said } = prompt;
    const changes = said !== undefined && stored.has(said) ? store.changes(said) : [];
    const files: ChangedFile[] = [];
    for (const change of changes.filter(({ isDirectory }) => !isDirectory)) {
      files.push(await changedFile(change, { after, workspace, isCompared: files.length < MOST_COMPARED }));
    }
    points.unshift({ prompt, files, commands: commandsOf(items.slice(at, end)) });
    end = at;
  }
  return points;
}

async function changedFile(
  { path, before, label }: TurnChange,
  { after, workspace, isCompared }: {
    after: Map<string, ChangedFile["after"]>;
    workspace: Workspace;
    isCompared: boolean;
  },
): Promise<ChangedFile> {
  const was = isCompared ? await before() : null;
  const resolved = entryPath(path, workspace);
  const name = path === workspace.root ? "the project" : relativeTo(workspace.root, path);
  const old = was?.kind === "absent" ? null : was?.kind === "file" ? was.bytes : undefined;
  const became = after.has(path) || "refused" in resolved || !isCompared
    ? after.get(path)
    : contentOf(resolved, workspace);
  after.set(path, old);
  return { name, before: old, after: became, label };
}

function contentOf(path: Parameters<Workspace["read"]>[0], workspace: Workspace): ChangedFile["after"] {
  // For the person alone: no item holds any of it.
  const read = workspace.peek(path, { limit: COMPARED });
  if ("refused" in read) return read.refused === "absent" ? null : undefined;
  return read.more ? undefined : read.bytes;
}

function commandsOf(items: readonly SessionItem[]): number {
  return items.filter((item) => item.kind === "tool_result" && item.name === "Bash" && !item.isError).length;
}

/** Rewinds to before a prompt. The caller updates the transcript. */
export async function rewind(
  { session, undo }: OpenSession,
  prompt: UserItem,
  { words, files }: RewindParts,
): Promise<Rewound> {
  const { items, context } = session;
  const at = items.indexOf(prompt);
  const { said } = prompt;
  const commands = at < 0 ? 0 : commandsOf(items.slice(at));
  const restored: Restored[] = [];
  if (files && said !== undefined) {
    const store = await undo();
    for (const turn of store.turns().filter((turn) => turn >= said).reverse()) {
      restored.push(...await store.undo(turn, session.workspace));
    }
  }
  const taken = words ? items.splice(at < 0 ? items.length : at) : null;
  if (taken !== null) {
    context.removed += taken.length;
    forgetFiles(session);
  }
  return await rewound(session, { restored, commands, taken });
}

/** Tells the model which files were restored, unless the words were `taken` from it, too. */
async function rewound(
  { items, workspace }: Session,
  { taken, ...done }: { restored: readonly Restored[]; commands: number; taken: readonly SessionItem[] | null },
): Promise<Rewound> {
  const restored = onePerFile(done.restored);
  const note = taken === null ? await undoNote(restored, workspace) : null;
  if (note !== null) items.push(note);
  return {
    restored,
    commands: done.commands,
    changes: replacedBy(done.restored),
    taken: taken ?? [],
    note,
    length: items.length,
    last: items.at(-1),
  };
}

/**
 * Reverses a rewind: the words, and each file that nobody has changed since. Returns null if a prompt came after it;
 * the output of the user's own commands stays at the end.
 */
export async function redo(
  { session, undo, recorder }: OpenSession,
  { changes, taken, note, length, last }: Rewound,
): Promise<readonly Restored[] | null> {
  const { items } = session;
  const isNote = (item: SessionItem) => item.kind === "user" && item.origin === "note";
  if (items[length - 1] !== last || !items.slice(length).every(isNote)) return null;
  const since = items.splice(length);
  if (note !== null) items.pop();
  // The transcript is updated first, so that readers can tell what was appended from what was inserted.
  await recorder.settle();
  items.push(...taken, ...since);
  session.context.removed -= taken.length;
  forgetFiles(session);
  await recorder.settle();
  return onePerFile(await (await undo()).redo(changes, session.workspace));
}

/** Keeps one outcome for each file: a refusal if there is one, otherwise the last. */
function onePerFile(restored: readonly Restored[]): Restored[] {
  const files = new Map<string, Restored>();
  for (const file of restored) if (files.get(file.path)?.outcome !== "refused") files.set(file.path, file);
  return [...files.values()];
}

/** Forgets what was read, as after a resume: the model no longer has it. */
function forgetFiles({ memory, items }: Session): void {
  memory.files.clear();
  memory.warned.clear();
  memory.failedEdits.clear();
  memory.todos.splice(0, memory.todos.length, ...writtenTodos(items));
}

export interface UndoneTurn {
  /** Its place among the prompts of the session, from 1, and how many there are; null for one that is gone. */
  place: { turn: number; of: number } | null;
  rewound: Rewound;
}

/** Most files of one kind that the note to the model names. */
const NOTED = 20;

/**
 * Restores the files of the last turn that changed any, and tells the model; null where none has. A turn that left only
 * what was refused and reported before is passed over.
 */
export async function undoLastTurn({ session, undo }: OpenSession): Promise<UndoneTurn | null> {
  const { items, workspace } = session;
  const store = await undo();
  const turn = store.turns({ unreported: true }).at(-1) ?? store.turns().at(-1);
  if (turn === undefined) return null;
  const restored = await store.undo(turn, workspace);
  const prompts = items.filter(isPrompt);
  const at = prompts.findIndex(({ said }) => said === turn);
  return {
    place: at < 0 ? null : { turn: at + 1, of: prompts.length },
    rewound: await rewound(session, { restored, commands: 0, taken: null }),
  };
}

/** Returns the message to the model about files that were undone, with their label; null if none has changed. */
async function undoNote(restored: readonly Restored[], workspace: Workspace): Promise<UserItem | null> {
  const names = async (outcomes: readonly Restored["outcome"][]) => {
    const paths = restored.filter(({ outcome }) => outcomes.includes(outcome)).map(({ path }) => path);
    const shown = await Promise.all(
      paths.slice(0, NOTED).map(async (path) => {
        const resolved = await workspace.resolve(path);
        return ("refused" in resolved ? relativeTo(workspace.root, path) : resolved.display).replace(/\p{Cc}/gu, "");
      }),
    );
    return [...shown, ...(paths.length > NOTED ? [`${paths.length - NOTED} more`] : [])].join(", ");
  };
  const [changed, made] = [await names(["restored", "unchanged"]), await names(["removed"])];
  if (changed === "" && made === "") return null;
  const text = "[The user undid your changes." + (changed === "" ? "" : ` Restored: ${changed}.`) +
    (made === "" ? "" : ` Removed: ${made}.`) + "]";
  return { kind: "user", origin: "note", text, label: highestLabel(restored.map(({ label }) => label)) };
}

/** Returns the undo without what it kept of files that are now protected: checked whenever others are. */
export async function withoutProtected(store: UndoStore, { workspace, scanner }: Session): Promise<UndoStore> {
  const { protection } = workspace;
  if (!protection.met) return store;
  await store.forget([protection.version, ...protection.files()].join("\0"), async (path, entry) => {
    // Not by a marker that is unusable for a moment: what is forgotten does not come back.
    if (protection.named(path) !== null) return true;
    return entry?.kind === "file" && await scanner?.holds(textsOf(entry.bytes)) === true;
  });
  return store;
}
