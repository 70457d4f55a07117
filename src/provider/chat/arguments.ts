/** The arguments of a call, read as one object or refused with words for the model. Source: wire reference, §7. */
import { isRecord, type JsonRecord, parseJson } from "../../platform/record.ts";

/** The arguments, or why they cannot be used. */
type ReadArguments = { input: JsonRecord } | { input: null; problem: string };

/** {@link readArgumentsWith}, with the library loaded where it is needed. */
export async function readArguments(raw: string): Promise<ReadArguments> {
  return readArgumentsWith(raw, null) ?? readArgumentsWith(raw, await loadRepair());
}

/**
 * Reads `raw`, and repairs what is complete but not quite JSON; null when that needs the library and it is not given.
 * Text that was cut is never closed for the model: a cut string looks like a short one. Backslashes that JSON does not
 * know are kept as they stand (paths, patterns).
 */
export function readArgumentsWith(raw: string, repair: RepairJson): ReadArguments;
export function readArgumentsWith(raw: string, repair: RepairJson | null): ReadArguments | null;
export function readArgumentsWith(raw: string, repair: RepairJson | null): ReadArguments | null {
  const text = raw.trim();
  if (text === "" || text === "null") return { input: {} };
  const unwrapped = withoutStrings(text);
  if (typeof unwrapped !== "string") return checked(unwrapped, text);
  const bare = withoutDecoration(unwrapped);
  if (bare !== unwrapped) {
    const value = parseJson(bare);
    if (value !== undefined) return checked(value, bare);
  }
  const scanner = new ObjectScanner();
  scanner.push(bare);
  if (scanner.deepest > DEPTH_LIMIT) return refused("they are nested too deeply");
  switch (scanner.state) {
    case "empty":
      return { input: {} };
    case "open":
      return refused("they end before the object is closed");
    case "more":
      return refused(bare.startsWith("{") ? "text follows the object" : "they do not begin with {");
    case "closed":
      return mended(bare, repair);
  }
}

/** Strings that hold JSON are unwrapped, twice at most; if that ends in text, the text is the result. */
function withoutStrings(text: string): unknown {
  let current: unknown = text;
  for (let layer = 0; layer < 3 && typeof current === "string"; layer++) {
    const value = parseJson(current);
    if (value === undefined) return current;
    current = value;
  }
  return current;
}

/** Longest text that is searched for a repeated object, in UTF-16 units. */
const DOUBLED_LIMIT = 1_000_000;

/** Without the `{}` that some adapters send first, a code fence, the tags of a template, and a repetition. */
function withoutDecoration(text: string): string {
  let bare = text.trim();
  const fence = /^```[a-z]*\n([\s\S]*?)\n?```$/i.exec(bare);
  if (fence?.[1] !== undefined) bare = fence[1].trim();
  bare = bare.replace(/^(?:json|arguments?:?)\s*(?=\{)/i, "").replace(/(?<=\})(?:\s*<\/[\w|｜]{1,30}>)+$/, "");
  // The same object twice, as some parsers send what they streamed again at the end.
  const half = bare.slice(0, Math.ceil(bare.length / 2)).trim();
  if (bare.length <= DOUBLED_LIMIT && half.endsWith("}") && bare.slice(half.length).trim() === half) bare = half;
  return /^\{\s*\}\s*\{/.test(bare) ? bare.replace(/^\{\s*\}\s*/, "") : bare;
}

function mended(text: string, repair: RepairJson | null): ReadArguments | null {
  const plain = parseJson(text);
  if (plain !== undefined) return checked(plain, text);
  const doubled = withDoubledBackslashes(text);
  const escaped = parseJson(doubled);
  if (escaped !== undefined) return checked(escaped, text);
  if (repair === null) return null;
  try {
    return checked(parseJson(repair(doubled)), text);
  } catch {
    return refused(parserWords(text));
  }
}

/** Doubles the backslashes that begin no escape of JSON: `\d`, `\U`, `\u` without four hexadecimal digits. */
function withDoubledBackslashes(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|["\\/bfnrt])|\\/g, (found, escape) => escape === undefined ? "\\\\" : found);
}

function checked(value: unknown, text: string): ReadArguments {
  if (value === null) return { input: {} };
  if (!isRecord(value)) return refused(Array.isArray(value) ? "they are a list" : "they are not an object");
  const scanner = new ObjectScanner();
  scanner.push(text);
  return scanner.deepest > DEPTH_LIMIT ? refused("they are nested too deeply") : { input: value };
}

function refused(why: string): ReadArguments {
  return {
    input: null,
    problem: `The arguments are not valid JSON: ${why}. ` +
      'Send the call again with one complete JSON object, such as {"key": "value"}, with " and \\ escaped in strings.',
  };
}

/** Returns the parser's words, without its quotation of the text. */
function parserWords(text: string): string {
  try {
    JSON.parse(text);
    return "they cannot be read";
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const place = /position (\d+)/.exec(message)?.[1];
    return place === undefined ? "they cannot be read" : `the parser stops at character ${place}`;
  }
}

/** State of the text read so far. */
type ScanState = "empty" | "open" | "closed" | "more";

/** Deepest nesting of what a server sends. Source: specification of the no-cloud boundary, "Around it". */
const DEPTH_LIMIT = 200;

/**
 * Follows brackets and strings over pieces of text. `closed`: exactly one object ended and only white space followed;
 * `more`: something else stands before or after it. Outside strings JSON has no apostrophe and no backtick, so there
 * they can only open strings of a looser kind: a brace in such a string must not look like the end.
 */
export class ObjectScanner {
  state: ScanState = "empty";
  deepest = 0;
  #depth = 0;
  /** The character that ends the string; empty outside of strings. */
  #quote = "";
  #escaped = false;

  push(text: string): void {
    for (let index = 0; index < text.length; index++) this.#step(text.charAt(index));
  }

  #step(sign: string): void {
    if (this.#quote !== "") {
      if (this.#escaped) this.#escaped = false;
      else if (sign === "\\") this.#escaped = true;
      else if (sign === this.#quote) this.#quote = "";
    } else if (sign > " " && this.state !== "more") {
      this.state = this.state === "open" || (this.state === "empty" && sign === "{") ? "open" : "more";
      if (this.state === "open") this.#stepInside(sign);
    }
  }

  #stepInside(sign: string): void {
    if (`"'\``.includes(sign)) this.#quote = sign;
    else if (sign === "{" || sign === "[") this.deepest = Math.max(this.deepest, ++this.#depth);
    else if ((sign === "}" || sign === "]") && --this.#depth === 0) this.state = "closed";
  }
}

/** Repairs JSON that is nearly right. Throws when it cannot. It drops lone backslashes: callers double them first. */
export type RepairJson = (text: string) => string;

/** Loads the library. */
export async function loadRepair(): Promise<RepairJson> {
  const { jsonrepair } = await import("npm:jsonrepair@3.15.0");
  return jsonrepair;
}
