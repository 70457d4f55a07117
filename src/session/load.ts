/** Reads a transcript back: its lines, and the session that results from them. */
import { quietly } from "../platform/real_path.ts";
import { joined } from "../platform/text.ts";
import type { Home } from "../platform/home.ts";
import { readPieces } from "../platform/journal.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import { AgentcliError } from "../errors.ts";
import { itemsBeforeProtected, type SessionItem, type ToolCall } from "./item.ts";
import type { MetaLine, NamedItem, SessionContext } from "./line.ts";
import { transcriptName } from "./paths.ts";
import { type ReadLine, readLine } from "./read_line.ts";

/** Longest line that is read, in bytes; a longer one is passed over and reported. */
const LINE_LIMIT = 128 * 1024 * 1024;

interface FileLine {
  number: number;
  text: string | null;
  /** Whether a line feed ends it: the last line of a writer that was killed has none. */
  ended: boolean;
  /** Bytes of the file up to the end of this line, its line feed included. */
  end: number;
}

const LF = 10;

/** Yields the lines of a file, ended by line feeds only; none when the file is absent. */
export async function* fileLines(home: Home, name: string): AsyncGenerator<FileLine> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let [length, end, number] = [0, 0, 0];
  const take = (ended: boolean): FileLine => {
    end += length + (ended ? 1 : 0);
    const line = { number: ++number, text: decode(decoder, parts, length), ended, end };
    parts = [];
    length = 0;
    return line;
  };
  const keep = (bytes: Uint8Array) => {
    length += bytes.length;
    // The bytes of a line that is too long are counted, not kept.
    if (length > LINE_LIMIT) parts = [];
    else parts.push(bytes);
  };
  for await (const piece of readPieces(home, name)) {
    let start = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, start)) {
      keep(piece.subarray(start, at));
      yield take(true);
      start = at + 1;
    }
    if (start < piece.length) keep(piece.subarray(start));
  }
  if (length > 0) yield take(false);
}

function decode(decoder: TextDecoder, parts: readonly Uint8Array[], length: number): string | null {
  if (length > LINE_LIMIT) return null;
  return quietly(() => decoder.decode(joined(parts)));
}

export interface StoredSession {
  id: string;
  /** Null when the first line is gone. */
  meta: MetaLine | null;
  /** As they were last sent, with placeholders for protected content and for missing results. */
  items: SessionItem[];
  /** Everything that was said and not rewound, including what a summary replaced. */
  whole: readonly SessionItem[];
  /** The number of items that summaries replaced: later positions are counted from there. */
  removed: number;
  /** The last that was recorded; null when it was protected or never written. */
  context: SessionContext | null;
  /** Highest label of items and context. */
  label: Label;
  model: string;
  /** The model's provider; undefined where an earlier version wrote the session. */
  provider: string | undefined;
  /** The name that a person gave it; undefined for none. */
  title: string | undefined;
  /** Whether the model of a role was ever refused something in it. */
  isRefused: boolean;
  turns: number;
  /** ISO 8601 of the last line; empty when there is none. */
  updated: string;
  redacted: number;
  /** Items that could not be read or copied, one sentence each. */
  problems: string[];
  /** For the writer that resumes it. */
  end: TranscriptEnd;
}

interface TranscriptEnd {
  /** The stored items with the ids of their lines, before any repair. */
  named: NamedItem[];
  /** The last line that holds an item, whether the item is still there or not; null when there is none. */
  parent: string | null;
  /** Bytes of whole lines; what follows is torn. */
  size: number;
  /** Whether the last whole line has its line feed. */
  ended: boolean;
}

const CUT_OFF = "Not known: the process ended while this ran.";

/**
 * Reads the transcript of a session. A torn last line was never acknowledged and is dropped silently; other lines that
 * cannot be read are reported. Throws `unknown_session` when there is no such file. Takes no lock: a session that is
 * being written is read up to where it is.
 */
export async function loadTranscript(home: Home, place: { slug: string; id: string }): Promise<StoredSession> {
  const name = transcriptName(place.slug, place.id);
  if (await home.status(name) === null) throw new AgentcliError("unknown_session", `no session ${place.id}`);
  const replay = new Replay(place.id);
  let [size, ended] = [0, true];
  for await (const line of fileLines(home, name)) {
    const read = line.text === null ? null : readLine(line.text);
    if (read === null && !line.ended) break;
    if (read === null) replay.report(line.number);
    else replay.take(read, line.number);
    [size, ended] = [line.end, line.ended];
  }
  return replay.result({ size, ended });
}

class Replay {
  #meta: MetaLine | null = null;
  #items: NamedItem[] = [];
  /** In the order in which it was said, with the names of lines. */
  readonly #whole = new Map<string, SessionItem>();
  /** Names of shortened items, with those of the items that they stand for. */
  readonly #shortened = new Map<string, string>();
  #removed = 0;
  #context: SessionContext | null = null;
  #model: string | null = null;
  #provider: string | undefined;
  #title: string | undefined;
  #isRefused = false;
  #turns = 0;
  #parent: string | null = null;
  #updated = "";
  readonly #problems: string[] = [];
  #unreadable = 0;

