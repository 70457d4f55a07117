/**
 * LM Studio's own form for models without a native one: `[TOOL_REQUEST]{…}[END_TOOL_REQUEST]`.
 * Source: LM Studio documentation, tool use, "default tool use support"; fixture `lmstudio-default`.
 */
import type { Family } from "../family.ts";
import { readCallObjects } from "../json_call.ts";

export const LM_STUDIO: Family = {
  name: "lm_studio",
  openers: ["[TOOL_REQUEST]"],
  before: [],
  after: ["[END_TOOL_REQUEST]"],
  read(cursor, tools) {
    cursor.take("[TOOL_REQUEST]");
    cursor.skipSpace();
    return readCallObjects(cursor, { tools, separator: "," });
  },
};
