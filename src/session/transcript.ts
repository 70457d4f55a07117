/**
 * The transcript of a running session: every item is on the disk before the session continues, protected ones redacted.
 */
import { admitItems, highestLabel, type Label, labelOf } from "../boundary/policy/label.ts";
import { failureReason } from "../platform/disk_failure.ts";
import type { Home } from "../platform/home.ts";
import { type HeldLock, type Journal, openJournal } from "../platform/journal.ts";
import type { Clock } from "../platform/io.ts";
import type { Usage } from "../provider/types.ts";
import { isPrompt, type SessionItem } from "./item.ts";
import {
  innerItem,
  itemLine,
  type LineFacts,
  type LineState,
  lineText,
  metaLine,
  type NamedItem,
  ownLine,
  type SessionContext,
  storedForm,
} from "./line.ts";
import type { StoredSession } from "./load.ts";
import { transcriptName } from "./paths.ts";

export interface ItemFacts {
  usage?: Usage | null | undefined;
  /** The model that responded, which is the model of the session from then on. */
  model?: string | undefined;
  provider?: string | undefined;
  stopReason?: string | undefined;
  /** Whether the model of a role was refused something; stays for good. */
  isRefused?: boolean | undefined;
}

export interface TranscriptOptions {
  projectRoot: string;
  sessionId: string;
  cwd: string;
  version: string;
  gitBranch?: string | undefined;
  model: string;
  provider?: string | undefined;
  context?: SessionContext | undefined;
  clock: Pick<Clock, "now">;
  /** Called and awaited once if the transcript cannot be written any more; the session itself continues. */
  onTrouble(text: string): void | Promise<void>;
}

/** A transcript that is being written. Calls take effect in their order. */
export interface Transcript {
  /** Absolute path of the file. */
  readonly file: string;
  /** Prompts of the user so far. */
  readonly turns: number;
  /**
   * Updates the transcript to these items, compared by identity with those recorded before: new ones at the end are
   * appended, anything else (shortened, summarized, left out) is recorded as a change. `facts` are of the last response
   * among the new ones. The disk has them when this resolves, unless writing failed: that rejects nothing, and nothing
   * more is written.
   */
  record(items: readonly SessionItem[], facts?: ItemFacts): Promise<void>;
  /** Sets the system message and the tools from now on; written with the next item if they changed. */
  setContext(context: SessionContext): void;
  /** Records something that is no item and holds no content: the name of a model, an outcome. */
  note(fields: Record<string, string | number | boolean | null>): Promise<void>;
  /** Names the session from now on; empty for no name. Holds no protected content: callers see to that. */
  rename(title: string): Promise<void>;
  /** Ends writing and releases the lock. */
  close(): Promise<void>;
}

export type TranscriptParts = TranscriptOptions & {
  slug: string;
  /** Released at the end; null on a full disk, where nothing is written. */
  lock: HeldLock | null;
  origin: { removed: number; forkedFrom?: string };
  /** The content of the file; null for a new one. */
  stored: StoredSession | null;
};

