/** What a turn printed as stream-json or JSON, held against the published schema. */
import assert from "node:assert/strict";
import { eventSchema, type ProtocolEvent, type ProtocolUsage, type ResultEvent } from "../../src/protocol/schema.ts";

/** Options of a run that prints every event. */
export const STREAM_JSON = ["--output-format", "stream-json", "--include-partial-messages"];

/** The events of a turn, with the one result that ends them. */
export function turnOf(stdout: string): { events: ProtocolEvent[]; result: ResultEvent } {
  assert.ok(stdout.endsWith("\n"), "the last line is complete");
  const events = stdout.trimEnd().split("\n").map((line) => eventSchema.parse(JSON.parse(line)));
  const results = events.filter((event) => event.type === "result");
  assert.equal(results.length, 1);
  const last = events.at(-1);
  assert.ok(last?.type === "result", "the result is the last line");
  return { events, result: last };
}

/** Tokens of a prompt as the server counted them, those from its cache too. */
export function promptTokens(usage: ProtocolUsage): number {
  return usage.input_tokens + usage.cache_read_input_tokens;
}
