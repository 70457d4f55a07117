/** The preview of a tool call that a person is asked about: the command, the arguments, or the change as a diff. */
import type { PermissionQuestion } from "../../../agent/turn_options.ts";
import type { Label } from "../../../boundary/policy/label.ts";
import type { Workspace } from "../../../boundary/workspace/workspace.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { wrap } from "../../../terminal/wrap.ts";
import { isRecord } from "../../../platform/record.ts";
import { textRows } from "../view/event_rows.ts";
import { applyReplacements, matchEdit, type Replacement } from "../../../tools/edit/match.ts";

/** Largest file that is compared, in bytes. */
const FILE_LIMIT = 1024 * 1024;

/** Prepares the whole of what a question is about: nothing of it is cut. */
export async function previewOf(
  question: PermissionQuestion,
  workspace: Workspace,
): Promise<{ head(width: number): Row[]; body(width: number): Row[] }> {
  const { toolName, subject, input } = question;
  const first = [span(`? ${clean(toolName)} `, "warning")];
  const head = (width: number) => textRows(subject, { width, first, style: "bold" });
  const change = await changeOf(question, workspace);
  if (change !== null) {
    const { unifiedDiff } = await import("../../../terminal/diff.ts");
    const diff = unifiedDiff(change.before, change.after, { name: change.name });
    return { head, body: (width) => numberedRows(diff, width) };
  }
  const rest = Object.entries(input).filter(([, value]) => value !== subject).map(([name, value]) =>
    `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`
  );
  return { head, body: (width) => rest.flatMap((text) => textRows(text, { width, style: "plain" })) };
}

/** Returns a change as a colored diff with the names of the file. */
export async function diffRows(
  { name, before, after }: Pick<Change, "name" | "before" | "after">,
  { width }: { width: number },
): Promise<Row[]> {
  const { unifiedDiff } = await import("../../../terminal/diff.ts");
  const diff = unifiedDiff(before, after, { name: clean(name) });
  return [row(clean(name), "bold"), ...numberedRows(diff, width)];
}

/**
 * Returns the lines of a unified diff, each with its number in the file: the new one, or the old one of a removed line.
 */
export function numberedRows(diff: string, width: number): Row[] {
  const lines = clean(diff, { multiline: true }).trimEnd().split("\n");
  const digits = String(lines.reduce((most, line) => Math.max(most, lastLine(line)), 1)).length;
  let [old, now] = [0, 0];
  const rows: Row[] = [];
  const begin = lines.findIndex((line) => line.startsWith("@@"));
  for (const line of begin < 0 ? [] : lines.slice(begin)) {
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      if (rows.length > 0) rows.push(row(`${" ".repeat(digits)} ...`, "dim"));
      continue;
    }
    const sign = line.charAt(0);
    const number = sign === "-" ? old++ : sign === "\\" ? "" : now++;
    if (sign === " ") old++;
    const first = [span(`${String(number).padStart(digits)} `, "dim")];
    const style = sign === "-" ? "removed" : sign === "+" ? "added" : "plain";
    const shown = span(line.replaceAll("\t", "    "), style);
    rows.push(...wrap([shown], { width, first, indent: [span(" ".repeat(digits + 2))] }));
  }
  return rows;
}

/** Returns how many lines a unified diff adds and removes. */
export function changedLines(diff: string): { added: number; removed: number } {
  const begin = diff.search(/^@@/m);
  const lines = begin < 0 ? [] : diff.slice(begin).split("\n");
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count("+"), removed: count("-") };
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

function lastLine(line: string): number {
  const [, old = 0, before = 1, now = 0, after = 1] = HUNK.exec(line) ?? [];
  return Math.max(Number(old) + Number(before), Number(now) + Number(after)) - 1;
}

interface Change {
  name: string;
  /** Absolute. */
  path: string;
  before: string | null;
  after: string;
  /** Of what the file holds. */
  label: Label;
}

/** Previews the changes of Write and Edit; null for other tools, and where the result is not known beforehand. */
export async function changeOf({ toolName, input }: PermissionQuestion, workspace: Workspace): Promise<Change | null> {
  const { file_path: named, content } = input;
  if ((toolName !== "Write" && toolName !== "Edit") || typeof named !== "string") return null;
  const resolved = await workspace.resolve(named);
  if ("refused" in resolved) return null;
  const read = await workspace.read(resolved, { limit: FILE_LIMIT });
  const absent = "refused" in read && read.refused === "absent";
  if ("refused" in read ? !absent : read.more) return null;
  const before = "refused" in read ? null : new TextDecoder().decode(read.bytes);
  const label = "refused" in read ? workspace.ruleAt(resolved) === null ? "open" : "no-cloud" : read.label;
  const file = { name: resolved.display, path: resolved.path, before, label };
  if (toolName === "Write") return typeof content === "string" ? { ...file, after: content } : null;
  const after = before === null ? null : editedText(before, input);
  return after === null ? null : { ...file, after };
}

/** Returns a text as the input of an Edit leaves it; null where that is not known. */
export function editedText(before: string, input: Record<string, unknown>): string | null {
  const replacements: Replacement[] = [];
  for (const edit of Array.isArray(input.edits) ? input.edits : [input]) {
    const { old_string: old, new_string: text } = isRecord(edit) ? edit : {};
    if (typeof old !== "string" || typeof text !== "string" || old === "") return null;
    const match = matchEdit(before, { old, new: text, all: input.replace_all === true });
    if (match.kind !== "found") return null;
    replacements.push(...match.replacements);
  }
  return applyReplacements(before, replacements.sort((one, other) => one.start - other.start));
}
