/** Calls written between tags, without quoting and without types: Qwen3-Coder, GLM, MiniMax. */
import { type Cursor, endOfSpace } from "./cursor.ts";
import { callReading, declaredName, type DeclaredTools, type Reading } from "./family.ts";
import { typedArguments } from "./typed_arguments.ts";

/** The tags of one family. */
export interface TaggedForm {
  keyOpen: string;
  /** What follows the key, with white space between. */
  keyClose: readonly string[];
  /** What opens a value, to see values that hold this format themselves. */
  valueOpen: string;
  valueClose: string;
  callClose: string;
}

/**
 * Reads the arguments and the end of a call whose name stood before the cursor. Null when no argument and no end
 * follows: somebody writes about the format.
 */
export function readTaggedCall(
  cursor: Cursor,
  call: { name: string; form: TaggedForm; tools: DeclaredTools },
): Reading | null {
  const { name, form, tools } = call;
  const written: [key: string, value: string][] = [];
  for (;;) {
    cursor.skipSpace();
    if (cursor.take(form.callClose)) break;
    // Only before the first argument: a value does not end where neither tag follows.
    if (!cursor.take(form.keyOpen)) return null;
    const key = readKey(cursor, form);
    const value = key === null ? null : readValue(cursor, form);
    if (key === null || value === null) return { kind: "broken" };
    written.push([key, value]);
  }
  const parameters = tools.get(declaredName(name, tools) ?? "");
  return callReading({ name, input: typedArguments(written, parameters) }, tools);
}

function readKey(cursor: Cursor, form: TaggedForm): string | null {
  cursor.skipSpace();
  const key = cursor.takeName();
  for (const literal of form.keyClose) {
    cursor.skipSpace();
    if (!cursor.take(literal)) return null;
  }
  return key;
}

/**
 * Reads a value; the cursor is behind its opening tag, and afterwards behind its closing tag. Null when it is not
 * closed. Tags that open and close inside the value belong to it, and so does a closing tag that nothing of the call
 * follows.
 */
function readValue(cursor: Cursor, form: TaggedForm): string | null {
  const { text } = cursor;
  const start = cursor.at;
  const tags = new RegExp(`${RegExp.escape(form.valueOpen)}|${RegExp.escape(form.valueClose)}`, "g");
  let depth = 1;
  tags.lastIndex = start;
  for (let tag = tags.exec(text); tag !== null; tag = tags.exec(text)) {
    const end = tags.lastIndex;
    if (tag[0] !== form.valueClose) depth++;
    else if (depth > 1) depth--;
    else {
      const next = endOfSpace(text, end);
      if (text.startsWith(form.keyOpen, next) || text.startsWith(form.callClose, next)) {
        cursor.at = end;
        return withoutFrame(text.slice(start, tag.index));
      }
    }
  }
  return null;
}

/**
 * Cuts the newlines that templates put around a value: one behind the opening tag, and one before the closing tag only
 * where there was one behind the opening tag. Without that one the value stands between the tags as it is (GLM, MiniMax,
 * Seed-OSS), and the newline at its end is the last of a file.
 */
function withoutFrame(value: string): string {
  const opening = /^\r?\n/.exec(value)?.[0];
  return opening === undefined ? value : value.slice(opening.length).replace(/\r?\n$/, "");
}
