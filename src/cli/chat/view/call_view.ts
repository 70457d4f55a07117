/** The calls of a turn: live with the end of their output, then as blocks; and the view that unfolds one. */
import { sessionLabel } from "../../../agent/labels.ts";
import type { Clock } from "../../../platform/io.ts";
import type { TurnEvent } from "../../../protocol/turn_event.ts";
import type { ChatDelta } from "../../../provider/types.ts";
import type { ToolCall } from "../../../session/item.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { clean } from "../../../terminal/clean.ts";
import { OutputTail } from "../../../terminal/shown_output.ts";
import { type Row, row } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import { type CallBlock, callRows, headRow, lastRows, unfoldedRows } from "./call_block.ts";
import { firstParts } from "./activity.ts";

/** A call that a person is asked about, or that runs. */
export interface OpenCall {
  name: string;
  subject: string;
}

interface RunningCall extends OpenCall {
  since: number;
  tail: OutputTail;
  steps: string[];
  /** The last rows of its tail: however fast it prints, they change a few times a second. */
  drawn: { at: number; width: number; rows: Row[] } | null;
}

/** Rows of a running command, or steps of a running search. */
const LIVE_ROWS = 5;
/** Rows of calls that run together. */
const MOST_HEADS = 8;
/** Characters that are kept of unreadable arguments. */
const LONGEST_WRITTEN = 500;
/** Milliseconds between updates of a command's output. */
const LOOK_MS = 250;

/**
 * The place of calls: the root of the project, from which files are named, and whether the session read nothing
 * protected.
 */
export interface CallPlace {
  root: string;
  isOpen: boolean;
}

/** Returns the place of a session's calls; of none before there is one. */
export function placeOf(opened: OpenSession | null): CallPlace {
  if (opened === null) return { root: "", isOpen: true };
  const { session } = opened;
  return { root: session.workspace.root, isOpen: sessionLabel(session) === "open" };
}

/** The calls of the turns of a chat. */
export class CallView {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #folds: Folds;
  readonly #place: () => CallPlace;
  /** In the order in which they began. */
  readonly #running = new Map<string, RunningCall>();
  /** As the model wrote them: the names of those that never began. */
  #called = new Map<string, ToolCall>();
  /** The arguments as they were written of the calls of the response that streams, by their order. */
  readonly #written: string[] = [];
  #unread = new Map<string, string>();
  readonly #denied = new Set<string>();
  /** The call that a person is asked about, and everything that the question shows. */
  #asked: OpenCall & { body(width: number): Row[] } | null = null;

  constructor(clock: Pick<Clock, "monotonic">, { folds, place }: { folds: Folds; place: () => CallPlace }) {
    this.#clock = clock;
    this.#folds = folds;
    this.#place = place;
  }

  /** The calls of a response are about to be checked. */
  called(calls: readonly ToolCall[]): void {
    this.#called = new Map(calls.map((call) => [call.id, call]));
    // For unreadable arguments, only the written text is known.
    this.#unread = new Map(calls.flatMap(({ id, input }, at) => input === null ? [[id, this.#written[at] ?? ""]] : []));
    this.#written.length = 0;
  }

  /** Takes a piece of the arguments of a call. */
  written({ index, arguments: piece }: ChatDelta & { kind: "tool_call" }): void {
    const before = this.#written[index] ?? "";
    if (before.length < LONGEST_WRITTEN) this.#written[index] = before + piece;
  }

  asked(call: OpenCall & { body(width: number): Row[] }): void {
    this.#asked = call;
  }

