/**
 * The patterns of a marker, as in `.gitignore`: matched name by name from the marker's directory downward. A pattern
 * without a slash matches at every depth, and a match covers everything below it. Names are compared as the most
 * lenient file system would. All patterns of a directory form one tree, so hundreds of them cost as much as one.
 */
import { nameBehindTemporary } from "../../platform/files.ts";
import { foldedText, strippedName } from "../../platform/case_folded.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

/** One meaning of a marker line. */
export interface Pattern {
  /** With wildcards written as {@link STAR} and {@link ONE}. */
  names: readonly string[];
  /** A single name that matches at every depth; otherwise the pattern starts at the marker's directory. */
  anywhere?: boolean;
}

/** Stand for wildcards: no marker may contain these characters. */
const STAR = "\x01";
const ONE = "\x02";
const WILDCARD = new RegExp(`([${STAR}${ONE}])`);
/** Stand for escaped wildcards, which are plain characters. */
const LITERAL: Readonly<Record<string, string>> = { "*": "\x03", "?": "\x04" };

/** Returns whether a name of a {@link Pattern} has a wildcard. */
export function isWild(name: string): boolean {
  return WILDCARD.test(name);
}

/** Returns text with `*` and `?` as the wildcards of a {@link Pattern}. */
export function withWildcards(text: string): string {
  return text.replaceAll("*", STAR).replaceAll("?", ONE);
}

/** Returns the meanings of a marker line: as in `.gitignore`, and with backslashes between names as on Windows. */
export function compilePatterns(text: string): Pattern[] {
  const escaped = text.replace(
    /\\?[^]/gu,
    (sign) => sign.length > 1 && sign[0] === "\\" ? LITERAL[sign.slice(1)] ?? sign.slice(1) : withWildcards(sign),
  );
  const meanings = [patternOf(escaped, "/")];
  if (text.includes("\\")) meanings.push(patternOf(withWildcards(text), /[/\\]/));
  return meanings;
}

function patternOf(text: string, separator: string | RegExp): Pattern {
  const written = text.split(separator);
  const names = written.filter((name) => name !== "" && name !== ".")
    .map((name) => isWild(name) ? name : unescaped(name));
  // A trailing slash means a directory; files of that name are covered, too.
  return { names, anywhere: names.length === 1 && written.length <= (written.at(-1) === "" ? 2 : 1) };
}

function unescaped(text: string): string {
  return text.replaceAll("\x03", "*").replaceAll("\x04", "?");
}

interface ComparedName {
  /** Case-folded, without the trailing characters that Windows drops; empty only if the name is. */
  stripped: string;
  /** The forms that wildcards match: also with those characters, and as written, since a letter can fold to several. */
  forms: ReadonlySet<string>;
}

function compared(name: string): ComparedName {
  const text = foldedText(name);
  const stripped = strippedName(text) || text;
  return { stripped, forms: new Set([text, stripped, name.toLowerCase()]) };
}

/** A name with wildcards. */
interface Wild {
  /** The text before the first star, those between stars in order, and the text after the last; of fewer, none. */
  pieces: readonly RegExp[];
  /** The text after the last wildcard, which rules out most names; empty if it ends in dots or spaces. */
  end: string;
  node: Node;
}

function wildOf(name: string): Wild {
  const folded = name.split(WILDCARD).map((piece, at) => at % 2 === 1 ? piece : unescaped(foldedText(piece)));
  const whole = folded.join("");
  const text = whole.replace(/(?<![. ])[. ]+$/, "");
  const pieces = text.split(new RegExp(`${STAR}+`)).map((piece, at, { length }) => {
    const source = piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(ONE, ".");
    return new RegExp(
      `${at === 0 ? "^" : ""}${source}${at === length - 1 ? "[. ]*$" : ""}`,
      piece.includes(ONE) ? "gsu" : "g",
    );
  });
  const end = text !== whole ? "" : text.slice(Math.max(text.lastIndexOf(STAR), text.lastIndexOf(ONE)) + 1);
  return { pieces, end, node: new Node() };
}

/** Finds each piece at the first place behind the one before it: no other needs to be tried. */
function matches({ pieces, end }: Wild, name: string): boolean {
  let at = 0;
  return name.endsWith(end) && pieces.every((piece) => {
    piece.lastIndex = at;
    const isThere = piece.test(name);
    at = piece.lastIndex;
    return isThere;
  });
}

class Node {
  /** The strictest rule of the patterns that end here. */
  rule: ProtectionRule | null = null;
  readonly names = new Map<string, Node>();
  readonly wilds = new Map<string, Wild>();
  /** The node after `**`, which matches any number of names. */
  any: Node | null = null;
  /** `any` is a node after `**`: every name leads to it again; `everywhere` is the one at the start of patterns. */
  readonly kind: "start" | "named" | "any" | "everywhere";

  constructor(kind: Node["kind"] = "named") {
    this.kind = kind;
  }

  get stays(): boolean {
    return this.kind === "any" || this.kind === "everywhere";
  }

