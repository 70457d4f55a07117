/**
 * Llama 3.x: `<|python_tag|>{"name":…,"parameters":{…}}`, several joined by `;`, or `<|python_tag|>n.call(k=v)`.
 * Without the tag it is the weak form (bare.ts). Other code after the tag is for an interpreter, and no call.
 * Source: Meta's prompt format documents of Llama 3.1 and 3.2; fixtures `llama3-*`.
 */
import { callReading, type Family } from "../family.ts";
import { readCallObjects } from "../json_call.ts";
import { readKeywords } from "../python.ts";

export const LLAMA: Family = {
  name: "llama",
  openers: ["<|python_tag|>"],
  before: [],
  after: ["<|eom_id|>", "<|eot_id|>"],
  read(cursor, tools) {
    cursor.take("<|python_tag|>");
    cursor.skipSpace();
    const objects = readCallObjects(cursor, { tools, separator: ";" });
    if (objects !== null) return objects;
    const name = cursor.takeName();
    if (!name?.endsWith(".call") || !cursor.take("(")) return null;
    const input = readKeywords(cursor);
    return input === null ? { kind: "broken" } : callReading({ name: name.slice(0, -".call".length), input }, tools);
  },
};
