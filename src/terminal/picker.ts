/** A list of choices: keys in, state out, and its rows. */
import { clean } from "./clean.ts";
import type { Key } from "./keys.ts";
import { type Row, row, span } from "./style.ts";
import { displayWidth, fit, fitEnd } from "./table.ts";
import { wrap } from "./wrap.ts";

/** One choice. `key` is a letter that chooses it at once. */
export interface Choice {
  label: string;
  note?: string;
  key?: string;
}

/** A list that is open. What is typed narrows it, unless its choices have letters. */
export interface PickerState {
  title: string;
  choices: readonly Choice[];
  selected: number;
  filter: string;
}

/** The result of a key. `chosen` is a place in `choices`, null when nothing was chosen. */
export type Picked =
  | { kind: "open"; state: PickerState }
  | { kind: "chosen"; index: number | null }
  /** The list stays open. */
  | { kind: "saved"; index: number; state: PickerState };

/** A list with its first choice selected. */
export function createPicker(title: string, choices: readonly Choice[]): PickerState {
  return { title, choices, selected: 0, filter: "" };
}

function matching({ choices, filter }: PickerState): number[] {
  const wanted = filter.toLowerCase();
  return choices.flatMap(({ label, note = "" }, index) =>
    `${label} ${note}`.toLowerCase().includes(wanted) ? [index] : []
  );
}

/** One key. */
export function pick(state: PickerState, key: Key): Picked {
  const open = (change: Partial<PickerState>): Picked => ({ kind: "open", state: { ...state, ...change } });
  const found = matching(state);
  const move = (by: number) => open({ selected: (state.selected + by + found.length) % Math.max(1, found.length) });
  if (key.kind !== "named") {
    const letters = state.choices.some((choice) => choice.key !== undefined);
    if (!letters) return open({ filter: state.filter + (key.text.split("\n", 1)[0] ?? ""), selected: 0 });
    if (key.kind === "paste") return open({});
    const index = state.choices.findIndex((choice) => choice.key === key.text.toLowerCase());
    return index < 0 ? open({}) : { kind: "chosen", index };
  }
  switch (key.name) {
    case "up":
    case "back_tab":
      return move(-1);
    case "down":
    case "tab":
      return move(1);
    case "backspace":
      return open({ filter: state.filter.slice(0, -1), selected: 0 });
    case "kill_to_start":
    case "delete_word_left":
      return open({ filter: "", selected: 0 });
    case "enter": {
      const index = found[state.selected];
      return index === undefined ? open({}) : { kind: "chosen", index };
    }
    case "save": {
      const index = found[state.selected];
      return index === undefined ? open({}) : { kind: "saved", index, state };
    }
    case "escape":
    case "interrupt":
    case "end_of_input":
      return { kind: "chosen", index: null };
    default:
      return open({});
  }
}

/** The rows of the list: at most `height`, the selected choice among them. */
export function viewPicker(state: PickerState, { width, height }: { width: number; height: number }): Row[] {
  const found = matching(state);
  const title = titleRows(state, { width, height });
  const most = Math.max(1, height - title.length);
  const first = Math.max(0, Math.min(state.selected - most + 1, found.length - most));
  const rows: Row[] = found.slice(first, first + most).map((index, place) => {
    const choice = state.choices[index];
    const chosen = first + place === state.selected;
    const letter = choice?.key === undefined ? "" : `${choice.key}  `;
    const label = fit(`${letter}${clean(choice?.label ?? "")}`, width - 2);
    const note = fit(clean(choice?.note ?? ""), Math.max(0, width - 4 - displayWidth(label)));
    return [
      span(chosen ? "> " : "  ", "accent"),
      span(label, chosen ? "selected" : "plain"),
      span(note === "" ? "" : `  ${note}`, "dim"),
    ];
  });
  const list = rows.length === 0 ? [row(fit("  nothing of that name", width), "dim")] : rows;
  return [...title, ...list];
}

/** Most rows of a list's title. */
const TITLE_SHARE = 4;

/** The title and what was typed, whole where the list keeps most of the space; what was typed is always visible. */
function titleRows({ title, filter }: PickerState, { width, height }: { width: number; height: number }): Row[] {
  if (height < 2) return [];
  const typed = filter === "" ? "" : ` ${clean(filter)}`;
  const rows = wrap([span(title + typed, "bold")], { width, indent: [] });
  if (rows.length === 1 || rows.length * TITLE_SHARE <= height) return rows;
  const shown = fitEnd(typed, width >> 1);
  return [row(fit(title, width - displayWidth(shown)) + shown, "bold")];
}
