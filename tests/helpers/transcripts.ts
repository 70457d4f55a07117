/** Transcripts for tests: a fresh home, options that are not under test, and items. */
import { manualClock } from "./manual_clock.ts";
import { type ToolHome, toolHome } from "./tool_home.ts";
import type { AssistantItem, SessionItem, UserItem } from "../../src/session/item.ts";
import type { SessionContext } from "../../src/session/line.ts";
import { projectSlug, transcriptName } from "../../src/session/paths.ts";
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
  return { kind: "user", text, label: "open", said: 1 };
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
