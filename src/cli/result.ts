/** The result of a command, and the question before it changes something. */
import type { Io } from "../platform/io.ts";
import { jsonText } from "../terminal/clean.ts";
import { confirm } from "../terminal/prompt.ts";
import { table } from "../terminal/table.ts";
import type { Context } from "./command.ts";
import { notice } from "./output.ts";

/** Prints the result of a command: `json` with `--json`, else `text` on stdout, and `told` on stderr where there is none. */
export async function print(
  context: Context,
  { json, text = "", told }: { json: unknown; text?: string; told?: string },
): Promise<void> {
  const { io, globals } = context;
  if (globals.json) await io.stdout.write(jsonText(json));
  else if (told !== undefined) await notice(context, told);
  else await io.stdout.write(text);
}

/** Asks for a yes unless `--yes` was given. Says so where nothing is changed then. */
export async function confirmed(context: Context, question: string): Promise<boolean> {
  if (context.globals.yes) return true;
  const isYes = await confirm(context.io, question);
  if (!isYes) await notice(context, "nothing changed");
  return isYes;
}

/**
 * Returns rows below a heading as columns, cut to the width of a terminal; a pipe gets them whole. A column that has nothing
 * but its heading is left out.
 */
export function tableFor(
  output: Pick<Io["stdout"], "isTerminal" | "columns">,
  [heading = [], ...rows]: readonly (readonly string[])[],
): string {
  const used = [...heading.keys()].filter((at) => rows.some((row) => (row[at] ?? "") !== ""));
  const shown = [heading, ...rows].map((row) => used.map((at) => row[at] ?? ""));
  return table(shown, { width: output.isTerminal ? output.columns() : Infinity });
}
