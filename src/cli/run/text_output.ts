/** `text`: what the model says on stdout as it comes; calls, notices and figures on stderr. */
import type { Io } from "../../platform/io.ts";
import { traceLabel } from "../../protocol/label_trace.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import type { RetryNotice } from "../../provider/types.ts";
import type { ToolResultItem } from "../../session/item.ts";
import { clean } from "../../terminal/clean.ts";
import { createPacedOutput } from "../../terminal/paced_output.ts";
import { createProgress } from "../../terminal/progress.ts";
import { showError } from "../show_error.ts";
import { AgentcliError } from "../../errors.ts";
import type { TurnOutput } from "./output.ts";

/** Longest subject of a call on its line, in characters. */
const SUBJECT_LIMIT = 160;
/** In place of what a call of a protected session is about. */
const MARK = "[no-cloud]";

/** What text output depends on. */
export interface TextOptions {
  quiet: boolean;
  verbose: boolean;
}

/** Prints for a person, or for a script that wants the answer alone on stdout. */
export function textOutput(io: Io, options: TextOptions): TurnOutput {
  const progress = createProgress(io, options);
  // A terminal gets no control characters from a model; a pipe gets the bytes as they are.
  const shown = io.stdout.isTerminal ? (text: string) => clean(text, { multiline: true }) : (text: string) => text;
  let atLineStart = true;
  let said = false;
  const denied = new Set<string>();
  const trace = traceLabel();
  const paced = createPacedOutput(io.stdout);
  let waited = false;
  const wait = (label: string) => {
    waited = true;
    progress.start(label);
  };
  const stopWaiting = async () => {
    waited = false;
    await progress.stop();
  };
  /** A piece of the answer; nothing is waited for but a reader that is too slow. */
  const stream = (text: string): void | Promise<void> => {
    atLineStart = text.endsWith("\n");
    said = true;
    if (!waited) return paced.write(shown(text));
    return stopWaiting().then(() => paced.write(shown(text)));
  };
  const say = async (text: string) => {
    await stream(text);
    await paced.settled();
  };
  const settle = async () => {
    await stopWaiting();
    await paced.settled();
  };
  const tell = async (line: string) => {
    await settle();
    if (options.quiet) return;
    // On a terminal both streams share the screen: the answer so far must not run into the notice.
    if (io.stdout.isTerminal && !atLineStart) await say("\n");
    await io.stderr.write(`${line}\n`);
  };
  return {
    event(event) {
      trace.follow(event);
      // Only the answer of a session that read protected content is printed: stderr may go into a log.
      const open = trace.label === "open";
      switch (event.kind) {
        case "request":
          wait("reading the prompt");
          return;
        case "delta":
          return delta(event.delta);
        case "reply":
          // What a model says before its calls, and its answer after them, are paragraphs of their own.
          if (event.item.calls.length > 0 && !atLineStart) return say("\n");
          return settle();
        case "tool_start":
          return tell(open ? `* ${event.toolName} ${clean(cut(event.subject))}` : `* ${event.toolName} ${MARK}`);
        case "permission_denied":
          denied.add(event.denial.callId);
          return tell(
            open
              ? `* ${event.denial.toolName} ${clean(cut(event.subject))}: denied. ${clean(event.message)}`
              : `* ${event.denial.toolName} ${MARK}: denied`,
          );
        case "tool_result":
          // A call that was denied has had its line.
          if (denied.delete(event.item.callId)) return;
          if (!event.item.isError) return;
          return tell(
            open ? `  ${failureLine(event.item)}` : `  ${clean(trace.toolName(event.item.name))} failed ${MARK}`,
          );
        case "retry":
          return tell(retryLine(event.notice));
        case "recovered":
          return tell(
            `  calls found in the text (${event.family}): ${
              event.toolNames.map((name) => clean(trace.toolName(name))).join(", ")
            }`,
          );
        case "status":
          if (event.status === "compacting") wait("summarising the older part of the session");
          return event.status === null ? stopWaiting() : undefined;
        case "truncated":
          return tell(truncatedLine(event));
        case "prefix_break":
          return tell(breakLine(event));
        case "compacted":
          return tell(`  summarised the older part: ${event.preTokens} tokens before, ${event.postTokens} now`);
        case "notice":
          return tell(`  ${clean(event.text)}`);
        default:
          return;
      }
    },
    async result(result) {
      await settle();
      if (!atLineStart) await say("\n");
      if (result.outcome !== "success") await fail(result);
      else {
        if (!options.quiet) await io.stderr.write(`${figures(result)}\n`);
        if (result.errorCode !== null) await io.stderr.write(missingPermission(result));
      }
    },
  };

  function delta(piece: (TurnEvent & { kind: "delta" })["delta"]): void | Promise<void> {
    switch (piece.kind) {
      case "text":
        return stream(piece.text);
      case "reasoning":
        wait("thinking");
        return;
      case "prefill":
        progress.note(`(${piece.processed} of ${piece.total} tokens)`);
        return;
      case "tool_call":
        return;
    }
  }

  async function fail(result: TurnResult): Promise<void> {
    if (result.errorCode === null) return;
    const incomplete = said && result.answer !== "" ? "; the answer above is incomplete" : "";
    const error = new AgentcliError(result.errorCode, `${result.errors.join("; ")}${incomplete}`, {
      ...(result.hint === null ? {} : { hint: result.hint }),
    });
    await showError(error, io, { json: false, verbose: options.verbose });
  }
}

/** Why a turn that came to its end is not exit 0. */
function missingPermission(result: TurnResult): string {
  return `agentcli: exit ${result.exitCode}: a permission was missing and nobody could be asked\n  ${
    result.hint ?? ""
  }\n`;
}

function cut(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > SUBJECT_LIMIT || line !== text ? `${line.slice(0, SUBJECT_LIMIT)} ...` : line;
}

function failureLine(item: ToolResultItem): string {
  return `${clean(item.name)} failed: ${clean(cut(item.content))}`;
}

function retryLine(notice: RetryNotice): string {
  const seconds = (notice.delayMs / 1000).toFixed(1);
  return `  ${clean(notice.reason)}; trying again in ${seconds} s (${notice.attempt} of ${notice.maxRetries})`;
}

function truncatedLine(event: TurnEvent & { kind: "truncated" }): string {
  const { estimatedTokens, promptTokens } = event;
  return `  the server dropped a part of the prompt: it read ${promptTokens} of about ${estimatedTokens} tokens\n` +
    `  ${clean(event.hint)}`;
}

const BREAKS = {
  shortened: "shortened old tool results",
  compacted: "the session starts from a summary",
  images_left_out: "without those images",
  tool_calls_as_text: "tools are described as text from here on",
} as const;

function breakLine(event: TurnEvent & { kind: "prefix_break" }): string {
  const { reason, bytesKept, bytesBefore, bytesAfter } = event;
  return `  ${BREAKS[reason]}: ${bytesBefore} bytes before, ${bytesAfter} now, read anew after ${bytesKept}`;
}

function figures(result: TurnResult): string {
  const { promptTokens, completionTokens } = result.usage;
  const seconds = (result.durationMs / 1000).toFixed(1);
  const replies = result.turns === 1 ? "1 reply" : `${result.turns} replies`;
  const tokens = promptTokens + completionTokens > 0
    ? `${promptTokens} tokens read, ${completionTokens} written, `
    : "";
  return `${tokens}${replies}, ${seconds} s`;
}
