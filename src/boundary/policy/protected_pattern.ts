/**
 * The paths and globs of a marker, matched name by name from the marker's directory downward. Source: specification of
 * the boundary, "The marker". What matches covers everything below it.
 */
import { foldedName, foldedText } from "../case_folded.ts";

/** One part of a pattern: any number of names, one certain name (folded), or a name with wildcards. */
type Part = { kind: "any" } | { kind: "name"; name: string } | { kind: "wild"; text: string; stripped: string };

/** A pattern ready to match; without parts it means the directory of the marker itself. */
export interface PathGlob {
  parts: readonly Part[];
}

/** How far a pattern has come: places in its parts, in order, each once. A place at the end means: covered. */
export type Progress = readonly number[];

/** A name as names are compared; never empty, unless the name is. */
export function comparable(name: string): string {
  return foldedName(name) || foldedText(name);
}

function partOf(text: string): Part {
  if (text === "**") return { kind: "any" };
  if (!/[*?]/.test(text)) return { kind: "name", name: comparable(text) };
  // Folded between the wildcards: a full-width asterisk in a name is none.
  const pieces = text.split(/([*?])/).map((piece, index) => index % 2 === 1 ? piece : literal(foldedText(piece)));
  const last = pieces.length - 1;
  const stripped = pieces.map((piece, index) => index === last ? piece.replace(/[. ]+$/, "") : piece);
  return { kind: "wild", text: pieces.join(""), stripped: stripped.join("") };
}

/** Wildcards that folding made of other characters stand for any one character. */
function literal(folded: string): string {
  return folded.replace(/[*]/g, "?");
}

/** The names of a pattern's text, without `.` and with `..` carried out. */
export function patternNames(text: string, separator: RegExp): string[] {
  const names: string[] = [];
  for (const name of text.split(separator)) {
    if (name === "" || name === ".") continue;
    if (name === "..") names.pop();
    else names.push(name);
  }
  return names;
}

/**
 * The patterns that a path of a marker means: one, or two where it holds a backslash, which separates names on one system
 * and belongs to them on the others.
 */
export function compilePathGlob(text: string): PathGlob[] {
  const separators = text.includes("\\") ? [/\//, /[/\\]/] : [/\//];
  return separators.map((separator) => globOf(patternNames(text, separator)));
}

/** The pattern of these names. */
export function globOf(names: readonly string[]): PathGlob {
  const parts = names.map(partOf);
  return { parts: parts.filter((part, index) => part.kind !== "any" || parts[index - 1]?.kind !== "any") };
}

/** The pattern of one name, whatever signs it holds. */
export function globOfName(name: string): PathGlob {
  return { parts: [{ kind: "name", name: comparable(name) }] };
}

/** The folded path of a pattern without wildcards; null for one that has some. */
export function plainPath(glob: PathGlob): string | null {
  const names: string[] = [];
  for (const part of glob.parts) {
    if (part.kind !== "name") return null;
    names.push(part.name);
  }
  return names.join("/");
}

function closure(glob: PathGlob, places: Iterable<number>): Progress {
  const found = new Set<number>();
  for (let place of places) {
    found.add(place);
    while (glob.parts[place]?.kind === "any") found.add(++place);
  }
  return [...found];
}

/** At the directory of the marker. */
export function begin(glob: PathGlob): Progress {
  return closure(glob, [0]);
}

/** One name further down. Linear in the pattern, whatever it holds. */
export function step(glob: PathGlob, { progress, name }: { progress: Progress; name: string }): Progress {
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

function matchesPart(part: Exclude<Part, { kind: "any" }>, name: string): boolean {
  if (part.kind === "name") return part.name === comparable(name);
  return matchesWild(part.text, foldedText(name)) || matchesWild(part.stripped, comparable(name));
}

/** `*` and `?` in one name: goes back to the last star alone, so at most length times length steps. */
function matchesWild(pattern: string, name: string): boolean {
  const signs = [...pattern];
  const letters = [...name];
  let [at, star, retry] = [0, -1, 0];
  for (let letter = 0; letter < letters.length;) {
    const sign = signs[at];
    if (sign === "*") {
      star = at++;
      retry = letter;
    } else if (sign !== undefined && (sign === "?" || sign === letters[letter])) {
      at++;
      letter++;
    } else if (star >= 0) {
      at = star + 1;
      letter = ++retry;
    } else return false;
  }
  while (signs[at] === "*") at++;
  return at === signs.length;
}
