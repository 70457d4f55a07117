/** One turn on the screen: the answer as Markdown, calls as one line, thinking folded, and what is being waited for. */
import type { Clock } from "../../platform/io.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import type { ChatDelta, RetryNotice, Usage } from "../../provider/types.ts";
import type { ToolResultItem } from "../../session/item.ts";
import { clean } from "../../terminal/clean.ts";
import { MarkdownStream } from "../../terminal/markdown.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import { wrap } from "../../terminal/wrap.ts";
import {
  type Activity,
  activityText,
  BYTES_PER_TOKEN,
  costText,
  doneText,
  type Phase,
  type Rates,
} from "./activity.ts";
import { eventRows, failureRows, textRows } from "./event_rows.ts";

/** Options of the view. */
export interface TurnViewOptions {
  width(): number;
  color: boolean;
  clock: Pick<Clock, "monotonic">;
  /** Estimated tokens of the next request; null where there is no session. */
  promptTokens(): number | null;
  /** Rows that stay. */
  print(rows: readonly Row[]): void;
  /** Something that is drawn again has changed. */
  changed(): void;
}

/** Rows of folded text that are shown when it is opened. */
const OPENED_LIMIT = 400;
/** Cells of what runs, so that its time is seen. */
const LONGEST_SUBJECT = 40;
const PREPARING: Phase = { kind: "work", label: "preparing the request" };
/** A prompt of fewer new tokens says nothing of the speed at which prompts are read. */
const LEAST_MEASURED = 200;

/** The view of a whole chat's turns: the last folded text stays to be opened. */
export class TurnView {
  readonly #options: TurnViewOptions;
  #markdown: MarkdownStream | null = null;
  #activity: Activity | null = null;
  #reasoning = "";
  #reasoningSince: number | null = null;
  #folded: { title: string; text: string } | null = null;
  #subjects = new Map<string, string>();
  #denied = new Set<string>();
  /** A tool call was shown last: the answer is a paragraph of its own. */
  #afterCall = false;
  #sent: number | null = null;
  #firstToken: number | null = null;
  #streamed = 0;
  #rate: number | null = null;
  /** Seconds and tokens of the responses of this turn. */
  #written = { seconds: 0, tokens: 0 };
  readonly #rates: Rates = { prefill: null };
  /** Tokens that the server has read and written, so that it need not read them again; 0 where it has to. */
  #known = 0;
  /** The row as it was told last: it changes once a second. */
  #told: { phase: Phase; second: number; text: string } | null = null;
  /** A turn runs: something is being waited for all the time. */
  #inTurn = false;

  constructor(options: TurnViewOptions) {
    this.#options = options;
  }

