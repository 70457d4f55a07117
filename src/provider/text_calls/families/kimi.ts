/**
 * Kimi K2: `<|tool_call_begin|>functions.n:0<|tool_call_argument_begin|>{…}<|tool_call_end|>` in a section of its own.
 * Source: tool call guide of Kimi-K2-Instruct; fixture `kimi`.
 */
import type { Family } from "../family.ts";
import { readArgumentsObject } from "../json_call.ts";

export const KIMI: Family = {
  name: "kimi",
  openers: ["<|tool_call_begin|>"],
  before: ["<|tool_calls_section_begin|>"],
  after: ["<|tool_call_end|>", "<|tool_calls_section_end|>"],
  read(cursor, tools) {
    cursor.take("<|tool_call_begin|>");
    cursor.skipSpace();
    const name = cursor.takeName();
    if (name === null) return null;
    if (cursor.take(":")) cursor.takeMatch(/\d+/y, 16);
    cursor.skipSpace();
    if (!cursor.take("<|tool_call_argument_begin|>")) return null;
    cursor.skipSpace();
    return readArgumentsObject(cursor, { name, tools });
  },
};
