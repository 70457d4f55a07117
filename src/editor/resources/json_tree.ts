/**
 * JSON with comments and trailing commas, read into a tree that keeps every byte, even between the values. So a
 * change is a change of the tree, and printing it reproduces the rest unchanged.
 */
import { parseJson } from "../../platform/record.ts";
import { TextProblem } from "../limits.ts";

/** A member of an object or an item of a list. */
interface JsonChild {
  /** White space and comments before it, from the comma or the bracket on. */
  lead: string;
  /** Of a member: its name as it is written, with all up to its value; empty for an item. */
  label: string;
  /** Of a member: its name; empty for an item. */
  key: string;
  value: JsonNode;
  /** The text between it and its comma; empty if none follows. */
  trail: string;
  /** The white space at the beginning of its line. */
  indent: string;
}

/**
 * An object or a list. `comma`: whether one follows the last child; `tail`: what comes before the closing bracket;
 * `indent`: as of a child.
 */
export interface JsonContainer {
  kind: "object" | "array";
  children: JsonChild[];
  comma: boolean;
  tail: string;
  indent: string;
}

/** A value. `text`: as it is written. */
export type JsonNode =
  | JsonContainer
  | { kind: "plain"; value: string | number | boolean | null; text: string; indent: string };

/** A whole text: its value, and what comes before and after. */
export interface JsonDocument {
  head: string;
  root: JsonNode;
  foot: string;
}

/** Deeper nesting is refused: no file of an editor has it. */
const DEPTH = 100;

/** Reads a text; a byte order mark at the start is skipped. Throws {@link TextProblem}. */
export function parseJsonDocument(text: string): JsonDocument {
  return new Parser(text).document();
}

/** Returns the value of a text. Throws {@link TextProblem}. */
export function parseJsonTree(text: string): JsonNode {
  return parseJsonDocument(text).root;
}

/** Returns the text of a document. */
export function printJson({ head, root, foot }: JsonDocument): string {
  return head + printNode(root) + foot;
}

function printNode(node: JsonNode): string {
  if (node.kind === "plain") return node.text;
  const children = node.children.map((child, at) =>
    printChild(child) + (at < node.children.length - 1 || node.comma ? "," : "")
  );
  const [open, close] = node.kind === "object" ? "{}" : "[]";
  return open + children.join("") + node.tail + close;
}

/** Returns the text of a child without its comma. */
export function printChild({ lead, label, value, trail }: JsonChild): string {
  return lead + label + printNode(value) + trail;
}

