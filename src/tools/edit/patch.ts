/** Patches that models write unasked, as edits: V4A (`*** Begin Patch`), unified diffs, and SEARCH/REPLACE blocks. */
import { searchReplaceBlocks } from "../../provider/text_calls/blocks.ts";
import type { EditPart } from "../declarations.ts";

/** The changes of a patch to one file; the path is absent if the patch names none. */
export type Patch =
  | { kind: "edits"; path?: string; edits: EditPart[] }
  | { kind: "file"; path: string; content: string }
  | { kind: "problem"; problem: string };

/** Text that is a patch, from its first line on. */
const BEGINS =
  /^\s*(?:```\w*\n)?(?:\*\*\* (?:Begin Patch|(?:Update|Add|Delete) File: )|--- \S.*\n\+\+\+ \S|<{5,9} ?SEARCH\b)/;

/** Returns whether a text is a patch. */
export function isPatch(text: string): boolean {
  return BEGINS.test(text);
}

/** Reads a patch of one file; null for any other text. */
export function readPatch(text: string): Patch | null {
  const plain = text.replaceAll("\r\n", "\n");
  if (/^<{5,9} ?SEARCH\b/m.test(plain)) return readBlocks(plain);
  if (/^\*\*\* (?:Update|Add|Delete) File: /m.test(plain)) return readV4a(plain);
  const path = /^\+\+\+ (?:b\/)?([^\t\n]+)/m.exec(plain)?.[1];
  const start = plain.search(/^@@/m);
  return start === -1 ? null : editsOf(plain.slice(start), path?.trim());
}

function readBlocks(text: string): Patch {
  const edits = searchReplaceBlocks(text).map(({ old_string, new_string }) => ({ old_string, new_string }));
  return edits.length > 0 ? { kind: "edits", edits } : {
    kind: "problem",
    problem: "The SEARCH/REPLACE block has no end. Call Edit with old_string and new_string.",
  };
}

function readV4a(text: string): Patch {
  const files = [...text.matchAll(/^\*\*\* (Update|Add|Delete) File: (.+)$/gm)];
  const [first, second] = files;
  if (first === undefined || second !== undefined) {
    const names = files.map((file) => file[2]?.trim()).join(", ");
    return { kind: "problem", problem: `The patch changes several files (${names}); send one patch for each file.` };
  }
  const [header, action, name = ""] = first;
  const path = name.trim();
  const end = /^\*\*\* End (?:Patch|of File)\s*$/m.exec(text.slice(first.index))?.index ?? text.length;
  const body = text.slice(first.index + header.length + 1, first.index + end);
  if (action === "Delete") return { kind: "problem", problem: `To delete ${path} call Bash with rm.` };
  if (/^\*\*\* Move to: /m.test(body)) {
    return { kind: "problem", problem: `To move ${path} call Bash with mv, then Edit the moved file.` };
  }
  if (action === "Update") return editsOf(body, path);
  const lines = body.replace(/\n$/, "").split("\n").map((line) => line.startsWith("+") ? line.slice(1) : line);
  return { kind: "file", path, content: lines.join("\n") + "\n" };
}

/** The hunks of a patch: lines that begin with a space, `-` or `+`, each group after a line with `@@`. */
function editsOf(body: string, path: string | undefined): Patch {
  const edits: EditPart[] = [];
  const parts = body.replace(/\n$/, "").split(/^(@@.*)\n?/m);
  // What comes before the first @@ has no header of its own.
  for (let at = 0; at < parts.length; at += 2) {
    const lines = (parts[at] ?? "").replace(/\n$/, "").split("\n").filter((line) =>
      !/^(?:\*\*\*|\\ No newline)/.test(line)
    );
    const after = (parts[at - 1] ?? "").replace(/^@@(?: -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)?/, "").replace(/@@$/, "")
      .trim();
    if (lines.every((line) => line.trim() === "")) continue;
    const edit = hunk(lines, after);
    if (edit !== null) edits.push(edit);
  }
  if (edits.length === 0) {
    return {
      kind: "problem",
      problem: "The patch changes nothing. Call Edit with file_path, old_string and new_string.",
    };
  }
  return { kind: "edits", edits, path };
}

function hunk(lines: readonly string[], after: string): EditPart | null {
  const side = (other: string) =>
    lines.filter((line) => !line.startsWith(other)).map((line) => /^[ +-]/.test(line) ? line.slice(1) : line);
  const [old, now] = [side("+"), side("-")];
  if (old.join("\n") === now.join("\n")) return null;
  const anchored = after === "" ? {} : { after };
  // Only new lines: after the line that the header names, else at the end of the file.
  if (old.length === 0) {
    const text = now.join("\n");
    return after === ""
      ? { old_string: "", new_string: `${text}\n` }
      : { old_string: after, new_string: `${after}\n${text}` };
  }
  const oldText = old.join("\n");
  return now.length === 0
    ? { old_string: `${oldText}\n`, new_string: "", ...anchored }
    : { old_string: oldText, new_string: now.join("\n"), ...anchored };
}
