/** Transcripts for tests: a fresh home, options that are not under test, and random items. */
import * as fc from "../property.ts";
import { manualClock } from "./manual_clock.ts";
import { type ToolHome, toolHome } from "./tool_home.ts";
import type { AssistantItem, SessionItem, UserItem } from "../../src/session/item.ts";
import type { SessionContext } from "../../src/session/line.ts";
import { projectSlug, transcriptName } from "../../src/session/place.ts";
import type { TranscriptOptions } from "../../src/session/transcript.ts";

/** Ids of sessions in tests. */
export const SESSION = "11111111-2222-4333-8444-555555555555";
export const OTHER_SESSION = "11112222-2222-4333-8444-555555555555";
export const PROJECT_ROOT = "/work of a user/project";

/** A home with room for transcripts. */
export function transcriptHome(): Promise<ToolHome> {
  return toolHome(null);
}

/** Options of a transcript, with troubles in a list. */
export function transcriptOptions(
  more: Partial<TranscriptOptions> = {},
): TranscriptOptions & { troubles: string[] } {
  const troubles: string[] = [];
  return {
    projectRoot: PROJECT_ROOT,
    sessionId: SESSION,
    cwd: PROJECT_ROOT,
    version: "0.1.0",
    model: "fake",
    clock: manualClock(),
    onTrouble: (text) => void troubles.push(text),
    troubles,
    ...more,
  };
}

/** The file of a session of {@link PROJECT_ROOT}. */
export function transcriptFile({ home }: ToolHome, id: string = SESSION): string {
  return home.file(transcriptName(projectSlug(PROJECT_ROOT), id));
}

/** Where a session of {@link PROJECT_ROOT} lies. */
export function placeOf(id: string = SESSION): { slug: string; id: string } {
  return { slug: projectSlug(PROJECT_ROOT), id };
}

/** A context with one tool. */
export const CONTEXT: SessionContext = {
  system: { text: "You are an agent.", label: "open" },
  tools: [{ type: "function", function: { name: "Read", description: "Reads.", parameters: { type: "object" } } }],
};

/** A question. */
export function userItem(text: string): UserItem {
  return { kind: "user", text, label: "open" };
}

/** An answer without calls. */
export function answer(text: string): AssistantItem {
  return { kind: "assistant", id: `msg_${crypto.randomUUID()}`, text, reasoning: "", calls: [], label: "open" };
}

/** A reply with one call, and its result. */
export function readCall(callId: string, content: string): SessionItem[] {
  return [
    {
      kind: "assistant",
      id: `msg_${crypto.randomUUID()}`,
      text: "",
      reasoning: "I should look.",
      calls: [{ id: callId, name: "Read", input: { file_path: "a.ts" } }],
      label: "open",
    },
    { kind: "tool_result", callId, name: "Read", content, isError: false, label: "open" },
  ];
}

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\u2028", "\u2029", "\0", "\ud800", "\udfff x", "\r\n", "\n{}\n", "\ufeffx", '"},\n', "__proto__"),
  // Any sequence of UTF-16 units, lone surrogates too.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const input = fc.dictionary(hostile, fc.jsonValue(), { maxKeys: 3 }).map((value): Record<string, unknown> => {
  // As the engine has it: arguments come out of JSON.
  const parsed: unknown = JSON.parse(JSON.stringify(value));
  return isRecord(parsed) ? parsed : {};
});

/** Turns of a conversation as the engine makes them: every call has its result, whatever the texts hold. */
export const conversation: fc.Arbitrary<SessionItem[]> = fc.array(
  fc.oneof(
    fc.record({ text: hostile, origin: fc.constantFrom(undefined, "engine" as const, "summary" as const) })
      .map(({ text, origin }): SessionItem[] => [
        { kind: "user", text, label: "open", ...(origin === undefined ? {} : { origin }) },
      ]),
    fc.record({
      text: hostile,
      reasoning: hostile,
      id: fc.uuid(),
      calls: fc.array(
        fc.record({
          id: fc.uuid(),
          name: hostile,
          input: fc.option(input),
          problem: fc.option(hostile),
          content: hostile,
          isError: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
    }).map(({ text, reasoning, id, calls }): SessionItem[] => [
      {
        kind: "assistant",
        id,
        text,
        reasoning,
        label: "open",
        calls: calls.map((call) => ({
          id: call.id,
          name: call.name,
          input: call.input,
          ...(call.problem === null ? {} : { problem: call.problem }),
        })),
      },
      ...calls.map((call): SessionItem => ({
        kind: "tool_result",
        callId: call.id,
        name: call.name,
        content: call.content,
        isError: call.isError,
        label: "open",
      })),
    ]),
  ),
  { maxLength: 6 },
).map((parts) => parts.flat());
