/** One turn on the screen: the answer as Markdown, calls as one line, reasoning folded, and the current wait. */
import type { Clock } from "../../../platform/io.ts";
import type { TurnEvent, TurnResult } from "../../../protocol/turn_event.ts";
import type { ChatDelta, RetryNotice, Usage } from "../../../provider/types.ts";
import { clean } from "../../../terminal/clean.ts";
import { MarkdownStream } from "../../../terminal/markdown.ts";
import { type Row, row } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import {
  type Activity,
  activityText,
  BYTES_PER_TOKEN,
  costText,
  doneText,
  firstParts,
  fitActivity,
  GAP,
  type Phase,
  type Rates,
} from "./activity.ts";
import { type CallPlace, CallView, Folds, type OpenCall, placeOf } from "./call_view.ts";
import { eventRows, failureRows, textRows } from "./event_rows.ts";

interface TurnViewOptions {
  width(): number;
  color: boolean;
  clock: Pick<Clock, "monotonic">;
  /** Estimated tokens of the next request; null where there is no session. */
  promptTokens(): number | null;
  /** Of the session; absent where there is none. */
  place?: () => CallPlace;
  /** Rows that stay. */
  print(rows: readonly Row[]): void;
  /** A live row has changed. */
  changed(): void;
}

/** Width of a running call's text, so that its time stays visible. */
const LONGEST_SUBJECT = 40;
const PREPARING: Phase = { kind: "work", label: "preparing the request" };
/** A prompt with fewer new tokens says nothing about the reading speed. */
const LEAST_MEASURED = 200;

/** The view of a whole chat's turns: folded blocks can be unfolded later. */
export class TurnView {
  readonly #options: TurnViewOptions;
  #markdown: MarkdownStream | null = null;
  #activity: Activity | null = null;
  #reasoning = "";
  #reasoningSince: number | null = null;
  /** The blocks that can be unfolded. */
  readonly folds: Folds = new Folds();
  readonly #calls: CallView;
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
  /** The row as it was set last: it changes once a second. */
  #drawn: { phase: Phase; second: number; text: string } | null = null;
  /** A turn runs: there is always something to wait for. */
  #inTurn = false;