  /** Tokens a second of the response that streams, else of the last; null before any. */
  get rate(): number | null {
    const since = this.#firstToken;
    if (since === null) return this.#rate;
    const seconds = (this.#options.clock.monotonic() - since) / 1000;
    return seconds < 1 ? this.#rate : this.#streamed / BYTES_PER_TOKEN / seconds;
  }

  /** Another model or another session: what was measured is not of it. */
  forgetRate(): void {
    this.#rate = null;
    this.#rates.prefill = null;
    this.#known = 0;
  }

  /** Tokens a second at which prompts were read; null before any was measured. */
  get prefillRate(): number | null {
    return this.#rates.prefill;
  }

  /** The block that is still written. */
  openRows(): Row[] {
    return this.#markdown?.open() ?? [];
  }

  /** Returns what is being waited for; null outside of turns and other work. */
  activityRow(width: number): Row | null {
    const activity = this.#activity;
    if (activity === null) return null;
    const now = this.#options.clock.monotonic();
    const { phase } = activity;
    const second = Math.floor((now - activity.since) / 1000);
    if (phase.kind !== "writing" || this.#told?.phase !== phase || this.#told.second !== second) {
      this.#told = { phase, second, text: activityText(activity, { now, rates: this.#rates }) };
    }
    return row(fit(this.#told.text, width), "dim");
  }

  /** Says what is being done besides a turn. */
  begin(label: string): void {
    this.#enter({ kind: "work", label });
  }

  /** A person is asked. */
  waitForAnswer(): void {
    this.#enter({ kind: "answer" });
  }

  /** A turn begins: from here to its end there is always something to wait for. */
  beginTurn(): void {
    this.#inTurn = true;
    this.#written = { seconds: 0, tokens: 0 };
    this.#enter(PREPARING);
  }

  end(): void {
    if (this.#inTurn) return this.#enter(PREPARING);
    this.#activity = null;
    this.#options.changed();
  }

  #enter(phase: Phase): void {
    const now = this.#options.clock.monotonic();
    this.#activity = { phase, since: now, heard: now };
    this.#options.changed();
  }

  event(event: TurnEvent): void {
    switch (event.kind) {
      case "request":
        return this.#enter(PREPARING);
      case "sent":
        return this.#sentNow();
      case "delta":
        return this.#delta(event.delta);
      case "response":
        return this.#responded(event.usage);
      case "retry":
        // What was thought or said of a response that begins anew is over.
        if (event.notice.restart) this.#closeResponse(null);
        this.#print(eventRows(event, this.#options.width()));
        return this.#retry(event.notice);
      case "tool_start":
        this.#subjects.set(event.callId, event.subject);
        this.#print([this.#callRow(event.toolName, event.subject)]);
        return this.#enter({ kind: "running", what: toolText(event.toolName, event.subject) });
      case "permission_denied":
        this.#denied.add(event.denial.callId);
        return this.#print([
          this.#callRow(event.denial.toolName, event.subject),
          row(fit(`  denied: ${clean(event.told ?? event.message)}`, this.#options.width()), "warning"),
        ]);
      case "tool_result":
        return this.#result(event.item);
      case "nested":
        return this.#nested(event.event);
      case "status":
        if (event.status === null) return this.end();
        this.#tellCost("summarizing: ", this.#options.promptTokens());
        return this.begin("summarizing the older part");
      case "check":
        this.#print(eventRows(event, this.#options.width()));
        if (event.state === "running") return this.#enter({ kind: "running", what: toolText("Bash", event.command) });
        return this.end();
      case "prefix_break":
        this.#known = Math.ceil(event.bytesKept / BYTES_PER_TOKEN);
        this.#print(eventRows(event, this.#options.width()));
        return this.#tellCost("", (event.bytesAfter - event.bytesKept) / BYTES_PER_TOKEN);
      default:
        return this.#print(eventRows(event, this.#options.width()));
    }
  }

  /** The turn is over. */
  finish(result: TurnResult | null): void {
    this.#closeResponse(null);
    this.#inTurn = false;
    this.#activity = null;
    this.#afterCall = false;
    this.#subjects.clear();
    this.#denied.clear();
    const width = this.#options.width();
    const { seconds, tokens } = this.#written;
    const rate = seconds > 0 ? tokens / seconds : null;
    const done = result === null ? [] : [row(fit(doneText({ ...result, rate }), width), "dim")];
    const rows = result === null || result.outcome === "success" ? done : failureRows(result, width);
    this.#options.print([...rows, []]);
  }

  /** The rows of what was folded last: thinking, or what a tool gave. */
  opened(): Row[] {
    const folded = this.#folded;
    if (folded === null) return [row("nothing is folded", "dim")];
    const width = this.#options.width();
    const lines = clean(folded.text, { multiline: true }).replaceAll("\t", "    ").split("\n");
    const shown = lines.slice(0, OPENED_LIMIT).flatMap((line) =>
      wrap([span(line, "dim")], { width, first: [span("  ")], indent: [span("  ")] })
    );
    const more = lines.length - OPENED_LIMIT;
    return [row(folded.title, "dim"), ...shown, ...more > 0 ? [row(`  ... ${more} more lines`, "dim")] : []];
  }

  #print(rows: readonly Row[]): void {
    this.#closeText();
    this.#options.print(rows);
  }

  /** The request is on its way. A model that is being loaded takes it no earlier. */
  #sentNow(): void {
    if (this.#activity?.phase.kind === "loading") return;
    this.#sent = this.#options.clock.monotonic();
    const tokens = this.#options.promptTokens();
    const fresh = tokens === null ? null : Math.max(1, tokens - this.#known);
    this.#enter({ kind: "prompt", tokens, fresh, progress: null });
  }

  /** One line before the server reads much anew. */
  #tellCost(before: string, tokens: number | null): void {
    if (tokens === null || tokens < LEAST_MEASURED) return;
    this.#print(
      textRows(before + costText(tokens, this.#rates.prefill), { width: this.#options.width(), style: "dim" }),
    );
  }

  #retry({ kind, reason, delayMs, attempt, maxRetries }: RetryNotice): void {
    const told = clean(reason);
    if (kind === "loading") {
      if (this.#activity?.phase.kind !== "loading") this.#enter({ kind: "loading", reason: told });
      return;
    }
    const until = this.#options.clock.monotonic() + delayMs;
    this.#enter({ kind: "retry", reason: told, until, attempts: ` (${attempt} of ${maxRetries})` });
  }

  #responded(usage: Usage | null): void {
    const waited = this.#sent === null || this.#firstToken === null ? null : this.#firstToken - this.#sent;
    if (usage !== null) {
      const read = usage.promptTokens - usage.cachedTokens;
      // Where the server does not count what it kept, the share that it had to read is a guess.
      const fresh = usage.cachedTokens > 0 ? read : Math.min(read, Math.max(0, usage.promptTokens - this.#known));
      if (waited !== null && waited > 0 && fresh >= LEAST_MEASURED) this.#rates.prefill = fresh / (waited / 1000);
      this.#known = usage.promptTokens + usage.completionTokens;
    }
    this.#closeResponse(usage?.completionTokens ?? null);
  }

  #delta(delta: ChatDelta): void {
    const now = this.#options.clock.monotonic();
    if (this.#activity !== null) this.#activity.heard = now;
    if (delta.kind === "prefill") return this.#prefill(delta);
    this.#firstToken ??= now;
    this.#streamed += delta.kind === "tool_call" ? delta.arguments.length : delta.text.length;
    switch (delta.kind) {
      case "reasoning": {
        if (this.#reasoningSince === null) {
          this.#reasoningSince = now;
          this.#enter({ kind: "thinking", words: "" });
        }
        this.#reasoning += delta.text;
        const phase = this.#activity?.phase;
        if (phase?.kind === "thinking") phase.words = lastWords(this.#reasoning);
        return this.#options.changed();
      }
      case "text": {
        this.#closeReasoning();
        this.#writing(delta.text.length, null);
        if (this.#markdown === null && this.#afterCall) this.#options.print([[]]);
        this.#afterCall = false;
        this.#markdown ??= new MarkdownStream(this.#options);
        const rows = this.#markdown.push(delta.text);
        if (rows.length > 0) this.#options.print(rows);
        return this.#options.changed();
      }
      case "tool_call":
        this.#writing(delta.arguments.length, delta.name ?? null);
        return this.#options.changed();
    }
  }

  #prefill({ processed, total, cached = 0 }: ChatDelta & { kind: "prefill" }): void {
    if (this.#activity?.phase.kind === "loading") {
      this.#activity = null;
      this.#sentNow();
    }
    const phase = this.#activity?.phase;
    if (phase?.kind === "prompt") phase.progress = { processed, total, cached };
    this.#options.changed();
  }

  /** More of the answer, or of a call of the tool that is named with its first piece. */
  #writing(bytes: number, what: string | null): void {
    const phase = this.#activity?.phase;
    if (phase?.kind !== "writing" || (what !== null && what !== phase.what)) {
      return this.#enter({ kind: "writing", bytes, what });
    }
    phase.bytes += bytes;
  }

  #closeResponse(tokens: number | null): void {
    this.#closeReasoning();
    this.#closeText();
    if (this.#firstToken !== null) {
      const seconds = (this.#options.clock.monotonic() - this.#firstToken) / 1000;
      const written = tokens ?? this.#streamed / BYTES_PER_TOKEN;
      if (seconds > 0.05 && written > 1) {
        this.#rate = written / seconds;
        this.#written.seconds += seconds;
        this.#written.tokens += written;
      }
    }
    this.#firstToken = null;
    this.#sent = null;
    this.#streamed = 0;
    this.end();
  }

  #closeText(): void {
    const rows = this.#markdown?.end() ?? [];
    this.#markdown = null;
    if (rows.length > 0) this.#options.print(rows);
  }

  #closeReasoning(): void {
    if (this.#reasoningSince === null) return;
    const seconds = Math.round((this.#options.clock.monotonic() - this.#reasoningSince) / 1000);
    this.#folded = { title: `thought for ${seconds} s:`, text: this.#reasoning };
    this.#reasoningSince = null;
    this.#reasoning = "";
    this.#options.print([row(fit(`thought for ${seconds} s (Ctrl-O opens it)`, this.#options.width()), "dim")]);
  }

  #callRow(name: string, subject: string): Row {
    const first = clean(subject.split("\n", 1)[0] ?? "");
    const head = `* ${clean(name)} `;
    const room = Math.max(0, this.#options.width() - head.length);
    return [span(head, "accent"), span(fit(first === subject ? first : `${first} ...`, room))];
  }

  /** What a search does, indented; its words and results are for the model. */
  #nested(event: TurnEvent): void {
    const width = this.#options.width();
    switch (event.kind) {
      case "request":
        return this.begin("searching");
      case "tool_start":
        return this.#print([row(fit(`  * ${clean(event.toolName)} ${clean(event.subject)}`, width), "dim")]);
      case "retry":
      case "notice":
        return this.#print(eventRows(event, width));
      default:
        return;
    }
  }

  #result(item: ToolResultItem): void {
    this.end();
    this.#afterCall = true;
    if (this.#denied.delete(item.callId)) return this.#options.changed();
    const subject = this.#subjects.get(item.callId) ?? "";
    this.#folded = { title: `${clean(item.name)} ${clean(subject)}:`, text: item.content };
    const width = this.#options.width();
    const first = item.content.split("\n", 1)[0] ?? "";
    if (item.isError) return this.#print([row(fit(`  failed: ${clean(first)}`, width), "error")]);
    const lines = item.content === "" ? 0 : item.content.trimEnd().split("\n").length;
    const protectedMark = item.label === "open" ? "" : " [no-cloud]";
    // A file of one line is no message to the person, and protected content is shown on demand alone.
    const isMessage = lines === 1 && item.label === "open" && item.name !== "Read";
    const told = isMessage ? clean(first) : lines === 1 ? "1 line" : `${lines} lines`;
    this.#print([row(fit(`  ${told}${protectedMark}`, width), "dim")]);
  }
}

/** What runs, in its own words: a command by its first line, any other call by the tool and what it acts on. */
function toolText(name: string, subject: string): string {
  const shown = fit(clean(subject.split("\n", 1)[0] ?? ""), LONGEST_SUBJECT);
  return name === "Bash" && shown !== "" ? shown : `${clean(name)} ${shown}`.trimEnd();
}

function lastWords(text: string): string {
  const words = clean(text.slice(-200).trimEnd().split("\n").at(-1) ?? "");
  return words;
}
