/** Text output: the model's text on stdout as it arrives; tool calls, notices and statistics on stderr. */
import type { Io } from "../../platform/io.ts";
import { type LabelTrace, traceLabel, type TurnEvent, type TurnResult } from "../../protocol/turn_event.ts";
import { counted } from "../../platform/number.ts";
import { clean } from "../../terminal/clean.ts";
import { createPacedOutput, createProgress } from "../../terminal/paced_output.ts";
import { showError } from "../output.ts";
import { AgentcliError } from "../../errors.ts";
import type { RetryNotice } from "../../provider/types.ts";

/** Prints for a person, or for a script that wants the answer alone on stdout. */
export class TextOutput implements TurnOutput {
  readonly #io: Io;
  readonly #options: { quiet: boolean; verbose: boolean };
  readonly #progress: ReturnType<typeof createProgress>;
  readonly #paced: ReturnType<typeof createPacedOutput>;
  #atLineStart = true;
  /** Whether stdout ends inside a response. */
  #open = false;
  readonly #denied = new Set<string>();
  readonly #trace = traceLabel();
  /** Of the search that runs. */
  readonly #searched = traceLabel();

  constructor(io: Io, options: { quiet: boolean; verbose: boolean }) {
    this.#io = io;
    this.#options = options;
    this.#progress = createProgress(io, options);
    this.#paced = createPacedOutput(io.stdout);
  }

  event(event: TurnEvent): void | Promise<void> {
    this.#trace.follow(event);
    switch (event.kind) {
      case "request":
        // A response begins on a line of its own: what one before it said, complete or not, is no part of it.
        return this.#atLineStart ? this.#begin() : this.#print("\n").then(() => this.#begin());
      case "delta":
        return this.#delta(event.delta);
      case "response":
        this.#open = false;
        // Its last line ends with it: what comes next, here or on stderr, begins on a line of its own.
        return this.#atLineStart ? this.#settle() : this.#print("\n");
      case "status":
        if (event.status === "compacting") this.#progress.start("summarizing the older part of the session");
        return event.status === null ? this.#progress.stop() : undefined;
      case "retry":
        if (event.notice.kind === "loading" && event.notice.attempt === 1) {
          return this.#line(eventLine(event, this.#trace) ?? "").then(() => this.#progress.start("loading the model"));
        }
        break;
      case "nested":
        return this.#nested(event.event);
      case "permission_denied":
        this.#denied.add(event.denial.callId);
        break;
      case "tool_result":
        // A denied call already has its line.
        if (this.#denied.delete(event.item.callId)) return;
        break;
    }
    const line = eventLine(event, this.#trace);
    return line === null ? undefined : this.#line(line);
  }

  async result(result: TurnResult): Promise<void> {
    await this.#settle();
    if (!this.#atLineStart) await this.#print("\n");
    if (result.outcome !== "success") return await this.#fail(result);
    if (!this.#options.quiet) await this.#io.stderr.write(`${figures(result)}\n`);
    const why = endText(result);
    if (why !== null) await this.#io.stderr.write(`agentcli: exit ${result.exitCode}: ${why}\n`);
  }

  /** Prints a piece of the answer; waits only for a reader that is too slow. */
  #stream(text: string): void | Promise<void> {
    this.#atLineStart = text.endsWith("\n");
    this.#open = true;
    // A terminal gets no control characters from a model; a pipe gets the bytes as they are.
    const shown = this.#io.stdout.isTerminal ? clean(text, { multiline: true }) : text;
    const stopped = this.#progress.stop();
    return stopped === undefined ? this.#paced.write(shown) : stopped.then(() => this.#paced.write(shown));
  }

  async #print(text: string): Promise<void> {
    await this.#stream(text);
    await this.#paced.settled();
  }

  async #settle(): Promise<void> {
    await this.#progress.stop();
    await this.#paced.settled();
  }

  async #line(line: string): Promise<void> {
    await this.#settle();
    if (this.#options.quiet) return;
    // On a terminal both streams share the screen: the answer so far must not run into the notice.
    if (this.#io.stdout.isTerminal && !this.#atLineStart) await this.#print("\n");
    await this.#io.stderr.write(`${line}\n`);
  }

  /** Shows the calls of a search, indented; its text is for the model alone. */
  #nested(event: TurnEvent): void | Promise<void> {
    this.#searched.follow(event);
    if (event.kind === "request") return this.#progress.start("searching");
    const line = eventLine(event, this.#searched);
    return line === null ? undefined : this.#line(line.replace(/^/gm, "  "));
  }

  #begin(): void {
    this.#open = false;
    this.#progress.start("reading the prompt");
  }

  #delta(piece: (TurnEvent & { kind: "delta" })["delta"]): void | Promise<void> {
    if (piece.kind === "text") return this.#stream(piece.text);
    if (piece.kind === "reasoning") this.#progress.start("thinking");
    if (piece.kind === "prefill") this.#progress.note(`(${piece.processed} of ${piece.total} tokens)`);
  }

  async #fail({ errorCode, errors, hint }: TurnResult): Promise<void> {
    if (errorCode === null) return;
    const words = `${errors.join("; ")}${this.#open ? "; the answer above is incomplete" : ""}`;
    const error = new AgentcliError(errorCode, words, { hint: hint ?? undefined });
    await showError(error, this.#io, { json: false, verbose: this.#options.verbose });
  }
}

