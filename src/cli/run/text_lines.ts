/** The lines in which a turn tells on stderr what it does, and how it ended. */
import type { LabelTrace } from "../../protocol/label_trace.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import type { RetryNotice } from "../../provider/types.ts";
import { clean } from "../../terminal/clean.ts";

/** Longest subject of a call on its line, in characters. */
const SUBJECT_LIMIT = 160;
/** In place of what a call of a protected session is about. */
const MARK = "[no-cloud]";

const BREAKS = {
  shortened: "shortened old tool results",
  compacted: "the session starts from a summary",
  images_left_out: "without those images",
  one_call_a_message: "one call a message from here on",
  tool_calls_as_text: "tools are described as text from here on",
  no_system_message: "the system message stands before the first prompt from here on",
} as const;

/**
 * The line of an event; null for those that have none. Of a session that read protected content it names nothing that
 * the model wrote: stderr may go into a log.
 */
export function eventLine(event: TurnEvent, trace: LabelTrace): string | null {
  const open = trace.label === "open";
  switch (event.kind) {
    case "tool_start":
      return `* ${event.toolName} ${open ? clean(cut(event.subject)) : MARK}`;
    case "permission_denied": {
      const { denial, subject, message, told = message } = event;
      return open
        ? `* ${denial.toolName} ${clean(cut(subject))}: denied. ${clean(told)}`
        : `* ${denial.toolName} ${MARK}: denied`;
    }
    case "tool_result": {
      const { isError, name } = event.item;
      if (!isError) return null;
      return open
        ? `  ${clean(name)} failed: ${clean(failureText(event))}`
        : `  ${clean(trace.toolName(name))} failed ${MARK}`;
    }
    case "retry": {
      const text = retryText(event.notice);
      return text === null ? null : `  ${text}`;
    }
    case "recovered": {
      const names = event.toolNames.map((name) => clean(trace.toolName(name)));
      return `  calls found in the text (${event.family}): ${names.join(", ")}`;
    }
    case "truncated":
      return truncatedLine(event);
    case "prefix_break":
      return breakLine(event);
    case "compacted":
      return `  summarised the older part: ${event.preTokens} tokens before, ${event.postTokens} now`;
    case "notice":
      return `  ${clean(event.text)}`;
    default:
      return null;
  }
}

/** Why a turn that came to its end is not exit 0. */
export function missingPermission(result: TurnResult): string {
  return `agentcli: exit ${result.exitCode}: a permission was missing and nobody could be asked\n  ${
    result.hint ?? ""
  }\n`;
}

/** The first line of what came; of a command how it ended before that. */
function failureText({ item: { content }, details }: TurnEvent & { kind: "tool_result" }): string {
  const first = cut(content);
  const { exitCode, timedOut } = details ?? {};
  if (timedOut === true) return `time limit: ${first}`;
  if (typeof exitCode !== "number" || exitCode === 0) return first;
  const note = `exit code ${exitCode}`;
  return content === `[${note}]` ? note : `${note}: ${first}`;
}

function cut(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > SUBJECT_LIMIT || line !== text ? `${line.slice(0, SUBJECT_LIMIT)} ...` : line;
}

/** That a request is sent again. Null where that is said already: a large model takes minutes to load. */
export function retryText(notice: RetryNotice): string | null {
  const { kind, reason, delayMs, attempt, maxRetries } = notice;
  if (notice.restart) return `${clean(reason)}; asking once more, the words so far do not count`;
  if (kind === "loading") return attempt > 1 ? null : `${clean(reason)}; asked again until it is ready`;
  return `${clean(reason)}; trying again in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxRetries})`;
}

function truncatedLine(event: TurnEvent & { kind: "truncated" }): string {
  const { estimatedTokens, promptTokens } = event;
  return `  the server dropped a part of the prompt: it read ${promptTokens} of about ${estimatedTokens} tokens\n` +
    `  ${clean(event.hint)}`;
}

function breakLine(event: TurnEvent & { kind: "prefix_break" }): string {
  const { reason, bytesKept, bytesBefore, bytesAfter } = event;
  return `  ${BREAKS[reason]}: ${bytesBefore} bytes before, ${bytesAfter} now, read anew after ${bytesKept}`;
}

/** What the turn took. */
export function figures(result: TurnResult): string {
  const { promptTokens, completionTokens } = result.usage;
  const seconds = (result.durationMs / 1000).toFixed(1);
  const replies = result.turns === 1 ? "1 reply" : `${result.turns} replies`;
  const tokens = promptTokens + completionTokens > 0
    ? `${promptTokens} tokens read, ${completionTokens} written, `
    : "";
  return `${tokens}${replies}, ${seconds} s`;
}
