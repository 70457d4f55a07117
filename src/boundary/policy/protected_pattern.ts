/**
 * The patterns of a marker, as in `.gitignore`: matched name by name from the marker's directory downward; one without a
 * slash means a name at every depth. What matches covers everything below it. Names are compared as the most lenient file
 * system would.
 */
import { foldedText, strippedName } from "../case_folded.ts";

/** One part of a pattern: any number of names, one certain name (folded), or a name with wildcards. */
type Part = { kind: "any" } | { kind: "name"; name: string } | { kind: "wild"; text: Wild; stripped: Wild };

/** A name with wildcards, sign by sign. */
interface Wild {
  signs: readonly string[];
  /** What it ends with; most names are told by that. */
  end: string;
}

/** Names in order; without parts the directory that it starts from itself. */
export interface PathGlob {
  parts: readonly Part[];
}

/** What a line of a marker means, or one of the things that it may mean. */
export interface Pattern extends PathGlob {
  /** The names as they are written, each with its wildcards as {@link STAR} and {@link ONE}. */
  names: readonly string[];
  /** It holds a slash: it starts from the marker's directory. Else it is one name, at every depth. */
  anchored: boolean;
}

/** How far a pattern has come: places in its parts, in order, each once. A place at the end means: covered. */
export type Progress = readonly number[];

/** Wildcards; no text of a marker holds these signs, and for a name that does they stand like for any other. */
const STAR = "\x01";
const ONE = "\x02";
const WILDCARD = new RegExp(`([${STAR}${ONE}])`);
/** Signs of a name that are no wildcards. */
const LITERAL: Readonly<Record<string, string>> = { "*": "\x03", "?": "\x04" };

/** A name as it is compared. */
export interface ComparableName {
  /** Folded alone. */
  text: string;
  /** Without what Windows drops at its end; never empty, unless the name is. */
  stripped: string;
}

/** A name as names are compared. */
export function comparable(name: string): ComparableName {
  const text = foldedText(name);
  return { text, stripped: strippedName(text) || text };
}

/** Whether a name of {@link Pattern.names} holds a wildcard. */
export function isWild(name: string): boolean {
  return name.includes(STAR) || name.includes(ONE);
}

/**
 * What the text of a marker's line means: as `.gitignore` reads it, where a backslash takes the meaning of the next sign
 * away, and, where it holds one, also as a path with names that hold backslashes, and as Windows parts names.
 */
export function compilePatterns(text: string): Pattern[] {
  const escaped = text.replace(
    /\\?[^]/gu,
    (sign) => sign.length > 1 && sign[0] === "\\" ? LITERAL[sign.slice(1)] ?? sign.slice(1) : wildcard(sign),
  );
  if (!text.includes("\\")) return [patternOf(escaped, "/")];
  const plain = text.replace(/[*?]/g, wildcard);
  return [patternOf(escaped, "/"), patternOf(plain, "/"), patternOf(plain, /[/\\]/)];
}

function wildcard(sign: string): string {
  return sign === "*" ? STAR : sign === "?" ? ONE : sign;
}

function patternOf(text: string, separator: string | RegExp): Pattern {
  const names: string[] = [];
  const written = text.split(separator);
  for (const name of written) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  // A slash at the end says that it is a directory; that is not asked for here.
  const anchored = written.length > (written.at(-1) === "" ? 2 : 1) || names.length !== 1;
  return { ...globOfNames(names), names: names.map((name) => isWild(name) ? name : unescaped(name)), anchored };
}

/** The pattern of names in which `*` and `?` are wildcards. */
export function globOf(names: readonly string[]): PathGlob {
  return globOfNames(names.map((name) => name.replace(/[*?]/g, wildcard)));
}

/** The pattern of {@link Pattern.names}. */
export function globOfNames(names: readonly string[]): PathGlob {
  const parts = names.map(partOf);
  return { parts: parts.filter((part, index) => part.kind !== "any" || parts[index - 1]?.kind !== "any") };
}

/** The pattern of one name, whatever signs it holds. */
export function globOfName(name: string): PathGlob {
  return { parts: [{ kind: "name", name: comparable(name).stripped }] };
}

function partOf(name: string): Part {
  if (name === STAR + STAR) return { kind: "any" };
  if (!isWild(name)) return { kind: "name", name: comparable(unescaped(name)).stripped };
  // Wildcards that folding makes of other signs, of full width, stand for any one sign.
  const pieces = name.split(WILDCARD).map((piece, index) =>
    index % 2 === 1 ? piece : unescaped(foldedText(piece).replace(/[*?]/g, ONE))
  );
  const last = pieces.length - 1;
  const stripped = pieces.map((piece, index) => index === last ? piece.replace(/[. ]+$/, "") : piece);
  return { kind: "wild", text: wildOf(pieces), stripped: wildOf(stripped) };
}

function wildOf(pieces: readonly string[]): Wild {
  const text = pieces.join("");
  return { signs: [...text], end: text.slice(Math.max(text.lastIndexOf(STAR), text.lastIndexOf(ONE)) + 1) };
}

function unescaped(text: string): string {
  return text.replaceAll("\x03", "*").replaceAll("\x04", "?");
}

/** The folded path of a pattern without wildcards; null for one that has some. */
export function plainPath({ parts }: PathGlob): string | null {
  const names = parts.map((part) => part.kind === "name" ? part.name : null);
  return names.includes(null) ? null : names.join("/");
}

function closure(glob: PathGlob, places: Iterable<number>): Progress {
  const found = new Set<number>();
  for (let place of places) {
    found.add(place);
    while (glob.parts[place]?.kind === "any") found.add(++place);
  }
  return [...found];
}

/** At the directory that the pattern starts from. */
export function begin(glob: PathGlob): Progress {
  return closure(glob, [0]);
}

/** One name further down. Linear in the pattern, whatever it holds. */
export function step(glob: PathGlob, { progress, name }: { progress: Progress; name: ComparableName }): Progress {
  const next: number[] = [];
  for (const place of progress) {
    const part = glob.parts[place];
    if (part === undefined) continue;
    if (part.kind === "any") next.push(place);
    else if (matchesPart(part, name)) next.push(place + 1);
  }
  return next.length === 0 ? next : closure(glob, next);
}

/** Whether the pattern covers the place it has come to. */
export function covers(glob: PathGlob, progress: Progress): boolean {
  return progress.includes(glob.parts.length);
}

/** Whether one part of a pattern means a name. */
export function matchesPart(part: Part, { text, stripped }: ComparableName): boolean {
  if (part.kind === "any") return true;
  if (part.kind === "name") return part.name === stripped;
  return matchesWild(part.text, text) || matchesWild(part.stripped, stripped);
}

/** `*` and `?` in one name: goes back to the last star alone, so at most length times length steps. */
function matchesWild({ signs, end }: Wild, name: string): boolean {
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
