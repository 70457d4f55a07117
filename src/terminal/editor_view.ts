/** How a line editor looks: rows of a width, and the position of the cursor. */
import { clean } from "./clean.ts";
import { type Completion, graphemes, pasteIndex } from "./editor_text.ts";
import type { EditorState } from "./line_editor.ts";
import { type Row, row, type Span, span } from "./style.ts";
import { displayWidth, fit } from "./table.ts";

interface EditorView {
  rows: Row[];
  cursor: { row: number; column: number };
}

/** Where it is drawn. `maxRows` limits the text; the list of completions comes below. */
interface ViewOptions {
  width: number;
  maxRows: number;
  /** At most this many candidates are shown. */
  offers: number;
}

const PROMPT = "> ";
const INDENT = "  ";

/** The rows of the editor. Text that has more rows than fit is shown around the cursor. */
export function viewEditor(state: EditorState, options: ViewOptions): EditorView {
  const width = Math.max(4, options.width);
  if (state.search !== null) return viewSearch(state, width);
  const { rows, cursor } = layout(state, width);
  const first = Math.max(0, Math.min(cursor.row - options.maxRows + 1, rows.length - options.maxRows));
  const shown = rows.slice(first, first + options.maxRows);
  const offers = state.completion === null ? [] : viewOffers(state.completion, { width, most: options.offers });
  return { rows: [...shown, ...offers], cursor: { row: cursor.row - first, column: cursor.column } };
}

function layout(state: EditorState, width: number): EditorView {
  const rows: Span[][] = [[span(PROMPT, "accent")]];
  let used = PROMPT.length;
  let position = 0;
  let cursor = { row: 0, column: used };
  const next = () => {
    rows.push([span(INDENT)]);
    used = INDENT.length;
  };
  for (const line of state.text.split("\n")) {
    if (position > 0) next();
    for (const character of graphemes(line)) {
      const shown = shownCharacter(character, state.pastes);
      const text = fit(shown.text, width - INDENT.length);
      const cells = displayWidth(text);
      if (used + cells > width) next();
      if (position === state.cursor) cursor = { row: rows.length - 1, column: used };
      append(rows.at(-1), { ...shown, text });
      used += cells;
      position += character.length;
    }
    if (position === state.cursor) {
      if (used >= width) next();
      cursor = { row: rows.length - 1, column: used };
    }
    position++;
  }
  return { rows, cursor };
}

function append(line: Span[] | undefined, { text, style }: Span): void {
  const last = line?.at(-1);
  if (last !== undefined && last.style === style) last.text += text;
  else line?.push({ text, style });
}

function shownCharacter(character: string, pastes: readonly string[]): Span {
  const index = pasteIndex(character);
  const paste = index === null ? undefined : pastes[index];
  if (paste === undefined) return span(clean(character === "\t" ? "  " : character));
  const lines = paste.split("\n").length;
  return span(`[pasted ${lines === 1 ? `${paste.length} characters` : `${lines} lines`}]`, "accent");
}

function viewSearch(state: EditorState, width: number): EditorView {
  const { query, found } = state.search ?? { query: "", found: -1 };
  const label = `search: ${clean(query)}`;
  const entry = found < 0 ? "nothing found" : clean(state.history[found] ?? "");
  const head = fit(label, width - 1);
  return {
    rows: [row(head, "accent"), row(fit(`${INDENT}${entry}`, width), found < 0 ? "warning" : "plain")],
    cursor: { row: 0, column: Math.min(displayWidth(head), width - 1) },
  };
}

function viewOffers(completion: Completion, { width, most }: { width: number; most: number }): Row[] {
  const { items, selected } = completion;
  const first = Math.max(0, Math.min(selected - most + 1, items.length - most));
  const names = items.slice(first, first + most);
  const widest = Math.min(Math.max(0, ...names.map(({ text }) => displayWidth(clean(text)))), width - 4);
  const rows: Row[] = names.map(({ text, note }, index) => {
    const chosen = first + index === selected;
    const name = fit(clean(text), widest);
    const room = width - widest - 4;
    const beside = room > 8 && note !== "" ? fit(clean(note), room) : "";
    return [
      span(chosen ? "> " : "  ", "accent"),
      span(name, chosen ? "selected" : "plain"),
      span(" ".repeat(Math.max(0, widest - displayWidth(name))) + (beside === "" ? "" : `  ${beside}`), "dim"),
    ];
  });
  const more = items.length - names.length;
  return more > 0 && most > 2 ? [...rows, row(fit(`  ${more} more`, width), "dim")] : rows;
}
