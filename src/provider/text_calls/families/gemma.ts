/**
 * Gemma 4: `<|tool_call>call:n{k:<|"|>v<|"|>}<tool_call|>`. Strings stand between tokens and have no escapes; numbers,
 * words, lists and maps are as in JSON, keys without quotes.
 * Source: chat template of Gemma 4; fixture `gemma4`.
 */
import type { Cursor } from "../cursor.ts";
import { callReading, type Family } from "../family.ts";
import { type Notation, readMap } from "../literal.ts";

const STRING = '<|"|>';

const NOTATION: Notation = {
  words: new Map<string, unknown>([["true", true], ["false", false], ["null", null]]),
  string: readString,
  key: (cursor) => readString(cursor) ?? cursor.takeName(),
};

export const GEMMA: Family = {
  name: "gemma",
  openers: ["<|tool_call>call:"],
  before: [],
  after: ["<tool_call|>"],
  read(cursor, tools) {
    cursor.take("<|tool_call>call:");
    const name = cursor.takeName();
    cursor.skipSpace();
    if (name === null || !cursor.take("{")) return null;
    const input = readMap(cursor, { notation: NOTATION, close: "}", assign: ":" });
    return input === null ? { kind: "broken" } : callReading({ name, input }, tools);
  },
};

function readString(cursor: Cursor): string | null | undefined {
  if (!cursor.take(STRING)) return undefined;
  const end = cursor.text.indexOf(STRING, cursor.at);
  if (end < 0) return null;
  const value = cursor.text.slice(cursor.at, end);
  cursor.at = end + STRING.length;
  return value;
}
