/**
 * Path patterns: `*`, `?`, `[a-z]`, `{a,b}` within a name and `**` over directories. Matching takes time proportional
 * to pattern times path, whatever the pattern: nothing here backtracks further than the last star (threat 126).
 */

export interface PathPattern {
  matches(names: readonly string[]): boolean;
  /** Names that every match starts with: other directories need not be read. */
  readonly prefix: readonly string[];
}

interface PatternOptions {
  ignoreCase?: boolean;
  /** Braces are plain characters, as in `.gitignore`. */
  noBraces?: boolean;
}

/** Most alternatives that braces may expand to. */
const BRACE_LIMIT = 200;
/** Longest pattern, in characters. */
const LENGTH_LIMIT = 2_000;
export const LIMITS_EXCEEDED =
  "The glob is longer than 2,000 characters, or its braces make more than 200 alternatives. " +
  "Use a shorter one, such as **/*.ts.";

type Piece = { kind: "character"; value: string } | { kind: "one" } | { kind: "many" } | CharacterClass;
interface CharacterClass {
  kind: "class";
  negated: boolean;
  ranges: readonly [string, string][];
}
type Name = { kind: "deep" } | { kind: "exact"; text: string } | { kind: "pieces"; matches(name: string): boolean };

/** Compiles `pattern`, names separated by `/`; null when it is too long or its braces expand to too much. */
export function compilePattern(pattern: string, options: PatternOptions = {}): PathPattern | null {
  if (pattern.length > LENGTH_LIMIT) return null;
  const texts = options.noBraces ? [pattern] : expandBraces(pattern);
  if (texts === null) return null;
  const caseFolded = (text: string) => options.ignoreCase ? text.toLowerCase() : text;
  const alternatives = texts.map((text) =>
    caseFolded(text).split("/").filter((name) => name !== "" && name !== ".").map(compileName)
  );
  const [only] = alternatives;
  return {
    prefix: alternatives.length === 1 && only !== undefined && !options.ignoreCase ? exactPrefix(only) : [],
    matches(names) {
      const compared = options.ignoreCase ? names.map(caseFolded) : names;
      return alternatives.some((alternative) => matchNames(alternative, compared));
    },
  };
}

/** `{a,b}` expanded, nested ones too; an open brace stays as it is. Null when there are too many. */
function expandBraces(pattern: string): string[] | null {
  const waiting = [pattern];
  const done: string[] = [];
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
    const group = firstGroup(text);
    if (group === null) done.push(text);
    else for (const choice of group.choices) waiting.push(group.before + choice + group.after);
    if (done.length + waiting.length > BRACE_LIMIT) return null;
  }
  return done;
}

function firstGroup(text: string): { before: string; choices: string[]; after: string } | null {
  for (let start = text.indexOf("{"); start >= 0; start = text.indexOf("{", start + 1)) {
    const cuts = [start];
    let depth = 0;
    for (let at = start; at < text.length; at++) {
      const character = text[at];
      if (character === "\\") at++;
      else if (character === "{") depth++;
      else if (character === "," && depth === 1) cuts.push(at);
      else if (character === "}" && --depth === 0) {
        if (cuts.length === 1) break;
        const ends = [...cuts.slice(1), at];
        const choices = cuts.map((cut, index) => text.slice(cut + 1, ends[index]));
        return { before: text.slice(0, start), choices, after: text.slice(at + 1) };
      }
    }
  }
  return null;
}

function compileName(text: string): Name {
  if (text === "**") return { kind: "deep" };
  const pieces = piecesOf(text);
  if (pieces.every((piece) => piece.kind === "character")) {
    return { kind: "exact", text: pieces.map((piece) => piece.value).join("") };
  }
  // `*.ts` is the most common pattern, matched with every file.
  const [first, ...others] = pieces;
  if (first?.kind === "many" && others.every((piece) => piece.kind === "character")) {
    const end = others.map((piece) => piece.value).join("");
    return { kind: "pieces", matches: (name) => name.endsWith(end) };
  }
  return { kind: "pieces", matches: (name) => matchPieces(pieces, name) };
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const found = character === "[" ? readClass(text, at) : null;
    if (found !== null) {
      pieces.push(found.piece);
      at = found.end;
    } else if (character === "*") {
      if (pieces.at(-1)?.kind !== "many") pieces.push({ kind: "many" });
    } else if (character === "?") {
      pieces.push({ kind: "one" });
    } else {
      const escaped = character === "\\" && at + 1 < text.length;
      pieces.push({ kind: "character", value: escaped ? text.charAt(++at) : character });
    }
  }
  return pieces;
}

function readClass(text: string, start: number): { piece: CharacterClass; end: number } | null {
  const negated = text[start + 1] === "!" || text[start + 1] === "^";
  const from = start + (negated ? 2 : 1);
  // The first character is never the end: `[]]` holds a bracket.
  const end = text.indexOf("]", from + 1);
  if (end < 0) return null;
  const ranges: [string, string][] = [];
  for (let at = from; at < end; at++) {
    const low = text.charAt(at);
    const high = text[at + 1] === "-" && at + 2 < end ? text.charAt(at + 2) : low;
    if (high !== low) at += 2;
    ranges.push([low, high]);
  }
  return { piece: { kind: "class", negated, ranges }, end };
}

function matchesOne(piece: Piece, character: string): boolean {
  switch (piece.kind) {
    case "character":
      return piece.value === character;
    case "class":
      return piece.ranges.some(([low, high]) => low <= character && character <= high) !== piece.negated;
    default:
      return piece.kind === "one";
  }
}

/** Matches greedily with one way back, to the last star: once reached, an earlier one never needs to take more. */
function matchPieces(pieces: readonly Piece[], name: string): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let retry = 0;
  while (at < name.length) {
    const piece = pieces[index];
    if (piece?.kind === "many") {
      star = index++;
      retry = at;
    } else if (piece !== undefined && matchesOne(piece, name.charAt(at))) {
      index++;
      at++;
    } else if (star >= 0) {
      index = star + 1;
      at = ++retry;
    } else return false;
  }
  while (pieces[index]?.kind === "many") index++;
  return index === pieces.length;
}

/** The same over names: `**` takes any number of them, and at the end at least one. */
function matchNames(pattern: readonly Name[], names: readonly string[]): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let retry = 0;
  while (at < names.length) {
    const wanted = pattern[index];
    const name = names[at] ?? "";
    if (wanted?.kind === "deep") {
      if (index === pattern.length - 1) return true;
      star = index++;
      retry = at;
    } else if (wanted?.kind === "exact" ? wanted.text === name : wanted?.matches(name) === true) {
      index++;
      at++;
    } else if (star >= 0) {
      index = star + 1;
      at = ++retry;
    } else return false;
  }
  return index === pattern.length;
}

function exactPrefix(names: readonly Name[]): string[] {
  const prefix: string[] = [];
  for (const name of names) {
    if (name.kind !== "exact") break;
    prefix.push(name.text);
  }
  return prefix;
}