  constructor(options: TurnViewOptions) {
    this.#options = options;
    this.#calls = new CallView(options.clock, {
      folds: this.folds,
      place: options.place ?? (() => placeOf(null)),
    });
  }

  /** Tokens a second of the response that streams, else of the last; null before any. */
  get rate(): number | null {
    const since = this.#firstToken;
    if (since === null) return this.#rate;
    const seconds = (this.#options.clock.monotonic() - since) / 1000;
    return seconds < 1 ? this.#rate : this.#streamed / BYTES_PER_TOKEN / seconds;
  }

  /** Another model or another session: earlier measurements do not apply. */
  forgetRate(): void {
    this.#rate = null;
    this.#rates.prefill = null;
    this.#known = 0;
  }

  /** Returns the text that is still being written, and the calls that run. */
  openRows(width: number): Row[] {
    return [...this.#markdown?.open() ?? [], ...this.#calls.liveRows(width)];
  }

  /** Returns the current wait; null outside of turns and other work. */
  activityRow(width: number): Row | null {
    const activity = this.#activity;
    if (activity === null) return null;
    const now = this.#options.clock.monotonic();
    const { phase } = activity;
    const second = Math.floor((now - activity.since) / 1000);
    if (phase.kind !== "writing" || this.#drawn?.phase !== phase || this.#drawn.second !== second) {
      this.#drawn = { phase, second, text: activityText(activity, { now, rates: this.#rates }) };
    }
    return row(fitActivity(this.#drawn.text, width), "dim");
  }

  /** Says what is being done besides a turn. */
  begin(label: string): void {
    this.#enter({ kind: "work", label });
  }

  /** A person is asked about a call; `body` is everything that they see of it. */
  waitForAnswer(call: OpenCall & { body(width: number): Row[] }): void {
    this.#calls.asked(call);
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

  /** Takes an event; a promise where more has to be loaded to show it. */
  event(event: TurnEvent): void | Promise<void> {
    switch (event.kind) {
      case "request":
        return this.#enter(PREPARING);
      case "sent":
        return this.#sentNow();
      case "delta":
        return this.#delta(event.delta);
      case "response":
        this.#calls.called(event.item.calls);
        return this.#responded(event.usage);
      case "retry":
        // A response that starts over discards its earlier text and reasoning.
        if (event.notice.restart) {
          this.#calls.called([]);
          this.#closeResponse(null);
        }
        this.#print(eventRows(event, this.#options.width()));
        return this.#retry(event.notice);
      case "tool_start":
        this.#closeText();
        this.#calls.start(event);
        return this.#enter({ kind: "running", what: toolText(event.toolName, event.subject) });
      case "tool_output":
        this.#calls.output(event);
        return this.#options.changed();
      case "permission_denied":
        return this.#printBlock(this.#calls.denied(event, this.#options.width()));
      case "tool_result": {
        const { change } = event;
        if (change === undefined) return this.#ended(event, null);
        return import("../../../terminal/diff.ts").then(({ unifiedDiff }) =>
          this.#ended(event, unifiedDiff(change.before, change.after, { name: clean(change.name) }))
        );
      }
      case "nested":
        return this.#nested(event.callId, event.event);
      case "status":
        if (event.status === null) return this.end();
        this.#printCost("summarizing: ", this.#options.promptTokens());
        return this.begin("summarizing the older part");
      case "check":
        this.#print(eventRows(event, this.#options.width()));
        if (event.state === "running") return this.#enter({ kind: "running", what: toolText("Bash", event.command) });
        return this.end();
      case "cache_invalidated":
        this.#known = Math.ceil(event.bytesKept / BYTES_PER_TOKEN);
        this.#print(eventRows(event, this.#options.width()));
        return this.#printCost("", (event.bytesAfter - event.bytesKept) / BYTES_PER_TOKEN);
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
    const width = this.#options.width();
    const stopped = this.#calls.end(width);
    this.#options.print(stopped);
    const { seconds, tokens } = this.#written;
    const rate = seconds > 0 ? tokens / seconds : null;
    const done = result === null ? [] : [row(firstParts(doneText({ ...result, rate }).split(GAP), width), "dim")];
    const isShown = result?.errorCode === "interrupted" && stopped.length > 0;
    const rows = result === null || result.outcome === "success" ? done : isShown ? [] : failureRows(result, width);
    this.#options.print([...rows, []]);
  }

  #print(rows: readonly Row[]): void {
    this.#closeText();
    this.#options.print(rows);
  }

  /** The request is on its way. A loading model does not accept it earlier. */
  #sentNow(): void {
    if (this.#activity?.phase.kind === "loading") return;
    this.#sent = this.#options.clock.monotonic();
    const tokens = this.#options.promptTokens();
    const fresh = tokens === null ? null : Math.max(1, tokens - this.#known);
    this.#enter({ kind: "prompt", tokens, fresh, progress: null });
  }

  /** Prints one line before the server reads much again. */
  #printCost(before: string, tokens: number | null): void {
    if (tokens === null || tokens < LEAST_MEASURED) return;
    this.#print(
      textRows(before + costText(tokens, this.#rates.prefill), { width: this.#options.width(), style: "dim" }),
    );
  }

  #retry({ kind, reason, delayMs, attempt, maxRetries }: RetryNotice): void {
    const shown = clean(reason);
    if (kind === "loading") {
      if (this.#activity?.phase.kind !== "loading") this.#enter({ kind: "loading", reason: shown });
      return;
    }
    const until = this.#options.clock.monotonic() + delayMs;
    this.#enter({ kind: "retry", reason: shown, until, attempts: ` (${attempt} of ${maxRetries})` });
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
        this.#calls.written(delta);
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

  /** Takes more of the answer, or of a call, whose first piece names the tool. */
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
    const { mark } = this.folds;
    const [title, thought] = [`thought for ${seconds}s`, this.#reasoning];
    this.folds.add((width) => [row(title, "dim"), ...textRows(thought.trimEnd(), { width, style: "dim" })]);
    this.#reasoningSince = null;
    this.#reasoning = "";
    this.#options.print([row(fit(`${title} ${mark}`, this.#options.width()), "dim")]);
  }

  /** Shows the calls of a search; its text and results are for the model. */
  #nested(callId: string, event: TurnEvent): void {
    switch (event.kind) {
      case "request":
        return this.begin("searching");
      case "tool_start":
        this.#calls.step(callId, `${event.toolName} ${event.subject}`);
        return this.#options.changed();
      case "retry":
      case "notice":
        return this.#print(eventRows(event, this.#options.width()));
      default:
        return;
    }
  }

  #ended(event: TurnEvent & { kind: "tool_result" }, diff: string | null): void {
    this.end();
    this.#printBlock(this.#calls.ended(event, { diff, width: this.#options.width() }));
  }

  #printBlock(rows: readonly Row[]): void {
    this.#afterCall = true;
    this.#print(rows);
  }
}

/** Names what runs: a command by its first line, any other call by the tool and what it acts on. */
function toolText(name: string, subject: string): string {
  const shown = fit(clean(subject.split("\n", 1)[0] ?? ""), LONGEST_SUBJECT);
  return name === "Bash" && shown !== "" ? shown : `${clean(name)} ${shown}`.trimEnd();
}

function lastWords(text: string): string {
  return clean(text.slice(-200).trimEnd().split("\n").at(-1) ?? "");
}
