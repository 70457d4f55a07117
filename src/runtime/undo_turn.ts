/** Undoing what a turn did to files. Loaded with the first change. */
import type { Workspace } from "../boundary/workspace/workspace.ts";
import type { Session } from "../agent/session.ts";
import { highestLabel } from "../boundary/policy/label.ts";
import { relativeTo } from "../platform/path.ts";
import { isPrompt, type UserItem } from "../session/item.ts";
import type { ReplacedEntry, UndoStore } from "../session/undo.ts";
import type { Restored } from "../session/undo_entry.ts";
import type { OpenSession } from "./open_session.ts";
import type { Rewound } from "./rewind.ts";

export interface UndoneTurn {
  /** Its place among the prompts of the session, from 1, and how many those are; null for one that is not there any more. */
  place: { turn: number; of: number } | null;
  restored: readonly Restored[];
  /** As {@link redo} takes it. */
  rewound: Rewound;
}

/** Files of one kind that the model is told of by name. */
const NOTED = 20;

/**
 * Restores the files of the last turn that changed any, and tells the model; null where none has. A turn that left only
 * what was refused and told before is passed over.
 */
export async function undoLastTurn({ session, undo, numbers }: OpenSession): Promise<UndoneTurn | null> {
  const { items, workspace } = session;
  const store = await undo();
  const turn = store.turns({ untold: true }).at(-1) ?? store.turns().at(-1);
  if (turn === undefined) return null;
  const changes: ReplacedEntry[] = [];
  const restored = await store.undo(turn, workspace, { onReplaced: (change) => void changes.unshift(change) });
  const note = await undoNote(restored, workspace);
  if (note !== null) items.push(note);
  const prompts = items.filter(isPrompt);
  const at = prompts.findIndex((prompt) => numbers.of(prompt) === turn);
  return {
    place: at < 0 ? null : { turn: at + 1, of: prompts.length },
    restored,
    rewound: { restored, commands: 0, changes, taken: [], note, length: items.length, last: items.at(-1) },
  };
}

/**
 * Returns what the model is told of files that were undone, as protected as they are; null where none is other than before.
 */
export async function undoNote(restored: readonly Restored[], workspace: Workspace): Promise<UserItem | null> {
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

/** Returns the undo without what it kept of files that are protected by now: looked through whenever others are. */
export async function withoutProtected(store: UndoStore, { workspace, scanner }: Session): Promise<UndoStore> {
  const { protection } = workspace;
  if (!protection.met) return store;
  await store.forget([protection.version, ...protection.files()].join("\0"), async (path, entry) => {
    if (protection.rule(path) !== null) return true;
    const text = entry?.kind === "file" ? new TextDecoder().decode(entry.bytes) : "";
    return text !== "" && await scanner?.holds([text]) === true;
  });
  return store;
}