class Parser {
  readonly #text: string;
  #at: number;
  /** The white space at the beginning of the line. */
  #indent: string;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
    this.#indent = /^\ufeff?([ \t]*)/.exec(text)?.[1] ?? "";
  }

  document(): JsonDocument {
    this.#blank();
    const head = this.#text.slice(0, this.#at);
    const root = this.#value(0);
    const foot = this.#blank();
    if (this.#at < this.#text.length) throw this.#problem("something follows the value");
    return { head, root, foot };
  }

  #problem(what: string): TextProblem {
    return new TextProblem(`line ${this.#text.slice(0, this.#at).split("\n").length}: ${what}`);
  }

  /** Skips white space and comments, and returns them. */
  #blank(): string {
    const [rest, from] = [this.#text, this.#at];
    for (;;) {
      if (/[ \t\r\n]/.test(rest[this.#at] ?? "")) this.#at += 1;
      else if (rest.startsWith("//", this.#at)) {
        const end = rest.indexOf("\n", this.#at);
        this.#at = end < 0 ? rest.length : end;
      } else if (rest.startsWith("/*", this.#at)) {
        const end = rest.indexOf("*/", this.#at + 2);
        if (end < 0) throw this.#problem("a comment has no end");
        this.#at = end + 2;
      } else break;
    }
    const blank = rest.slice(from, this.#at);
    const end = blank.lastIndexOf("\n");
    if (end >= 0) this.#indent = /^[ \t]*/.exec(blank.slice(end + 1))?.[0] ?? "";
    return blank;
  }

  #value(depth: number): JsonNode {
    if (depth > DEPTH) throw this.#problem("it is nested too deeply");
    const start = this.#at;
    const indent = this.#indent;
    const sign = this.#text[start];
    if (sign === "{") return { ...this.#children("object", depth), indent };
    if (sign === "[") return { ...this.#children("array", depth), indent };
    if (sign === '"') return { kind: "plain", value: this.#string(), text: this.#text.slice(start, this.#at), indent };
    const word = /[-+.\w]*/y;
    word.lastIndex = start;
    const found = word.exec(this.#text)?.[0] ?? "";
    if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/.test(found)) {
      throw this.#problem("a value was expected");
    }
    this.#at += found.length;
    return { kind: "plain", value: JSON.parse(found), text: found, indent };
  }

  #string(): string {
    const string = /"(?:[^"\\\r\n]|\\.)*"/y;
    string.lastIndex = this.#at;
    const found = string.exec(this.#text)?.[0];
    if (found === undefined) throw this.#problem("a text in quotes was expected");
    const value = parseJson(found);
    if (typeof value !== "string") throw this.#problem("a text holds a sign that must be escaped");
    this.#at += found.length;
    return value;
  }

  /** The name of a member with all up to its value. */
  #label(): Pick<JsonChild, "key" | "label"> {
    const from = this.#at;
    const key = this.#string();
    this.#blank();
    if (this.#text[this.#at] !== ":") throw this.#problem("a colon was expected");
    this.#at += 1;
    this.#blank();
    return { key, label: this.#text.slice(from, this.#at) };
  }

  #children(kind: JsonContainer["kind"], depth: number): Omit<JsonContainer, "indent"> {
    const close = kind === "object" ? "}" : "]";
    const children: JsonChild[] = [];
    this.#at += 1;
    for (let comma = false;;) {
      const lead = this.#blank();
      if (this.#text[this.#at] === close) {
        this.#at += 1;
        return { kind, children, comma, tail: lead };
      }
      const indent = this.#indent;
      const named = kind === "object" ? this.#label() : { key: "", label: "" };
      const child = { lead, ...named, value: this.#value(depth + 1), trail: "", indent };
      children.push(child);
      const behind = this.#blank();
      comma = this.#text[this.#at] === ",";
      if (comma) {
        child.trail = behind;
        this.#at += 1;
      } else if (this.#text[this.#at] === close) {
        this.#at += 1;
        return { kind, children, comma, tail: behind };
      } else throw this.#problem(`a comma or ${close} was expected`);
    }
  }
}

/** Returns the value as data. Of members of one name the last one counts, as everywhere. */
export function dataOf(node: JsonNode): unknown {
  if (node.kind === "plain") return node.value;
  if (node.kind === "array") return node.children.map(({ value }) => dataOf(value));
  return Object.fromEntries(node.children.map(({ key, value }) => [key, dataOf(value)]));
}

/**
 * Returns the place of the member `name`; -1 when there is none. Throws {@link TextProblem} where the name occurs
 * twice.
 */
export function memberAt({ children }: JsonContainer, name: string): number {
  const found = children.findIndex(({ key }) => key === name);
  if (found >= 0 && children.findLastIndex(({ key }) => key === name) !== found) {
    throw new TextProblem(`the name "${name}" appears twice, and it is not certain which one counts`);
  }
  return found;
}

/**
 * Returns the value at the end of `path`; null when there is none. Throws {@link TextProblem} where a name occurs
 * twice.
 */
export function nodeAt(root: JsonNode, path: readonly string[]): JsonNode | null {
  let node: JsonNode = root;
  for (const name of path) {
    if (node.kind !== "object") return null;
    const found: JsonChild | undefined = node.children[memberAt(node, name)];
    if (found === undefined) return null;
    node = found.value;
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
