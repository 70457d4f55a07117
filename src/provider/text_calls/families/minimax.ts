/**
 * MiniMax M2: `<minimax:tool_call><invoke name="n"><parameter name="k">v</parameter></invoke></minimax:tool_call>`, with
 * several `invoke` in one pair of outer tags.
 * Source: chat template of MiniMax-M2; fixture `minimax`.
 */
import type { Family } from "../family.ts";
import { readTaggedCall, type TaggedForm } from "../tagged.ts";

const FORM: TaggedForm = {
  keyOpen: '<parameter name="',
  keyClose: ['">'],
  valueOpen: '<parameter name="',
  valueClose: "</parameter>",
  callClose: "</invoke>",
};

export const MINIMAX: Family = {
  name: "minimax",
  openers: ['<invoke name="'],
  before: ["<minimax:tool_call>"],
  after: ["</minimax:tool_call>"],
  closing: ["</parameter>", "</invoke>"],
  read(cursor, tools) {
    cursor.take('<invoke name="');
    cursor.skipSpace();
    const name = cursor.takeName();
    if (name === null || !cursor.take('">')) return null;
    return readTaggedCall(cursor, { name, form: FORM, tools });
  },
};
