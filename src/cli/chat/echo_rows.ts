/** What was sent, as it stays on the screen above its answer. */
import { clean } from "../../terminal/clean.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import { wrap } from "../../terminal/wrap.ts";

/** Longest echo, in rows and in characters. */
const ECHO_ROWS = 12;
const ECHO_CHARACTERS = 4000;

/** The text behind a prompt sign; of a large paste its beginning, and how much there is in all. */
export function echoRows(text: string, width: number): Row[] {
  // Of a large paste no more is prepared than is shown.
  const lines = clean(text.slice(0, ECHO_CHARACTERS), { multiline: true }).replaceAll("\t", "    ").split("\n");
  const echoed = lines.slice(0, ECHO_ROWS).flatMap((line, index) =>
    wrap([span(line, "bold")], {
      width,
      first: [span(index === 0 ? "> " : "  ", "accent")],
      indent: [span("  ")],
    })
  );
  const isCut = lines.length > ECHO_ROWS || echoed.length > ECHO_ROWS || text.length > ECHO_CHARACTERS;
  if (!isCut) return echoed;
  const size = `  ... ${text.split("\n").length} lines, ${text.length} characters in all`;
  return [...echoed.slice(0, ECHO_ROWS), row(fit(size, width), "dim")];
}
