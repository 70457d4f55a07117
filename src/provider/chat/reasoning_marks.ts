/**
 * The marks around what a model only thought: one table, for telling reasoning from the answer while a reply streams,
 * and for keeping calls that stand in reasoning from being run.
 */

/** A mark, and where it ends in the text. */
export type ReasoningMark = { kind: "open"; end: number; closers: readonly string[] } | { kind: "close"; end: number };

/** A name with one of these words marks reasoning, whatever the brackets and prefixes are. */
const WORDS = /think|thought|reason|reflect|analysis/i;

/** Longer names do not count; bounds what is held back of a stream. */
const NAME_LIMIT = 48;

/**
 * Marks whose names do not show their meaning, with what closes them: Magistral, Gemma 4, Apertus, MedGemma, Pangu, and
 * gpt-oss, whose analysis may also be the channel of a call.
 */
const PAIRS: readonly (readonly [open: string, close: string])[] = [
  ["[THINK]", "[/THINK]"],
  ["<|channel>thought", "<channel|>"],
  ["<|inner_prefix|>", "<|inner_suffix|>"],
  ["<unused94>thought", "<unused95>"],
  ["<unused94>", "<unused95>"],
  ["[unused16]", "[unused17]"],
  ["<|start|>assistant<|channel|>analysis", "<|end|>"],
  ["<|channel|>analysis", "<|end|>"],
];

/** Phrases that count at the beginning of a message alone: Granite, Apriel. */
const PHRASES: readonly (readonly [open: string, ...closers: string[]])[] = [
  ["Here is my thought process:", "Here is my response:", "Here's my response:"],
  ["Here's my thought process:", "Here's my response:", "Here is my response:"],
  ["Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"],
];

/** Marks around the answer of models that mark their reasoning; part of neither. */
const ANSWERS: readonly (readonly [open: string, ...closers: string[]])[] = [
  ["<|START_RESPONSE|>", "<|END_RESPONSE|>"],
  ["<|begin_of_solution|>", "<|end_of_solution|>"],
  ["[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"],
  ["<|start|>assistant<|channel|>final<|message|>", "<|return|>", "<|end|>"],
  ["<|channel|>final<|message|>", "<|return|>", "<|end|>"],
];

/** Closing marks that are seen without their opening one, which the template put into the prompt. */
const LONE_CLOSERS = [...new Set([...PAIRS.map(([, close]) => close), "[BEGIN FINAL RESPONSE]"])]
  .filter((close) => close !== "<|end|>");

/** Literals that are searched for inside of a text. */
const LITERALS = [...PAIRS.map(([open]) => open), ...LONE_CLOSERS];

/** Every text that a mark begins with, apart from names in brackets. */
const BEGINNINGS = [...PAIRS, ...PHRASES, ...ANSWERS].map(([open]) => open);

/** Finds places where a mark may stand: names in brackets, and the literals of the table. */
export const MARK_CANDIDATE = String.raw`<\|?\/?[\w.:|-]{1,${NAME_LIMIT}}>|◁\/?\w{1,${NAME_LIMIT}}▷|` +
  LITERALS.map((literal) => RegExp.escape(literal)).join("|");

/** Returns the mark of reasoning at `at`, or null. Phrases count only where `first` says that the message begins. */
export function reasoningMarkAt(text: string, at: number, { first = false } = {}): ReasoningMark | null {
  for (const [open, ...closers] of first ? [...PAIRS, ...PHRASES] : PAIRS) {
    if (!text.startsWith(open, at)) continue;
    const end = at + open.length;
    const addressed = open.endsWith("analysis") && /^\s*to=/.test(text.slice(end, end + 16));
    return addressed ? null : { kind: "open", end, closers };
  }
  const lone = LONE_CLOSERS.find((close) => text.startsWith(close, at));
  if (lone !== undefined) return { kind: "close", end: at + lone.length };
  const name = nameAt(text, at);
  if (name === null || !WORDS.test(name.inner)) return null;
  return isClosing(name.inner)
    ? { kind: "close", end: name.end }
    : { kind: "open", end: name.end, closers: closersOf(text.slice(at, name.end), name.inner) };
}

/** The mark before an answer that stands at `at`, with what closes it. */
export function answerMarkAt(text: string, at: number): { end: number; closers: readonly string[] } | null {
  const found = ANSWERS.find(([open]) => text.startsWith(open, at));
  if (found === undefined) return null;
  const [open, ...closers] = found;
  return { end: at + open.length, closers };
}

/** Returns whether a text that is still arriving may begin with a mark. */
export function mayBeginMark(text: string): boolean {
  if (BEGINNINGS.some((open) => open.startsWith(text))) return true;
  if (mayBeName(text)) return true;
  return /^(?:<\|start\|>assistant)?<\|channel\|>analysis\s{0,8}t?o?$/.test(text);
}

/**
 * Returns the offset at which the end of `text` may begin one of `literals`; its length for none. Without `literals`,
 * of any mark that is met inside a text, or of a fence.
 */
export function deferredTail(text: string, literals?: readonly string[]): number {
  for (let at = Math.max(0, text.length - NAME_LIMIT - 2); at < text.length; at++) {
    const tail = text.slice(at);
    if ((literals ?? LITERALS).some((literal) => literal.startsWith(tail))) return at;
    if (literals === undefined && (mayBeName(tail) || /^`+$/.test(tail))) return at;
  }
  return text.length;
}

function mayBeName(text: string): boolean {
  return /^(?:<\|?\/?[\w.:|-]*|◁\/?\w*)$/.test(text) && text.length <= NAME_LIMIT + 1;
}

function nameAt(text: string, at: number): { inner: string; end: number } | null {
  const pattern = /<(\|?\/?[\w.:|-]{1,48})>|◁(\/?\w{1,48})▷/y;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  const inner = found?.[1] ?? found?.[2];
  return inner === undefined ? null : { inner, end: pattern.lastIndex };
}

/** `/think`, `|/think|`, `|END_THINKING|`, `|end_of_thought|`, `|thought_end|`. */
function isClosing(inner: string): boolean {
  return /^\|?\//.test(inner) || /(?:^|[^a-z])end(?:[^a-z]|$)/i.test(inner);
}

function closersOf(open: string, inner: string): string[] {
  if (/begin|start/i.test(inner)) {
    return [open.replace(/begin|start/i, (word) => word === word.toUpperCase() ? "END" : "end")];
  }
  const closed = open.replace(/^(<\|?|◁)/, "$1/");
  return inner.startsWith("|") ? [closed, "<|end|>"] : [closed];
}