/** A transcript in the home. */
export class FileTranscript implements Transcript {
  readonly file: string;
  readonly #home: Home;
  readonly #parts: TranscriptParts;
  /** The items as the engine has them, with the ids of their lines. */
  #recorded: NamedItem[];
  /** The ids of removed items, which may come back. */
  readonly #names = new WeakMap<SessionItem, string>();
  /** The last line that holds an item: readers follow the chain of these. */
  #parent: string | null;
  #context: SessionContext | null;
  #written: string | null;
  #model: string;
  #provider: string | undefined;
  #title: string | undefined;
  #isRefused: boolean;
  #turns: number;
  /** Of the recorded items. */
  #itemLabel: Label;
  #lastTime: number;
  #journal: Journal | null = null;
  #closed = false;
  #failed = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(home: Home, parts: TranscriptParts) {
    const { stored } = parts;
    this.#home = home;
    this.#parts = parts;
    this.file = home.file(transcriptName(parts.slug, parts.sessionId));
    this.#recorded = stored === null ? [] : [...stored.end.named];
    this.#parent = stored?.end.parent ?? null;
    this.#context = parts.context ?? stored?.context ?? null;
    this.#written = stored === null || stored.context === null ? null : JSON.stringify(stored.context);
    this.#model = parts.model;
    this.#provider = parts.provider;
    this.#title = stored?.title;
    this.#isRefused = stored?.isRefused ?? false;
    this.#turns = stored?.turns ?? 0;
    this.#itemLabel = highestLabel(this.#recorded.map(({ item }) => item.label));
    this.#lastTime = Date.parse(stored?.updated ?? "") || 0;
    if (parts.lock === null) void this.#ordered(() => this.#fail("the disk is full"));
  }

  get turns(): number {
    return this.#turns;
  }

  record(items: readonly SessionItem[], facts: ItemFacts = {}): Promise<void> {
    const now = [...items];
    return this.#ordered(async () => {
      if (facts.isRefused === true && !this.#isRefused) {
        this.#isRefused = true;
        // No item may come after it.
        await this.#note({ refused: true });
      }
      const before = this.#recorded;
      const grown = now.length >= before.length && before.every(({ item }, at) => item === now[at]);
      await (grown ? this.#add(now.slice(before.length), facts) : this.#rewrite(now));
    });
  }

  setContext(context: SessionContext): void {
    this.#context = context;
  }

  note(fields: Record<string, string | number | boolean | null>): Promise<void> {
    return this.#ordered(() => this.#note(fields));
  }

  async #note(fields: Record<string, string | number | boolean | null>): Promise<void> {
    // A session without a prompt is not stored.
    if (this.#recorded.length === 0) return;
    await this.#write([ownLine("note", this.#lineOptions(), { note: fields })]);
  }

  async rename(title: string): Promise<void> {
    this.#title = title === "" ? undefined : title;
    await this.note({ title });
  }

  close(): Promise<void> {
    return this.#ordered(async () => {
      if (this.#closed) return;
      this.#closed = true;
      this.#journal?.close();
      await this.#parts.lock?.release();
    });
  }

  #ordered(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  async #add(items: readonly SessionItem[], facts: ItemFacts): Promise<void> {
    if (items.length === 0) return;
    if (facts.model !== undefined) [this.#model, this.#provider] = [facts.model, facts.provider];
    const lastReply = items.findLastIndex((item) => item.kind === "assistant");
    const lines = items.map((item, at) => {
      if (isPrompt(item)) this.#turns++;
      const parent = this.#parent;
      const named = { uuid: crypto.randomUUID(), item };
      this.#recorded.push(named);
      this.#parent = named.uuid;
      this.#itemLabel = highestLabel([this.#itemLabel, item.label]);
      const open = labelOf(item) === "open";
      // The counts of a protected response would reveal its length.
      const { usage, stopReason } = at === lastReply && open ? facts : {};
      return itemLine({ ...named, item: this.#stored(item) }, { ...this.#lineOptions(), parent, usage, stopReason });
    });
    // After the first message: readers look for the first prompt near the beginning of the file.
    lines.splice(1, 0, ...this.#contextLines());
    await this.#write(lines);
  }

  async #rewrite(items: readonly SessionItem[]): Promise<void> {
    const known = new Map(this.#recorded.map((named) => [named.item, named]));
    for (const { item, uuid } of this.#recorded) this.#names.set(item, uuid);
    const next = items.map((item) => known.get(item) ?? { uuid: this.#names.get(item) ?? crypto.randomUUID(), item });
    const entries = next.map((named) =>
      known.has(named.item) ? named.uuid : innerItem({ ...named, item: this.#stored(named.item) }, this.#model)
    );
    this.#recorded = next;
    this.#itemLabel = highestLabel(items.map((item) => item.label));
    await this.#write([ownLine("rewritten", this.#lineOptions(), { items: entries }), ...this.#contextLines()]);
  }

  #contextLines(): Record<string, unknown>[] {
    const context = this.#context;
    if (context === null) return [];
    const text = JSON.stringify(context);
    if (text === this.#written) return [];
    this.#written = text;
    const { toolProtocol } = context;
    // The tools were scanned with the system message and share its label.
    const { system, tools } = labelOf(context.system) === "open" ? context : { system: null, tools: [] };
    return [ownLine("context", this.#lineOptions(), { system, tools, toolProtocol })];
  }

  /** Redacts an item before a line is made of it; what is stored whole still has to pass admission. */
  #stored(item: SessionItem): SessionItem {
    const stored = storedForm(
      item,
      (name) => this.#context?.tools.some((tool) => tool.function.name === name) ?? false,
    );
    if (stored === item) admitItems({ kind: "store" }, [item]);
    return stored;
  }

  #lineOptions(): { facts: LineFacts; state: LineState } {
    const { sessionId, cwd, version, gitBranch, clock } = this.#parts;
    this.#lastTime = Math.max(this.#lastTime, clock.now());
    const timestamp = new Date(this.#lastTime).toISOString();
    const [turn, model, provider, title] = [this.#turns, this.#model, this.#provider, this.#title];
    return {
      facts: { sessionId, cwd, version, gitBranch, timestamp },
      state: { turn, sessionLabel: this.#label(), model, provider, title, isRefused: this.#isRefused || undefined },
    };
  }

  #label(): Label {
    return highestLabel([this.#itemLabel, ...this.#context === null ? [] : [this.#context.system.label]]);
  }

  async #write(lines: readonly Record<string, unknown>[]): Promise<void> {
    if (this.#closed || this.#failed) return;
    const text = lines.map(lineText).join("");
    const meta = this.#metaText();
    try {
      const journal = this.#journal ?? await this.#open();
      if (!journal.inPlace()) return await this.#fail("its file was removed");
      await journal.append(new TextEncoder().encode(journal.size === 0 ? meta + text : text));
    } catch (error) {
      await this.#fail(failureReason(error));
    }
  }

  async #open(): Promise<Journal> {
    const { slug, sessionId, stored } = this.#parts;
    const journal = await openJournal(this.#home, transcriptName(slug, sessionId));
    this.#journal = journal;
    if (stored === null) return journal;
    const { size, ended } = stored.end;
    if (journal.size > size) await journal.cut(size);
    if (!ended) await journal.append(new TextEncoder().encode("\n"));
    return journal;
  }

  #metaText(): string {
    const { sessionId, projectRoot, cwd, version, model, origin } = this.#parts;
    const { timestamp } = this.#lineOptions().facts;
    return lineText(metaLine({ projectRoot, cwd, version, model, timestamp, ...origin }, sessionId));
  }

  async #fail(reason: string): Promise<void> {
    this.#failed = true;
    this.#journal?.close();
    this.#journal = null;
    await this.#parts.onTrouble(`the session is no longer stored: ${reason}`);
  }
}