  constructor(readonly id: string) {}

  report(number: number): void {
    this.#unreadable++;
    if (this.#problems.length < 10) this.#problems.push(`line ${number} cannot be read and is left out`);
  }

  take(line: ReadLine, number: number): void {
    if (line.kind === "meta") {
      // Only the first counts: a second one was put there by somebody else.
      if (this.#meta !== null || line.sessionId !== this.id) return this.report(number);
      this.#meta = line.meta;
      this.#removed = line.meta.removed;
      this.#updated = line.meta.timestamp;
      return;
    }
    if (line.timestamp !== null) this.#updated = line.timestamp;
    if (line.state !== null) {
      this.#model = line.state.model;
      this.#provider = line.state.provider;
      this.#title = line.state.title;
      this.#isRefused ||= line.state.isRefused === true;
      this.#turns = Math.max(this.#turns, line.state.turn);
    }
    switch (line.kind) {
      case "item":
        this.#items.push(line.named);
        this.#whole.set(line.named.uuid, line.named.item);
        this.#parent = line.named.uuid;
        return;
      case "context":
        this.#context = line.context;
        return;
      case "rewritten":
        return this.#rewrite(line.items, number);
    }
  }

  #rewrite(entries: (string | NamedItem)[], number: number): void {
    const known = new Map(this.#items.map((named) => [named.uuid, named]));
    const items: NamedItem[] = [];
    for (const entry of entries) {
      const named = typeof entry === "string" ? known.get(entry) : entry;
      if (named === undefined) this.report(number);
      else items.push(named);
    }
    this.#removed += this.#items.length - items.length;
    this.#keepWhole(items);
    this.#items = items;
  }

  #nameBefore(uuid: string): string {
    return this.#shortened.get(uuid) ?? uuid;
  }

  /** A prefix of the session before is a rewind, which removes the rest; any other change keeps what it replaces. */
  #keepWhole(items: readonly NamedItem[]): void {
    const before = this.#items;
    const isBeginning = items.every(({ uuid }, at) => before[at]?.uuid === uuid);
    if (isBeginning) { for (const { uuid } of before.slice(items.length)) this.#whole.delete(this.#nameBefore(uuid)); }
    // A shortened result is a new item in the position of the old one.
    for (const [at, { uuid }] of items.length === before.length ? items.entries() : []) {
      const was = before[at]?.uuid ?? uuid;
      if (was !== uuid) this.#shortened.set(uuid, this.#nameBefore(was));
    }
    const isGrown = before.every(({ uuid }, at) => items[at]?.uuid === uuid);
    for (const { uuid, item } of items) {
      const isSummary = item.kind === "user" && item.origin === "summary";
      if (isGrown || isSummary) this.#whole.set(uuid, item);
    }
  }

  result({ size, ended }: { size: number; ended: boolean }): StoredSession {
    const stored = this.#items.map((named) => named.item);
    const items = repaired(stored);
    if (items.length !== stored.length && this.#unreadable > 0) {
      this.#problems.push("calls or results that lost their counterpart were completed or left out");
    }
    if (this.#meta === null) this.#problems.push("the first line is missing");
    return {
      id: this.id,
      meta: this.#meta,
      items,
      whole: [...this.#whole.values()],
      removed: this.#removed,
      context: this.#context,
      label: highestLabel([
        ...this.#context === null ? [] : [this.#context.system.label],
        ...items.map((item) => item.label),
      ]),
      model: this.#model ?? this.#meta?.model ?? "",
      provider: this.#provider,
      title: this.#title,
      isRefused: this.#isRefused,
      turns: this.#turns,
      updated: this.#updated,
      redacted: items.filter((item) => item.label !== "open").length,
      problems: this.#problems,
      end: { named: this.#items, parent: this.#parent, size, ended },
    };
  }
}

/** Returns the items with exactly one result for every call, directly after its response, as every server requires. */
function repaired(items: readonly SessionItem[]): SessionItem[] {
  const whole: SessionItem[] = [];
  let open: ToolCall[] = [];
  const close = () => {
    for (const call of open) {
      const { id, name } = call;
      whole.push({ kind: "tool_result", callId: id, name, content: CUT_OFF, isError: true, label: "open" });
    }
    open = [];
  };
  for (const item of items) {
    if (item.kind === "tool_result") {
      const at = open.findIndex((call) => call.id === item.callId);
      if (at < 0) continue;
      open.splice(at, 1);
    } else {
      close();
      if (item.kind === "assistant") open = [...item.calls];
    }
    whole.push(item);
  }
  close();
  return whole;
}

/** Returns the part of a stored session that a remote provider may have, with a sentence on the rest. */
export function openPart(stored: StoredSession): StoredSession {
  const items = stored.items.slice(0, itemsBeforeProtected(stored.items));
  if (items.length === stored.items.length) return stored;
  const said = `a copy from before protected content was read, with ${items.length} of ${stored.items.length} items`;
  // The system message can hold instructions that the first prompt shows to be protected.
  return { ...stored, items, context: null, redacted: 0, problems: [...stored.problems, said] };
}
