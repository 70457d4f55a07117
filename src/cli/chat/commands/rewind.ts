/**
 * Going back to before a turn, restoring its files, sending its prompt again, and undoing that. Loaded with the first.
 */
import { counted } from "../../../platform/number.ts";
import { AgentcliError } from "../../../errors.ts";
import type { Workspace } from "../../../boundary/workspace/workspace.ts";
import { relativeTo } from "../../../platform/path.ts";
import type { ChangedFile, RewindParts, RewindPoint, Rewound } from "../../../runtime/rewind.ts";
import { typedText } from "../../../session/item.ts";
import type { Restored } from "../../../session/undo_entry.ts";
import { clean, cleanLine } from "../../../terminal/clean.ts";
import { unifiedDiff } from "../../../terminal/diff.ts";
import type { Choice } from "../../../terminal/picker.ts";
import { type Row, row } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import type { CommandTarget } from "./commands.ts";
import { changedLines } from "../questions/preview.ts";
import { textRows } from "../view/event_rows.ts";
import { wordsToSendAgain } from "../view/replay.ts";

/** Cells of the first words. */
const WORDS = 48;
/** Files that are named of one turn. */
const MOST_FILES = 3;
/** Files that are named among the restored ones, and among the others. */
const MOST_ROWS = 30;

/** Asks for a turn and what to rewind, and rewinds. The prompt of the turn returns to the input line. */
export async function rewind(_: string, { chat, view }: CommandTarget): Promise<void> {
  const points = (await view.during("looking at the turns", chat.rewindPoints())).reverse();
  if (points.length === 0) return view.print([row("there is no turn to go back to", "dim")]);
  const choices = points.map((point): Choice => ({
    label: wordsOf(point).slice(0, WORDS),
    note: changesText(point),
  }));
  const title = "Rewind to which prompt? (nothing has to be processed again)";
  const chosen = await view.pick({ title, choices });
  const point = points[chosen ?? -1];
  if (chosen === null || point === undefined) return;
  const isChanged = points.slice(0, chosen + 1).some(({ files }) => files.length > 0);
  const parts = isChanged ? await askParts(view) : { words: true, files: false };
  if (parts === null) return;
  const rewound = await view.during("going back", chat.rewind(point.prompt, parts));
  const { session: { workspace } } = await chat.ready();
  view.print(reportRows(rewound, { parts, turns: chosen + 1, isChanged, width: view.width(), workspace }));
  const text = wordsToSendAgain(point.prompt);
  if (parts.words && text !== null) view.draft(text);
}

/** Brings back what the last `/rewind` or `/undo` took. */
export async function redo(_: string, { chat, view }: CommandTarget): Promise<void> {
  const restored = await view.during("bringing back", chat.redo());
  if (restored === null) {
    throw new AgentcliError("usage", "there is nothing to bring back", {
      hint: "/redo follows a /rewind or /undo, before anything else is said",
    });
  }
  const { session: { workspace } } = await chat.ready();
  view.print([row("back where it was before", "dim"), ...fileRows(restored, workspace)]);
}

/** Undoes the file changes of the last turn that made any. */
export async function undo(_: string, { chat, view }: CommandTarget): Promise<void> {
  const undone = await chat.undo();
  if (undone === null) return view.print([row("no turn of this session has changed files", "dim")]);
  const { place, rewound: { restored } } = undone;
  const { session: { workspace } } = await chat.ready();
  const turn = place === null ? "earlier changes" : `turn ${place.turn} of ${place.of}`;
  view.print([row(`undid ${turn}:`), ...fileRows(restored, workspace)]);
}

/**
 * Removes the last turn and sends its prompt again; where it changed files, a person says whether to restore them too.
 */