/** Says why a turn with an answer fails. The code is for the session, the words for the turn of the denial. */
function endText({ errorCode, denials, hint }: TurnResult): string | null {
  if (errorCode === "check_failed") return hint ?? "";
  if (errorCode !== "permission_denied" || denials.length === 0) return null;
  return `a permission was missing and nobody could be asked\n  ${hint ?? ""}`;
}

/** Longest subject of a call on its line, in characters. */
const SUBJECT_LIMIT = 160;
/** Printed in place of the subject of a call in a protected session. */
const MARK = "[no-cloud]";

const BREAKS = {
  shortened: "old tool results were shortened",
  compacted: "the session starts from a summary",
  images_left_out: "without those images",
  one_call_a_message: "one tool call per message from here on",
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
      const { denial, subject, message, shown = message } = event;
      return open
        ? `* ${denial.toolName} ${clean(cut(subject))}: denied. ${clean(shown)}`
        : `* ${denial.toolName} ${MARK}: denied`;
    }
    case "tool_result": {
      const { isError, name } = event.item;
      if (!isError) return null;
      return open
        ? `  ${clean(name)} failed: ${clean(failureText(event))}`
        : `  ${clean(trace.toolName(name))} failed ${MARK}`;
    }
    case "truncated":
      return `  ${clean(noteOf(event) ?? "")}\n  ${clean(event.hint)}`;
    case "cache_invalidated": {
      const { bytesKept, bytesBefore, bytesAfter } = event;
      return `  ${noteOf(event)}: ${bytesBefore} bytes before, ${bytesAfter} now, read again after ${bytesKept}`;
    }
    default: {
      const note = noteOf(event, trace);
      const indent = event.kind === "check" && event.state === "running" ? "" : "  ";
      return note === null ? null : indent + clean(note);
    }
  }
}

/** The words for an event that a run and the chat share, to be cleaned; null where they show nothing, or differ. */
export function noteOf(event: TurnEvent, trace?: Pick<LabelTrace, "toolName">): string | null {
  switch (event.kind) {
    case "retry":
      return retryText(event.notice);
    case "recovered": {
      const names = event.toolNames.map((name) => trace?.toolName(name) ?? name);
      return `tool calls found in the text (${event.family}): ${names.join(", ")}`;
    }
    case "check":
      return checkText(event);
    case "truncated": {
      const { estimatedTokens, promptTokens } = event;
      return `the server dropped a part of the prompt: it read ${promptTokens} of about ${estimatedTokens} tokens`;
    }
    case "cache_invalidated":
      return BREAKS[event.reason];
    case "compacted":
      return `summarized the older part: ${event.preTokens} tokens before, ${event.postTokens} now`;
    case "notice":
      return event.text;
    default:
      return null;
  }
}

/** The first line of a result; for a command, how it ended before that. */
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

/**
 * Says that a request is sent again. Null where that was already said, since a large model takes minutes to load, and
 * for a connection that is refused and tried again within a second, which the final error reports.
 */
function retryText({ kind, reason, restart, delayMs, attempt, maxRetries }: RetryNotice): string | null {
  if (restart) return `${reason}; retrying, the text so far is discarded`;
  if (kind === "loading") return attempt > 1 ? null : `${reason}; retrying until it is ready`;
  if (kind === "refused" && delayMs < 1000) return null;
  return `${reason}; retrying in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxRetries})`;
}

/** The outcome of a check; the command is the user's own. */
function checkText({ command, state, exitCode, isForModel, reason = "" }: TurnEvent & { kind: "check" }): string {
  switch (state) {
    case "running":
      return `* check ${cut(command)}`;
    case "passed":
      return "the check passed";
    case "not_run":
      return `the check was not run: ${cut(reason)}`;
    case "failed":
      return `the check failed (${exitCode === null ? "time limit" : `exit code ${exitCode}`})` +
        (isForModel ? "; its output goes to the model" : "");
  }
}

/** Tokens as people say them: 940, 3.1k, 11.2k, 128k. */
export function tokensText(tokens: number): string {
  if (tokens < 1000) return `${Math.round(tokens)}`;
  return tokens < 99_950 ? `${Number((tokens / 1000).toFixed(1))}k` : `${Math.round(tokens / 1000)}k`;
}

/** Returns tokens, responses and time of a turn. */
function figures(result: TurnResult): string {
  const { promptTokens, completionTokens, cachedTokens, cacheReported } = result.usage;
  const seconds = (result.durationMs / 1000).toFixed(1);
  const cached = cacheReported ? ` (${tokensText(cachedTokens)} cached)` : "";
  const tokens = promptTokens + completionTokens > 0
    ? `${tokensText(promptTokens)} in${cached}, ${tokensText(completionTokens)} out, `
    : "";
  return `${tokens}${counted(result.turns, "response")}, ${seconds} s`;
}

/** Takes the events of a turn in order, then its result. */
export interface TurnOutput {
  event(event: TurnEvent): void | Promise<void>;
  result(result: TurnResult): Promise<void>;
}
