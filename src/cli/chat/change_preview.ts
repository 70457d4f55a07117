/** What a call would change or run, as it is shown before permission is asked. */
import type { PermissionQuestion } from "../../agent/turn_options.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import { clean } from "../../terminal/clean.ts";
import { diffSpan } from "../../terminal/highlight.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { wrap } from "../../terminal/wrap.ts";
import { applyReplacements, matchEdit } from "../../tools/edit/match.ts";

/** Largest file that a diff is made of, in bytes. */
const FILE_LIMIT = 1024 * 1024;
/** Rows that are shown at once; the rest is counted. */
const ROW_LIMIT = 200;

/** The rows for a question: which tool on what, and what it would change. A command is shown whole. */
export async function previewRows(
  question: PermissionQuestion,
  { workspace, width }: { workspace: Workspace; width: number },
): Promise<Row[]> {
  const first = [span(`? ${clean(question.toolName)} `, "warning")];
  const head = wrapped(question.subject, { width, first, style: "bold" });
  const change = await changeOf(question, workspace);
  if (change !== null) return [...head, ...await diffRows(change, { width })];
  const rest = Object.entries(question.input).filter(([, value]) => value !== question.subject).flatMap(
    ([name, value]) => wrapped(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`, { width }),
  );
  return [...head, ...bounded(rest)];
}

/** A change as a coloured diff. */
export async function diffRows(
  { name, before, after }: { name: string; before: string | null; after: string },
  { width }: { width: number },
): Promise<Row[]> {
  const { unifiedDiff } = await import("../../terminal/diff.ts");
  const diff = unifiedDiff(before, after, { name: clean(name) });
  const rows = clean(diff, { multiline: true }).trimEnd().split("\n").flatMap((line) =>
    wrap([diffSpan(line.replaceAll("\t", "    "))], { width })
  );
  return bounded(rows);
}

function bounded(rows: Row[]): Row[] {
  if (rows.length <= ROW_LIMIT) return rows;
  return [...rows.slice(0, ROW_LIMIT), row(`... ${rows.length - ROW_LIMIT} more lines`, "warning")];
}

function wrapped(text: string, { width, style, first }: { width: number; style?: "bold"; first?: Row }): Row[] {
  const lines = clean(text, { multiline: true }).replaceAll("\t", "    ").split("\n");
  const indent = [span("  ")];
  return lines.flatMap((line, index) =>
    wrap([span(line, style ?? "plain")], { width, first: index === 0 ? first ?? indent : indent, indent })
  );
}

interface Change {
  name: string;
  before: string | null;
  after: string;
}

/** What Write and Edit would do; null for other tools, and where it cannot be told before. */
async function changeOf({ toolName, input }: PermissionQuestion, workspace: Workspace): Promise<Change | null> {
  const { file_path: path, content, old_string: old, new_string: replacement } = input;
  if ((toolName !== "Write" && toolName !== "Edit") || typeof path !== "string") return null;
  const resolved = await workspace.resolve(path);
  if ("refused" in resolved) return null;
  const read = await workspace.read(resolved, { limit: FILE_LIMIT });
  const absent = "refused" in read && read.refused === "absent";
  if ("refused" in read ? !absent : read.more) return null;
  const before = "refused" in read ? null : new TextDecoder().decode(read.bytes);
  const name = resolved.display;
  if (toolName === "Write") return typeof content === "string" ? { name, before, after: content } : null;
  if (before === null || typeof old !== "string" || typeof replacement !== "string") return null;
  const match = matchEdit(before, { old, new: replacement, all: input.replace_all === true });
  return match.kind === "none" || match.kind === "several"
    ? null
    : { name, before, after: applyReplacements(before, match.replacements) };
}