  get leadsOn(): boolean {
    return this.names.size + this.wilds.size > 0;
  }

  /** Returns the node for the next name of a pattern, and creates it if needed. */
  child(name: string): Node {
    if (name === STAR + STAR) {
      return this.stays ? this : this.any ??= new Node(this.kind === "start" ? "everywhere" : "any");
    }
    if (!isWild(name)) {
      const { stripped } = compared(name);
      const found = this.names.get(stripped) ?? new Node();
      this.names.set(stripped, found);
      return found;
    }
    const wild = this.wilds.get(name) ?? wildOf(name);
    this.wilds.set(name, wild);
    return wild.node;
  }

  /** Calls `meet` with each node that a name leads to. Without `dots`, no leading wildcard matches hidden names. */
  step(name: ComparedName, { dots, meet }: { dots: boolean; meet(node: Node): void }): void {
    const isHidden = !dots && name.stripped.startsWith(".");
    if (this.stays && !isHidden) meet(this);
    const plain = this.names.get(name.stripped);
    if (plain !== undefined) meet(plain);
    for (const [text, wild] of this.wilds) {
      if (isHidden && !text.startsWith(".")) continue;
      if ([...name.forms].some((form) => matches(wild, form))) meet(wild.node);
    }
  }
}

/** The patterns of one directory. */
export class Patterns {
  readonly #root = new Node("start");
  /** Besides it, what other patterns have left where a link leads here. */
  readonly #nodes = [this.#root];

  /** Returns whether that changes anything. */
  add(rule: ProtectionRule, { names, anywhere = false }: Pattern): boolean {
    let node = anywhere ? this.#root.child(STAR + STAR) : this.#root;
    for (const name of names) node = node.child(name);
    const before = node.rule;
    node.rule = stricter(before, rule);
    return node.rule !== before;
  }

  /** Adds the rest of other patterns. Returns whether that changes anything. */
  join(rest: Scope): boolean {
    const added = rest.nodes.filter((node) => !this.#nodes.includes(node));
    this.#nodes.push(...added);
    return added.length > 0;
  }

  /** The scope at the directory of the patterns. */
  get start(): Scope {
    return new Scope(this.#nodes);
  }
}

/** The patterns of a directory, as they apply at or below it. */
export class Scope {
  readonly nodes: Node[] = [];
  /** The rule that covers this directory itself, not one above it. */
  rule: ProtectionRule | null = null;

  constructor(nodes: readonly Node[]) {
    for (const node of nodes) this.#meet(node);
  }

  #meet(node: Node): void {
    if (this.nodes.includes(node)) return;
    this.nodes.push(node);
    this.rule = stricter(this.rule, node.rule);
    if (node.any !== null) this.#meet(node.any);
  }

  /** Whether a pattern can still cover something below. */
  get leadsOn(): boolean {
    return this.nodes.some((node) => node.leadsOn);
  }

  /** Returns the rule for what these names lead to from here, or null. */
  ruleOf([name, ...names]: readonly string[]): ProtectionRule | null {
    return this.rule ?? (name === undefined ? null : this.below(name).ruleOf(names));
  }

  /** Returns the scope one name further down. Linear in the number of partial matches. */
  below(name: string, { dots = true }: { dots?: boolean } = {}): Scope {
    const next = new Scope([]);
    const named = compared(name);
    for (const node of this.nodes) node.step(named, { dots, meet: (found) => next.#meet(found) });
    return next;
  }
}

/** Returns what patterns can cover below a name, besides those that apply everywhere in the marker's directory. */
export function restBelow(scopes: readonly Scope[], name: string): Scope[] {
  const leadsOn = (node: Node) => node.leadsOn && node.kind !== "everywhere";
  return scopes.map((scope) => new Scope(scope.below(name).nodes.filter(leadsOn))).filter((scope) => scope.leadsOn);
}

/** The rules of one directory. */
export interface Coverage {
  /** The rule that covers the directory and everything below it. */
  covered: ProtectionRule | null;
  /** The scopes that can cover something below it. */
  scopes: readonly Scope[];
}

/** The names of files that editors and people leave next to a file: `X~`, `X.bak`, `.X.swp`, `#X#`. */
const COMPANION = /^(.+?)(?:~|#|\.(?:bak|old|orig|save|sw[a-z]))$/i;

/** Returns other names that a file is judged by: the final one of a temporary file, the original of a companion. */
function otherNamesOf(name: string): string[] {
  const final = nameBehindTemporary(name) ?? COMPANION.exec(name)?.[1];
  return final === undefined ? [] : [final, final.replace(/^[.#]/, "")];
}

/** Returns the rule for a name: a temporary file has the one of its final name, a companion the one of its file. */
export function ruleBelow({ covered, scopes }: Coverage, name: string): ProtectionRule | null {
  if (covered?.tier === "list-only" || scopes.length === 0) return covered;
  const others = otherNamesOf(name);
  let found = covered;
  for (const scope of scopes) {
    found = stricter(found, scope.below(name).rule);
    for (const other of others) found = stricter(found, scope.below(other).rule);
  }
  return found;
}
