/**
 * GLM 4.5 and later: `<tool_call>n<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`, with or without newlines
 * between. The closing tag is the only sign that all arguments are there, so it is required.
 * Source: chat templates of GLM-4.5 and GLM-4.7; fixtures `glm`, `glm-noargs`.
 */
import type { Family } from "../family.ts";
import { readTaggedCall, type TaggedForm } from "../tagged.ts";

const FORM: TaggedForm = {
  keyOpen: "<arg_key>",
  keyClose: ["</arg_key>", "<arg_value>"],
  valueOpen: "<arg_value>",
  valueClose: "</arg_value>",
  callClose: "</tool_call>",
};

export const GLM: Family = {
  name: "glm",
  openers: ["<tool_call>"],
  before: [],
  after: [],
  closing: ["</arg_key>", "</arg_value>"],
  read(cursor, tools) {
    cursor.take("<tool_call>");
    cursor.skipSpace();
    const name = cursor.takeName();
    if (name === null) return null;
    return readTaggedCall(cursor, { name, form: FORM, tools });
  },
};