export async function retry(_: string, { chat, view }: CommandTarget): Promise<void> {
  const point = (await chat.rewindPoints()).at(-1);
  if (point === undefined) throw new AgentcliError("usage", "there is no prompt to send again");
  const words = wordsToSendAgain(point.prompt);
  if (words === null) {
    throw new AgentcliError("usage", "the last prompt is protected, so its text was not stored", {
      hint: "type it again",
    });
  }
  const parts = point.files.length > 0 ? await askParts(view) : { words: true, files: false };
  if (parts === null) return;
  await chat.rewind(point.prompt, { ...parts, words: true });
  view.send(words);
}

/** Asks what to rewind; null for nothing. */
async function askParts(view: CommandTarget["view"]): Promise<RewindParts | null> {
  const all: readonly (RewindParts & { label: string; note: string })[] = [
    { label: "words and files", note: "as if these turns had not happened", words: true, files: true },
    { label: "words only", note: "the files stay as they are", words: true, files: false },
    { label: "files only", note: "the model is told", words: false, files: true },
  ];
  return all[await view.pick({ title: "Rewind what?", choices: all }) ?? -1] ?? null;
}

function wordsOf({ prompt }: RewindPoint): string {
  return cleanLine(typedText(prompt)) || "(no words)";
}

/** Returns the changes of a turn: `pump.ts +2 -1 · 1 command`. */
function changesText({ files, commands }: RewindPoint): string {
  const named = files.slice(0, MOST_FILES).map(fileText);
  const more = files.length > MOST_FILES ? [`${files.length - MOST_FILES} more files`] : [];
  return [[...named, ...more].join(", "), ...commandsText(commands)].filter((text) => text !== "").join(" · ");
}

function commandsText(commands: number): string[] {
  return commands === 0 ? [] : [counted(commands, "command")];
}

function fileText({ name, before, after }: ChangedFile): string {
  const shown = clean(name);
  if (before === undefined || after === undefined) return shown;
  if (after === null) return `${shown} (gone)`;
  const decoder = new TextDecoder();
  const old = before === null ? null : decoder.decode(before);
  const { added, removed } = changedLines(unifiedDiff(old, decoder.decode(after), { name: "file" }));
  return `${shown} +${added}${before === null ? " (new)" : ` -${removed}`}`;
}

function reportRows(
  { restored, commands }: Rewound,
  { parts, turns, isChanged, width, workspace }: {
    parts: RewindParts;
    turns: number;
    isChanged: boolean;
    width: number;
    workspace: Pick<Workspace, "root">;
  },
): Row[] {
  const what = parts.words && parts.files ? "words and files" : parts.words ? "words" : "files";
  const stay = parts.words && !parts.files && isChanged ? "; the files stay as they are" : "";
  const head = `went back ${counted(turns, "turn")} (${what})${stay}; /redo brings it back`;
  const ran = commands === 0 ? [] : textRows(
    `${commandsText(commands).join()} ran in what went back: ignored files, .git, and all outside of the project stay`,
    { width, style: "dim" },
  );
  return [row(fit(head, width), "bold"), ...fileRows(restored, workspace), ...ran];
}

/** One row for each file, the first of many; a file that somebody changed since is kept, with the reason. */
function fileRows(restored: readonly Restored[], { root }: Pick<Workspace, "root">): Row[] {
  const nameOf = ({ path }: Restored) => clean(relativeTo(root, path));
  const rows = (files: readonly Restored[]) => [
    ...files.slice(0, MOST_ROWS).map((file): Row =>
      file.outcome === "refused"
        ? row(`  kept ${nameOf(file)}: ${clean(file.reason)}`, "warning")
        : row(`  ${file.outcome} ${nameOf(file)}`, "good")
    ),
    ...files.length > MOST_ROWS ? [row(`  … and ${files.length - MOST_ROWS} more`, "dim")] : [],
  ];
  const isKept = ({ outcome }: Restored) => outcome === "refused";
  return [...rows(restored.filter((file) => !isKept(file))), ...rows(restored.filter(isKept))];
}