  start({ callId, toolName, subject }: TurnEvent & { kind: "tool_start" }): void {
    this.#asked = null;
    const since = this.#clock.monotonic();
    this.#running.set(callId, {
      name: toolName,
      subject: this.#named(subject),
      since,
      tail: new OutputTail(),
      steps: [],
      drawn: null,
    });
  }

  output({ callId, bytes }: TurnEvent & { kind: "tool_output" }): void {
    // What may be protected is shown only on demand, once it is complete.
    if (this.#place().isOpen) this.#running.get(callId)?.tail.add(bytes);
  }

  /** A call of the search that a call runs. */
  step(callId: string, text: string): void {
    this.#running.get(callId)?.steps.push(`* ${text}`);
  }

  liveRows(width: number): Row[] {
    const now = this.#clock.monotonic();
    return [...this.#running.values()].slice(-MOST_HEADS).flatMap((call) => {
      const head = headRow({ ...call, tookMs: null, outcome: { kind: "stopped" } }, width);
      if (call.drawn === null || call.drawn.width !== width || now - call.drawn.at >= LOOK_MS) {
        const lines = call.steps.length > 0 ? call.steps : call.tail.lines(LIVE_ROWS);
        const { rows } = lastRows(lines.slice(-LIVE_ROWS), { width, mark: "", most: LIVE_ROWS });
        call.drawn = { at: now, width, rows: rows.slice(-LIVE_ROWS) };
      }
      return [head, ...call.drawn.rows];
    });
  }

  /**
   * Returns the block of a call that has its result; none for one that was denied. `diff`: of the file that it changed.
   */
  ended(event: TurnEvent & { kind: "tool_result" }, { diff, width }: { diff: string | null; width: number }): Row[] {
    const { item: { callId, name, content, isError, label }, details } = event;
    const call = this.#running.get(callId);
    this.#running.delete(callId);
    if (this.#denied.delete(callId)) return [];
    const { exitCode, timedOut } = details ?? {};
    return this.#settle({
      name: call?.name ?? name,
      subject: call?.subject ?? this.#unread.get(callId) ?? writtenSubject(this.#called.get(callId)),
      isMalformed: call === undefined,
      tookMs: call === undefined ? null : this.#clock.monotonic() - call.since,
      steps: call?.steps ?? [],
      outcome: {
        kind: "result",
        result: {
          content,
          isError,
          label,
          ...(typeof exitCode === "number" ? { exitCode, timedOut: timedOut === true } : {}),
          ...(diff === null || diff === "" ? {} : { diff }),
        },
      },
    }, width);
  }

  /** Returns the block of a call that was denied; what the question showed is folded. */
  denied({ denial, subject, shown, message }: TurnEvent & { kind: "permission_denied" }, width: number): Row[] {
    this.#denied.add(denial.callId);
    const asked = this.#asked;
    this.#asked = null;
    const outcome = { kind: "denied", message: shown ?? message } as const;
    const block: CallBlock = { name: denial.toolName, subject: this.#named(subject), tookMs: null, steps: [], outcome };
    if (asked === null) return this.#settle(block, width);
    const { mark } = this.#folds;
    this.#folds.add(asked.body);
    // The question had the whole subject.
    const { rows } = callRows({ ...block, isAsked: true }, { width, mark });
    return [...rows, row(fit(`  what was asked ${mark}`, width), "dim")];
  }

  /** The turn is over: returns the blocks of the calls that have no result. */
  end(width: number): Row[] {
    const now = this.#clock.monotonic();
    const open: CallBlock[] = [...this.#running.values()].map(({ name, subject, since, steps, tail }) => ({
      name,
      subject,
      tookMs: now - since,
      steps: steps.length > 0 ? steps : tail.lines(LIVE_ROWS),
      outcome: { kind: "stopped" },
    }));
    if (this.#asked !== null) open.push({ ...this.#asked, tookMs: null, steps: [], outcome: { kind: "stopped" } });
    this.#running.clear();
    this.#called.clear();
    this.#unread.clear();
    this.#denied.clear();
    this.#asked = null;
    return open.flatMap((block) => this.#settle(block, width));
  }

  #named(subject: string): string {
    const root = `${this.#place().root}/`;
    return root.length > 1 && subject.startsWith(root) ? subject.slice(root.length) : subject;
  }

  #settle(block: CallBlock, width: number): Row[] {
    const { rows, isFolded } = callRows(block, { width, mark: this.#folds.mark });
    if (isFolded) this.#folds.add((wide) => unfoldedRows(block, wide));
    return rows;
  }
}

/** Returns the subject of a call that never began: its path or command, or whatever says most. */
function writtenSubject(call: ToolCall | undefined): string {
  if (call?.input == null) return "";
  const texts = Object.values(call.input).filter((value) => typeof value === "string");
  return clean(texts[0] ?? JSON.stringify(call.input));
}

/** All rows of what is folded, for a width. */
type UnfoldedRows = (width: number) => Row[];

/** Folded texts that are kept; older ones are gone. */
const KEPT = 300;

/** The folded texts of a chat, numbered from 1. */
export class Folds {
  readonly #folds = new Map<number, UnfoldedRows>();
  #last = 0;
  /** The unfolded one, and the first row of it that is shown. */
  #shown: { number: number; offset: number } | null = null;
  /** Set at the last drawing: how far a page goes. */
  #window = 1;
  #made: { number: number; width: number; rows: Row[] } | null = null;

  /** Names the next one, where it is folded; the key is named once. */
  get mark(): string {
    return this.#last === 0 ? "(#1, Ctrl-O)" : `(#${this.#last + 1})`;
  }

  add(rows: UnfoldedRows): void {
    this.#folds.set(++this.#last, rows);
    this.#folds.delete(this.#last - KEPT);
  }

  get isUnfolded(): boolean {
    return this.#shown !== null;
  }

  /** Unfolds the one with this number, by default the last; folds the unfolded one. Returns what is wrong, or "". */
  toggle(number: number | null): string {
    if (this.#shown !== null && (number === null || number === this.#shown.number)) {
      this.fold();
      return "";
    }
    if (this.#last === 0) return "nothing is folded";
    const wanted = number ?? this.#last;
    if (!this.#folds.has(wanted)) return `nothing is folded as #${wanted}; the last is #${this.#last}`;
    this.#shown = { number: wanted, offset: 0 };
    return "";
  }

  fold(): void {
    this.#shown = null;
    this.#made = null;
  }

  /** Shows the previous or next page. */
  page(direction: -1 | 1): void {
    if (this.#shown === null) return;
    const step = Math.max(1, this.#window - 1) * direction;
    this.#shown = { ...this.#shown, offset: Math.max(0, this.#shown.offset + step) };
  }

  /** The rows of the unfolded one, at most `height`; none where nothing is unfolded. */
  rows({ width, height }: { width: number; height: number }): Row[] {
    const shown = this.#shown;
    const unfold = shown === null ? undefined : this.#folds.get(shown.number);
    if (shown === null || unfold === undefined || height < 1) return [];
    if (this.#made?.number !== shown.number || this.#made.width !== width) {
      this.#made = { number: shown.number, width, rows: unfold(width) };
    }
    const { rows } = this.#made;
    const window = Math.max(1, height - 1);
    const offset = Math.max(0, Math.min(shown.offset, rows.length - window));
    [this.#window, this.#shown] = [window, { ...shown, offset }];
    const seen = rows.slice(offset, offset + window);
    if (height === 1) return seen;
    const place = `rows ${offset + 1}-${offset + seen.length} of ${rows.length}`;
    const parts = [`#${shown.number}`, ...rows.length > window ? [place, "PageUp, PageDown"] : [], "Ctrl-O folds"];
    return [...seen, row(firstParts(parts, width), "dim")];
  }
}
