/** JSON with comments and trailing commas, read into a tree that knows where everything stands in the text. */

/** Where a value stands: offsets in UTF-16 units, the end after the last. */
interface Span {
  start: number;
  end: number;
}

/** A member of an object. */
export interface JsonMember extends Span {
  key: string;
  value: JsonNode;
}

/** A value and where it stands. `comma`: whether one follows the last child. */
export type JsonNode =
  & Span
  & (
    | { kind: "object"; members: JsonMember[]; comma: boolean }
    | { kind: "array"; items: JsonNode[]; comma: boolean }
    | { kind: "plain"; value: string | number | boolean | null }
  );

/** What is wrong with a text. Lines count from 1. Nothing of the text is in the message. */
export class JsonProblem extends Error {
  override readonly name = "JsonProblem";
}

/** Deeper nesting is refused: no file of an editor has it. */
const DEPTH = 100;

/** Reads a text; a byte order mark at the start is passed over. Throws {@link JsonProblem}. */
export function parseJsonTree(text: string): JsonNode {
  return new Parser(text).document();
}

class Parser {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
  }

  document(): JsonNode {
    this.#blank();
    const node = this.#value(0);
    this.#blank();
    if (this.#at < this.#text.length) throw this.#problem("something follows the value");
    return node;
  }

  #problem(what: string): JsonProblem {
    return new JsonProblem(`line ${this.#text.slice(0, this.#at).split("\n").length}: ${what}`);
  }

  /** Passes over white space and comments. */
  #blank(): void {
    for (;;) {
      const rest = this.#text;
      if (/[ \t\r\n]/.test(rest[this.#at] ?? "")) this.#at += 1;
      else if (rest.startsWith("//", this.#at)) {
        const end = rest.indexOf("\n", this.#at);
        this.#at = end < 0 ? rest.length : end;
      } else if (rest.startsWith("/*", this.#at)) {
        const end = rest.indexOf("*/", this.#at + 2);
        if (end < 0) throw this.#problem("a comment has no end");
        this.#at = end + 2;
      } else return;
    }
  }

  #value(depth: number): JsonNode {
    if (depth > DEPTH) throw this.#problem("it is nested too deeply");
    const start = this.#at;
    const sign = this.#text[start];
    if (sign === "{") return this.#object(depth);
    if (sign === "[") return this.#array(depth);
    if (sign === '"') return { kind: "plain", value: this.#string(), start, end: this.#at };
    const word = /[-+.\w]*/y;
    word.lastIndex = start;
    const found = word.exec(this.#text)?.[0] ?? "";
    if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/.test(found)) {
      throw this.#problem("a value was expected");
    }
    this.#at += found.length;
    return { kind: "plain", value: JSON.parse(found), start, end: this.#at };
  }

  #string(): string {
    const string = /"(?:[^"\\\r\n]|\\.)*"/y;
    string.lastIndex = this.#at;
    const found = string.exec(this.#text)?.[0];
    if (found === undefined) throw this.#problem("a text in quotes was expected");
    try {
      const value: unknown = JSON.parse(found);
      this.#at += found.length;
      return String(value);
    } catch {
      throw this.#problem("a text holds a sign that must be escaped");
    }
  }

  #object(depth: number): JsonNode {
    const start = this.#at;
    const members: JsonMember[] = [];
    const comma = this.#children("}", () => {
      const from = this.#at;
      const key = this.#string();
      this.#blank();
      if (this.#text[this.#at] !== ":") throw this.#problem("a colon was expected");
      this.#at += 1;
      this.#blank();
      const value = this.#value(depth + 1);
      members.push({ key, value, start: from, end: value.end });
    });
    return { kind: "object", members, comma, start, end: this.#at };
  }

  #array(depth: number): JsonNode {
    const start = this.#at;
    const items: JsonNode[] = [];
    const comma = this.#children("]", () => items.push(this.#value(depth + 1)));
    return { kind: "array", items, comma, start, end: this.#at };
  }

  /** The children up to `close`, commas between them; whether a comma stands after the last. */
  #children(close: string, child: () => void): boolean {
    this.#at += 1;
    for (let comma = false;;) {
      this.#blank();
      if (this.#text[this.#at] === close) {
        this.#at += 1;
        return comma;
      }
      child();
      this.#blank();
      comma = this.#text[this.#at] === ",";
      if (comma) this.#at += 1;
      else if (this.#text[this.#at] !== close) throw this.#problem(`a comma or ${close} was expected`);
    }
  }
}

/** The value as data. Of members of one name the last one counts, as everywhere. */
export function dataOf(node: JsonNode): unknown {
  if (node.kind === "plain") return node.value;
  if (node.kind === "array") return node.items.map(dataOf);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, dataOf(value)]));
}

/** The value at the end of `path`; null when there is none. Throws {@link JsonProblem} where a name stands twice. */
export function nodeAt(root: JsonNode, path: readonly string[]): JsonNode | null {
  let node: JsonNode = root;
  for (const name of path) {
    if (node.kind !== "object") return null;
    const found = node.members.filter(({ key }) => key === name);
    if (found.length > 1) {
      throw new JsonProblem(`the name "${name}" stands there twice; which one counts is not certain`);
    }
    if (found[0] === undefined) return null;
    node = found[0].value;
  }
  return node;
}

/** Data as one text that is the same for equal data: names sorted. */
export function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => one < other ? -1 : 1))
        : inner,
  );
}
