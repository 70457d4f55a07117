/** What the checks are called for people, and the order in which they are told. */
import type { Findings } from "../../../provider/probe/findings.ts";

/** In the order of the table. */
export const LABELS: Readonly<Record<keyof Findings, string>> = {
  reachable: "reachable",
  chat: "chat",
  windowClaimed: "window claimed",
  windowProved: "window proved",
  promptCache: "prompt cache",
  generation: "writing",
  toolCall: "tool call",
  parallelCalls: "parallel calls",
  nestedArguments: "nested arguments",
  toolResult: "tool result",
  textToolCall: "tool call as text",
  jsonSchema: "JSON schema",
  edit: "edit",
  stop: "stop on abort",
};
