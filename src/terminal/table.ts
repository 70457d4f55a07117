/** Columns for a terminal: padded, and cut to its width. */

// Characters that take two cells: CJK, Hangul, full-width forms, and pictographs. Ranges, not a table of every
// character: an error of one cell only shifts a column.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const ZERO = /[\p{Mn}\p{Me}\u200d\ufe00-\ufe0f]/u;

function cellsOf(character: string): number {
  if (character.codePointAt(0)! < 0x300) return 1; // a character of a string iteration is never empty
  return ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

/** How many terminal cells `text` takes. Control characters must be gone already. */
export function displayWidth(text: string): number {
  let cells = 0;
  for (const character of text) cells += cellsOf(character);
  return cells;
}

/** `text` cut to at most `width` cells, with `…` at the end when something is left out. */
export function fit(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let cells = 0;
  for (const character of text) {
    const next = cellsOf(character);
    if (cells + next > width - 1) break;
    kept += character;
    cells += next;
  }
  return width > 0 ? kept + "…" : "";
}

/** `text` cut to at most `width` cells at its beginning, with `…` in its place: the end of a path says most. */
export function fitEnd(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const characters = [...text];
  let cells = 0;
  let from = characters.length;
  while (from > 0 && cells + cellsOf(characters[from - 1] ?? "") < width) cells += cellsOf(characters[--from] ?? "");
  return width > 0 ? `…${characters.slice(from).join("")}` : "";
}

const GAP = "  ";
/** No column is cut below this, so that it still says something. */
const NARROWEST = 8;

/** Takes cells from the widest column until the row fits, or no column is wider than `least`. */
export function shrink(widths: readonly number[], { total, least }: { total: number; least: number }): number[] {
  const fitted = [...widths];
  let over = fitted.reduce((sum, width) => sum + width, 0) - total;
  while (over > 0) {
    const widest = Math.max(...fitted);
    if (widest <= least) break;
    const next = Math.max(least, ...fitted.filter((width) => width < widest));
    const columns = fitted.filter((width) => width === widest).length;
    const step = Math.max(1, Math.min(widest - next, Math.ceil(over / columns)));
    for (let column = 0; column < fitted.length && over > 0; column++) {
      if (fitted[column] !== widest) continue;
      const taken = Math.min(step, over);
      fitted[column] = widest - taken;
      over -= taken;
    }
  }
  return fitted;
}

/**
 * The rows as aligned columns, one line each with a line feed, no trailing spaces. `width` is the width of the terminal
 * in cells; longer rows have their widest columns cut. Pass `Infinity` where nobody is looking (a pipe).
 * Cells must be clean already.
 */
export function table(rows: readonly (readonly string[])[], options: { width: number }): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const natural = Array.from(
    { length: columns },
    (_, column) => Math.max(0, ...rows.map((row) => displayWidth(row[column] ?? ""))),
  );
  const widths = shrink(natural, { total: options.width - GAP.length * (columns - 1), least: NARROWEST });
  const lines = rows.map((row) =>
    widths.map((width, column) => {
      const cell = fit(row[column] ?? "", width);
      return cell + " ".repeat(width - displayWidth(cell));
    }).join(GAP).trimEnd() + "\n"
  );
  return lines.join("");
}
