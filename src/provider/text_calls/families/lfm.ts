/**
 * LFM2: `<|tool_call_start|>[n(k="v"), …]<|tool_call_end|>`, a list of calls as Python writes them, or JSON when asked.
 * Source: model card of LiquidAI LFM2; fixture `lfm2`.
 */
import type { Cursor } from "../cursor.ts";
import { callReading, type DeclaredTools, type Family, type Reading, type TextCall } from "../family.ts";
import { readCallObjects } from "../json_call.ts";
import { readSeries } from "../literal.ts";
import { readKeywords } from "../python.ts";

export const LFM: Family = {
  name: "lfm",
  openers: ["<|tool_call_start|>"],
  before: [],
  after: ["<|tool_call_end|>"],
  read(cursor, tools) {
    cursor.take("<|tool_call_start|>");
    cursor.skipSpace();
    const start = cursor.at;
    if (cursor.take("[")) cursor.skipSpace();
    const json = cursor.character === "{";
    cursor.at = start;
    if (json) return readCallObjects(cursor, { tools, separator: "," });
    return cursor.take("[") ? readList(cursor, tools) : null;
  },
};

/** All or nothing: one call that is refused refuses the list. */
function readList(cursor: Cursor, tools: DeclaredTools): Reading {
  const calls: TextCall[] = [];
  let refused = false;
  const closed = readSeries(cursor, {
    close: "]",
    one() {
      const name = cursor.takeName();
      if (name === null || !cursor.take("(")) return false;
      const input = readKeywords(cursor);
      if (input === null) return false;
      const reading = callReading({ name, input }, tools);
      if (reading.kind === "calls") calls.push(...reading.calls);
      else refused = true;
      return true;
    },
  });
  if (!closed) return { kind: "broken" };
  return refused || calls.length === 0 ? { kind: "refused" } : { kind: "calls", calls };
}
