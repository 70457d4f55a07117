/**
 * The patterns of a marker, as in `.gitignore`: matched name by name from the marker's directory downward; one without a
 * slash means a name at every depth. What matches covers everything below it. Names are compared as the most lenient file
 * system would. All patterns of a directory are one tree, so that hundreds of them cost as much as one.
 */
import { nameBehindTemporary } from "../../platform/files.ts";
import { foldedText, strippedName } from "../../platform/case_folded.ts";
import { type ProtectionRule, stricter } from "./protection_rule.ts";

/** One meaning of a line of a marker. */
export interface Pattern {
  /** Wildcards stand as {@link STAR} and {@link ONE} in them. */
  names: readonly string[];
  /** One name, at every depth; else it starts from the directory. */
  anywhere?: boolean;
}

/** Wildcards: no text of a marker holds these signs. */
const STAR = "\x01";
const ONE = "\x02";
const WILDCARD = new RegExp(`([${STAR}${ONE}])`);
/** Signs behind a backslash, which are no wildcards. */
const LITERAL: Readonly<Record<string, string>> = { "*": "\x03", "?": "\x04" };

/** Whether a name of a {@link Pattern} holds a wildcard. */
export function isWild(name: string): boolean {
  return WILDCARD.test(name);
}

/** Names in which `*` and `?` are wildcards, as those of a {@link Pattern}. */
export function withWildcards(text: string): string {
  return text.replaceAll("*", STAR).replaceAll("?", ONE);
}

/**
 * What the text of a marker's line means: as `.gitignore` reads it, where a backslash takes the meaning of the next sign
 * away, and, where it holds one, also as a path with names that hold backslashes, and as Windows parts names.
 */
export function compilePatterns(text: string): Pattern[] {
  const escaped = text.replace(
    /\\?[^]/gu,
    (sign) => sign.length > 1 && sign[0] === "\\" ? LITERAL[sign.slice(1)] ?? sign.slice(1) : withWildcards(sign),
  );
  if (!text.includes("\\")) return [patternOf(escaped, "/")];
  const plain = withWildcards(text);
  return [patternOf(escaped, "/"), patternOf(plain, "/"), patternOf(plain, /[/\\]/)];
}

function patternOf(text: string, separator: string | RegExp): Pattern {
  const names: string[] = [];
  const written = text.split(separator);
  for (const name of written) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(isWild(name) ? name : unescaped(name));
  }
  // A slash at the end says that it is a directory; that is not asked for here.
  return { names, anywhere: names.length === 1 && written.length <= (written.at(-1) === "" ? 2 : 1) };
}

function unescaped(text: string): string {
  return text.replaceAll("\x03", "*").replaceAll("\x04", "?");
}

interface ComparedName {
  /** Folded alone. */
  text: string;
  /** Without what Windows drops at its end; never empty, unless the name is. */
  stripped: string;
}

function compared(name: string): ComparedName {
  const text = foldedText(name);
  return { text, stripped: strippedName(text) || text };
}

/** A name with wildcards, sign by sign. */
interface Wild {
  signs: readonly string[];
  /** Its end; most names are told by that. */
  end: string;
}

function wildOf(pieces: readonly string[]): Wild {
  const text = pieces.join("");
  return { signs: [...text], end: text.slice(Math.max(text.lastIndexOf(STAR), text.lastIndexOf(ONE)) + 1) };
}

/** `*` and `?` in one name: goes back to the last star alone, so at most length times length steps. */
function matches({ signs, end }: Wild, name: string): boolean {
  if (!name.endsWith(end)) return false;
  // Most names are of plain letters, which need not be taken apart.
  const letters = /^[\x20-\x7e]*$/.test(name) ? name : [...name];
  let [at, star, retry] = [0, -1, 0];
  for (let letter = 0; letter < letters.length;) {
    const sign = signs[at];
    if (sign === STAR) {
      star = at++;
      retry = letter;
    } else if (sign !== undefined && (sign === ONE || sign === letters[letter])) {
      at++;
      letter++;
    } else if (star >= 0) {
      at = star + 1;
      letter = ++retry;
    } else return false;
  }
  while (signs[at] === STAR) at++;
  return at === signs.length;
}

class Node {
  /** Of the patterns that end here. */
  rule: ProtectionRule | null = null;
  readonly names = new Map<string, Node>();
  readonly wilds: { text: Wild; stripped: Wild; node: Node }[] = [];
  /** Behind `**`, which stands for any number of names. */
  any: Node | null = null;
  /** It is behind `**`: every name leads to it again. */
  readonly stays: boolean;

  constructor(stays = false) {
    this.stays = stays;
  }

