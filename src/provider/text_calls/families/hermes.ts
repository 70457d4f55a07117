/**
 * Hermes, Qwen2.5, Qwen3: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`; the closing tag is often missing, and
 * one pair of tags may hold several objects.
 * Source: chat templates of NousResearch Hermes 2 Pro and Qwen3; fixtures `hermes*`, `think-then-call`.
 */
import type { Family } from "../family.ts";
import { readCallObjects } from "../json_call.ts";

export const HERMES: Family = {
  name: "hermes",
  openers: ["<tool_call>"],
  before: [],
  after: ["</tool_call>"],
  read(cursor, tools) {
    cursor.take("<tool_call>");
    cursor.skipSpace();
    return readCallObjects(cursor, { tools, separator: "," });
  },
};
