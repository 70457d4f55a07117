/** One turn on the screen: the answer as Markdown, calls as one line, thinking folded, and what is being waited for. */
import type { Clock } from "../../platform/io.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import type { ChatDelta } from "../../provider/types.ts";
import type { ToolResultItem } from "../../session/item.ts";
import { clean } from "../../terminal/clean.ts";
import { MarkdownStream } from "../../terminal/markdown.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { fit } from "../../terminal/table.ts";
import { wrap } from "../../terminal/wrap.ts";
import { eventRows, failureRows } from "./event_rows.ts";

/** Options of the view. */
export interface TurnViewOptions {
  width(): number;
  color: boolean;
  clock: Pick<Clock, "monotonic">;
  /** Rows that stay. */
  print(rows: readonly Row[]): void;
  /** Something that is drawn again has changed. */
  changed(): void;
}

/** Rows of folded text that are shown when it is opened. */
const OPENED_LIMIT = 400;
/** Bytes of a token, where a server does not count. */
const BYTES_PER_TOKEN = 4;

/** The current activity and its start. */
interface Activity {
  label: string;
  since: number;
  note: string;
}

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
  #firstToken: number | null = null;
  #streamed = 0;
  #rate: number | null = null;

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
  }

  /** The block that is still written. */
  openRows(): Row[] {
    return this.#markdown?.open() ?? [];
  }

  /** Returns the current activity with its time; null for none. */
  activityRow(width: number): Row | null {
    const activity = this.#activity;
    if (activity === null) return null;
    const seconds = Math.floor((this.#options.clock.monotonic() - activity.since) / 1000);
    const text = `${activity.label}, ${seconds} s${activity.note}`;
    return row(fit(text, width), "dim");
  }

  /** Says what is being done besides a turn. */
  begin(label: string): void {
    this.#activity = { label, since: this.#options.clock.monotonic(), note: "" };
    this.#options.changed();
  }

  end(): void {
    this.#activity = null;
    this.#options.changed();
  }

  event(event: TurnEvent): void {
    switch (event.kind) {
      case "request":
        return this.begin("reading the prompt");
      case "delta":
        return this.#delta(event.delta);
      case "response":
        this.#closeResponse(event.usage?.completionTokens ?? null);
        return;
      case "retry":
        // What was thought or said of a response that begins anew is over.
        if (event.notice.restart) this.#closeResponse(null);
        return this.#print(eventRows(event, this.#options.width()));
      case "tool_start":
        this.#subjects.set(event.callId, event.subject);
        this.#print([this.#callRow(event.toolName, event.subject)]);
        return this.begin(`running ${clean(event.toolName)}`);
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
        return event.status === null ? this.end() : this.begin("summarizing the older part of the session");
      default:
        return this.#print(eventRows(event, this.#options.width()));
    }
  }

  /** The turn is over. */
  finish(result: TurnResult | null): void {
    this.#closeResponse(null);
    this.#activity = null;
    this.#afterCall = false;
    this.#subjects.clear();
    this.#denied.clear();
    const rows = result === null || result.outcome === "success" ? [] : failureRows(result, this.#options.width());
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

  #delta(delta: ChatDelta): void {
    const now = this.#options.clock.monotonic();
    if (delta.kind === "prefill") {
      if (this.#activity !== null) this.#activity.note = ` (${delta.processed} of ${delta.total} tokens)`;
      return this.#options.changed();
    }
    this.#firstToken ??= now;
    this.#streamed += delta.kind === "tool_call" ? delta.arguments.length : delta.text.length;
    switch (delta.kind) {
      case "reasoning":
        if (this.#reasoningSince === null) {
          this.#reasoningSince = now;
          this.begin("thinking");
        }
        this.#reasoning += delta.text;
        if (this.#activity !== null) this.#activity.note = lastWords(this.#reasoning);
        return this.#options.changed();
      case "text": {
        this.#closeReasoning();
        this.#activity = null;
        if (this.#markdown === null && this.#afterCall) this.#options.print([[]]);
        this.#afterCall = false;
        this.#markdown ??= new MarkdownStream(this.#options);
        const rows = this.#markdown.push(delta.text);
        if (rows.length > 0) this.#options.print(rows);
        return this.#options.changed();
      }
      case "tool_call":
        if (delta.name !== undefined) this.begin(`writing a call of ${clean(delta.name)}`);
        return;
    }
  }

  #closeResponse(tokens: number | null): void {
    this.#closeReasoning();
    this.#closeText();
    if (this.#firstToken !== null) {
      const seconds = (this.#options.clock.monotonic() - this.#firstToken) / 1000;
      const written = tokens ?? this.#streamed / BYTES_PER_TOKEN;
      if (seconds > 0.05 && written > 1) this.#rate = written / seconds;
    }
    this.#firstToken = null;
    this.#streamed = 0;
    this.#activity = null;
    this.#options.changed();
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
    this.#activity = null;
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

function lastWords(text: string): string {
  const words = clean(text.slice(-200).trimEnd().split("\n").at(-1) ?? "");
  return words === "" ? "" : `: ${words}`;
}