  /** Returns the node that a further name of a pattern leads to; made when absent. */
  child(name: string): Node {
    if (name === STAR + STAR) return this.stays ? this : this.any ??= new Node(true);
    if (!isWild(name)) {
      const { stripped } = compared(name);
      const found = this.names.get(stripped) ?? new Node();
      this.names.set(stripped, found);
      return found;
    }
    // Wildcards that folding makes of other signs, of full width, stand for any one sign.
    const pieces = name.split(WILDCARD).map((piece, index) =>
      index % 2 === 1 ? piece : unescaped(foldedText(piece).replace(/[*?]/g, ONE))
    );
    const last = pieces.length - 1;
    const stripped = pieces.map((piece, index) => index === last ? piece.replace(/[. ]+$/, "") : piece);
    const node = new Node();
    this.wilds.push({ text: wildOf(pieces), stripped: wildOf(stripped), node });
    return node;
  }

  /** Calls `meet` with the places that a name leads to. Without `dots` a wildcard does not begin a hidden name. */
  step(name: ComparedName, { dots, meet }: { dots: boolean; meet(node: Node): void }): void {
    const isHidden = !dots && name.text.startsWith(".");
    if (this.stays && !isHidden) meet(this);
    const plain = this.names.get(name.stripped);
    if (plain !== undefined) meet(plain);
    for (const { text, stripped, node } of this.wilds) {
      if (isHidden && text.signs[0] !== ".") continue;
      if (matches(text, name.text) || matches(stripped, name.stripped)) meet(node);
    }
  }
}

/** Holds the patterns of one directory. */
export class Patterns {
  readonly #root = new Node();

  add(rule: ProtectionRule, { names, anywhere = false }: Pattern): void {
    let node = anywhere ? this.#root.child(STAR + STAR) : this.#root;
    for (const name of names) node = node.child(name);
    node.rule = stricter(node.rule, rule);
  }

  /** At the directory of the patterns. */
  get start(): Scope {
    return new Scope([this.#root]);
  }
}

/** The patterns of a directory as seen from a place at or below it. */
export class Scope {
  readonly #nodes: Node[] = [];
  /** The rule that covers the place itself; what covers a directory above it is not looked at again. */
  rule: ProtectionRule | null = null;

  constructor(nodes: readonly Node[]) {
    for (const node of nodes) this.#meet(node);
  }

  #meet(node: Node): void {
    if (this.#nodes.includes(node)) return;
    this.#nodes.push(node);
    this.rule = stricter(this.rule, node.rule);
    if (node.any !== null) this.#meet(node.any);
  }

  /** Whether a pattern may still cover something below the place. */
  get leadsOn(): boolean {
    return this.#nodes.some(({ names, wilds }) => names.size + wilds.length > 0);
  }

  /** One name further down. Linear in the patterns that have come so far. */
  below(name: string, { dots = true }: { dots?: boolean } = {}): Scope {
    const next = new Scope([]);
    const named = compared(name);
    for (const node of this.#nodes) node.step(named, { dots, meet: (found) => next.#meet(found) });
    return next;
  }
}

/** The rules of one directory. */
export interface Coverage {
  /** Covers the directory and everything below it. */
  covered: ProtectionRule | null;
  /** Of those that may cover something below it. */
  scopes: readonly Scope[];
}

/**
 * What programs put behind the name of a file that they leave beside it: backups, swap and undo files of editors, sides
 * of a merge, packed and numbered copies; some keep the extension last.
 */
const COMPANION_END = new RegExp(
  "(?:~|\\.~\\d+~|[.](?:bak|old|orig|rej|save|tmp|un~|sw[a-z]|kate-swp|dpkg-[a-z]+|rpm[a-z]+|gz|bz2|xz|zst|zip)\\d*" +
    "|[.]\\d+|[._](?:LOCAL|REMOTE|BASE|BACKUP)[._]\\d+|___jb_[a-z]+___| copy(?: \\d+)?| \\(\\d+\\)|#)([.][^.#]+)?$",
  "i",
);

/** The names that a name is covered as besides its own: of what is being written, the name that it shall get. */
function otherNamesOf(name: string): (string | undefined)[] {
  const shall = nameBehindTemporary(name);
  if (shall !== null) return [shall];
  const end = COMPANION_END.exec(name);
  if (end === null) return [];
  const kept = name.slice(0, end.index) + (end[1] ?? "");
  return [kept, /^[.#]/.test(kept) ? kept.slice(1) : undefined];
}

/**
 * The rule for a name in a directory. A file that is being written, or was when the program was killed, is covered as
 * under the name that it shall get, and what programs leave beside a file as that is.
 */
export function ruleBelow({ covered, scopes }: Coverage, name: string): ProtectionRule | null {
  if (covered?.tier === "list-only" || scopes.length === 0) return covered;
  const others = otherNamesOf(name);
  let found = covered;
  for (const scope of scopes) {
    found = stricter(found, scope.below(name).rule);
    for (const other of others) if (other !== undefined) found = stricter(found, scope.below(other).rule);
  }
  return found;
}
