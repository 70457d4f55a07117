/**
 * DeepSeek V3 and R1: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>n` and a fenced object; V3.1: `n<｜tool▁sep｜>{…}`.
 * Source: chat templates of DeepSeek-V3-0324, R1-0528 and V3.1; fixtures `deepseek-*`.
 */
import type { Family } from "../family.ts";
import { readArgumentsObject } from "../json_call.ts";

const SEPARATOR = "<｜tool▁sep｜>";

export const DEEPSEEK: Family = {
  name: "deepseek",
  openers: ["<｜tool▁call▁begin｜>"],
  before: ["<｜tool▁calls▁begin｜>"],
  after: ["<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"],
  read(cursor, tools) {
    cursor.take("<｜tool▁call▁begin｜>");
    cursor.skipSpace();
    const first = cursor.takeName();
    if (first === null || !cursor.take(SEPARATOR)) return null;
    cursor.skipSpace();
    const second = first === "function" ? cursor.takeName() : null;
    cursor.skipSpace();
    const fenced = cursor.takeAny(["```json", "```"]) !== null;
    cursor.skipSpace();
    const reading = readArgumentsObject(cursor, { name: second ?? first, tools });
    if (fenced && reading !== null && reading.kind !== "broken") {
      cursor.skipSpace();
      cursor.take("```");
    }
    return reading;
  },
};
