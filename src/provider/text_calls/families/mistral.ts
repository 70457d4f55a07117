/**
 * Mistral: `[TOOL_CALLS][{…}]` (up to Small 3.1), `[TOOL_CALLS]n{…}` and `[TOOL_CALLS]n[CALL_ID]id[ARGS]{…}` (later).
 * Source: mistral-common, tokenizer versions 3 to 13; fixtures `mistral-*`.
 */
import { type Family } from "../family.ts";
import { readArgumentsObject, readCallObjects } from "../json_call.ts";

export const MISTRAL: Family = {
  name: "mistral",
  openers: ["[TOOL_CALLS]"],
  before: [],
  after: ["</s>"],
  read(cursor, tools) {
    cursor.take("[TOOL_CALLS]");
    cursor.skipSpace();
    const objects = readCallObjects(cursor, { tools, separator: "," });
    if (objects !== null) return objects;
    const name = cursor.takeName();
    if (name === null) return null;
    if (cursor.take("[CALL_ID]")) cursor.takeMatch(/[\w-]+/y, 64);
    cursor.take("[ARGS]");
    cursor.skipSpace();
    return readArgumentsObject(cursor, { name, tools });
  },
};
