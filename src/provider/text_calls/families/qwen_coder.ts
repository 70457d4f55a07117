/**
 * Qwen3-Coder: `<tool_call><function=n><parameter=k>v</parameter></function></tool_call>`, the outer tags often missing. Seed-OSS writes the
 * same in `<seed:tool_call>`.
 * Source: chat templates of Qwen3-Coder and Seed-OSS; fixtures `qwen3-coder-*`.
 */
import type { Family } from "../family.ts";
import { readTaggedCall, type TaggedForm } from "../tagged.ts";

const FORM: TaggedForm = {
  keyOpen: "<parameter=",
  keyClose: [">"],
  valueOpen: "<parameter=",
  valueClose: "</parameter>",
  callClose: "</function>",
};

export const QWEN_CODER: Family = {
  name: "qwen_coder",
  openers: ["<function="],
  before: ["<tool_call>", "<seed:tool_call>"],
  after: ["</tool_call>", "</seed:tool_call>"],
  closing: ["</parameter>", "</function>"],
  read(cursor, tools) {
    cursor.take("<function=");
    cursor.skipSpace();
    const name = cursor.takeName();
    if (name === null || !cursor.take(">")) return null;
    return readTaggedCall(cursor, { name, form: FORM, tools });
  },
};
