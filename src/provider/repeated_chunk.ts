/**
 * Chunks that differ from one before in a few letters of their text alone, told without parsing them: servers send the
 * same two hundred bytes around every token of four.
 */
import { type ChunkSink, readChunk } from "./chunk.ts";
import { EventDecoder } from "./events.ts";

/** Longest text that is taken out of a line, in characters: a longer slice would keep the whole read in memory (V8). */
const TEXT_LIMIT = 12;
/** Lines that are let pass, at most, before another one is learnt, when what was learnt did not come again. */
const MOST_LINES = 256;

/** Lines before the first is learnt: short replies, as calls are, do not pay for it. */
const FIRST_LINES = 16;

/** What a chunk came to, where it held nothing but text and perhaps the name of a model. */
interface PlainChunk {
  kind: "content" | "reasoning";
  text: string;
  model: string | null;
}

/** A line that was read and what stands in it before and behind its text. */
interface Pattern extends PlainChunk {
  before: string;
  behind: string;
}

/**
 * Knows one line of a reply, and reads those that are like it. What it reads is what parsing would give: behind the
 * learnt beginning a string stands open, letters that mean nothing to JSON go on with it, the learnt rest closes it.
 */
export class RepeatedChunk {
  #pattern: Pattern | null = null;
  /** Lines until the next is learnt, and how many they were the last time. */
  #wait = FIRST_LINES;
  #lines = 0;
  /** The last line was like the learnt one, but for a text that has to be parsed. */
  #alike = false;

  /** Hands on the parts of a line that is like the learnt one; false for another, of which nothing is handed on. */
  read(line: string, sink: Pick<ChunkSink, "content" | "reasoning" | "model">): boolean {
    this.#alike = false;
    const pattern = this.#pattern;
    if (pattern === null) return false;
    const { before, behind, kind, model } = pattern;
    const end = line.length - behind.length;
    // Compared as slices: `startsWith` and `endsWith` took half as long again.
    if (end < before.length || line.slice(end) !== behind || line.slice(0, before.length) !== before) return false;
    this.#alike = true;
    if (end === before.length || end > before.length + TEXT_LIMIT) return false;
    const text = line.slice(before.length, end);
    if (!isPlain(text)) return false;
    if (model !== null) sink.model(model);
    if (kind === "content") sink.content(text);
    else sink.reasoning(text);
    this.#lines = 0;
    return true;
  }

  /** Learns a line that {@link read} did not know, where it is a chunk of text; costs as much as parsing it twice. */
  learn(line: string): void {
    if (this.#alike) return;
    if (this.#wait > 0) {
      this.#wait--;
      return;
    }
    // A server that changes something else in every line is tried less and less often.
    this.#lines = Math.min(this.#lines * 2 + 1, MOST_LINES);
    this.#wait = this.#lines;
    this.#pattern = patternOf(line) ?? this.#pattern;
  }
}

function patternOf(line: string): Pattern | null {
  const chunk = plainChunkOf(line);
  if (chunk === null || !isPlain(chunk.text)) return null;
  const at = line.lastIndexOf(`"${chunk.text}"`) + 1;
  if (at === 0) return null;
  const [before, behind] = [line.slice(0, at), line.slice(at + chunk.text.length)];
  // Whether the text stands there is seen by putting another one there.
  const other = plainChunkOf(`${before}${chunk.text}.${behind}`);
  const found = other?.kind === chunk.kind && other.text === `${chunk.text}.` && other.model === chunk.model;
  return found ? { ...chunk, before, behind } : null;
}

/** What reading a line by itself comes to; null when there is anything else in it. */
function plainChunkOf(line: string): PlainChunk | null {
  const texts: Pick<PlainChunk, "kind" | "text">[] = [];
  let model: string | null = null;
  let others = 0;
  const other = () => void others++;
  const sink: ChunkSink = {
    content: (text) => void texts.push({ kind: "content", text }),
    reasoning: (text) => void texts.push({ kind: "reasoning", text }),
    model: (name) => void (model = name),
    toolCall: other,
    finish: other,
    usage: other,
    progress: other,
    error: other,
  };
  const events = new EventDecoder({
    value: (value, event) => readChunk(value, { event, sink }),
    done: other,
    junk: other,
  });
  events.line(line);
  const [text] = texts;
  if (text === undefined || texts.length > 1 || others > 0 || !events.idle) return null;
  return { ...text, model };
}

/** Whether a text stands in JSON as it is. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < SPACE || code === QUOTE || code === BACKSLASH) return false;
  }
  return true;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
