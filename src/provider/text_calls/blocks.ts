/** SEARCH/REPLACE blocks, the form of aider, as calls of the tool that replaces text. */
import { meantTool } from "../trained_names.ts";
import type { CallContext, TextCall } from "./call.ts";

/** A text to find and the one that takes its place. */
interface Block {
  old_string: string;
  new_string: string;
  /** From the first to after the last mark. */
  start: number;
  end: number;
}

/** No edit of a model has more blocks. */
const BLOCKS_LIMIT = 200;

const BLOCK = /^<{5,9} ?SEARCH[^\n]*\n([^]*?)^={5,9}[ \t]*\n([^]*?)^>{5,9} ?REPLACE[ \t]*$/gm;

/** The blocks of a text. Both texts of one lose their last line end where both have one and something stays. */
export function searchReplaceBlocks(text: string): Block[] {
  // Each opening without an end is looked for to the end of the text.
  if ((text.match(/^<{5,9} ?SEARCH/gm)?.length ?? 0) > BLOCKS_LIMIT) return [];
  return [...text.matchAll(BLOCK)].map((found) => {
    const [whole, old = "", now = ""] = found;
    const cut = old.endsWith("\n") && now.endsWith("\n");
    return {
      old_string: cut ? old.slice(0, -1) : old,
      new_string: cut ? now.slice(0, -1) : now,
      start: found.index,
      end: found.index + whole.length,
    };
  });
}

/** The calls of a message that ends with such blocks, each of them after a line that names its file; else none. */
export function readBlocks(text: string, start: number, { tools }: CallContext): TextCall[] {
  const name = text.includes("SEARCH") ? meantTool("str_replace", [...tools.keys()]) : null;
  const message = text.slice(start).replaceAll("\r\n", "\n");
  const blocks = name === null ? [] : searchReplaceBlocks(message);
  if (name === null || !/^\s*(?:```)?\s*$/.test(message.slice(blocks.at(-1)?.end ?? 0))) return [];
  const calls: TextCall[] = [];
  let path: string | null = null;
  let from = 0;
  for (const { old_string, new_string, start: at, end } of blocks) {
    path = pathBefore(message.slice(from, at)) ?? path;
    if (path === null || old_string === "") return [];
    calls.push({ name, input: { file_path: path, old_string, new_string } });
    from = end;
  }
  return calls;
}

/** The file that the last line before a block names, or the line before its fence. */
function pathBefore(text: string): string | null {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("```"));
  const bare = (lines.at(-1) ?? "").replace(/^(?:[#*`\s]|File:)+|(?<![*`:\s])[*`:\s]+$/gi, "");
  return /^[\w./@+-]{1,400}$/.test(bare) && /[./]/.test(bare) ? bare : null;
}
