/** The text of a marker. Source: specification of the boundary, "The marker". */
import { parseLocalEndpoint } from "./locality.ts";
import { quietly } from "../../platform/real_path.ts";
import { readRegularFile } from "../reader.ts";

/** `no-cloud`: for local models alone. `list-only`: the name may be listed, the content is for no model. */
export type Tier = "no-cloud" | "list-only";

export interface MarkerEntry {
  tier: Tier;
  /** As written: a path or a glob, relative to the marker. */
  path: string;
  /** From 1. */
  line: number;
}

/** The content of a marker. With `damaged` nothing else may be relied on, and the whole project counts as protected. */
export interface Marker {
  entries: MarkerEntry[];
  /** Valid values of `local-endpoints:`, as written. */
  localEndpoints: string[];
  /** One sentence each, beginning with the line number. */
  warnings: string[];
  damaged?: string;
}

/** The text, or null for UTF-16, NUL bytes and invalid UTF-8: guessing there could unprotect a path. */
function decode(bytes: Uint8Array): string | null {
  // The decoder takes a UTF-8 byte order mark away.
  return bytes.includes(0) ? null : quietly(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

/**
 * What some editors show as the end of a line, or not at all: what follows would look like a line of its own. Spelled out,
 * since a class by property costs every start.
 */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/;
const QUOTES = "\"'`\u00ab\u00bb\u2018-\u201f\u2039\u203a";

const OUTER_QUOTES = new RegExp(`^[${QUOTES}]|[${QUOTES}]$`, "g");

/** Signs that mean something in the files of other tools and nothing in a marker. Taken as they are, they would protect nothing. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^[${QUOTES}].*[${QUOTES}]$`), "has quotation marks around its path; leave them out"],
  [/^!/, "begins with !, which takes nothing back here"],
  [/(?:^|\s)#/, "has a # in its path; a comment takes a line of its own"],
  [/,/, "has a comma in its path; write one path a line"],
  [/[[\]{}]/, "has brackets or braces in its path; only *, ** and ? are wildcards"],
  [/\t/, "has a tab in its path; write one path a line"],
];

/** A backslash takes the meaning of the sign after it away: any other one stands for both. */
function withoutEscapes(path: string): string {
  return path.replace(/\\[^]/g, "_");
}

/**
 * A path as a line holds it: a backslash before signs that mean something there, and a `?` for those that no line may
 * hold. Throws nothing; a name with a backslash is left as it is, which covers it as well.
 */
export function escapedPath(path: string): string {
  const plain = path.replace(/[\p{Cc}\u2028\u2029]/gu, "?");
  if (plain.includes("\\")) return plain.replace(/[,[\]{}#]|^[!\s]|\s$/gu, "?").replace(OUTER_QUOTES, "?");
  return plain.replace(/[,[\]{}#]|^[!\s]|\s$/gu, "\\$&").replace(OUTER_QUOTES, "\\$&");
}

function pathProblem(path: string): string | null {
  if (path === "") return "names no path";
  const foreign = FOREIGN.find(([sign]) => sign.test(withoutEscapes(path)));
  if (foreign !== undefined) return `${foreign[1]}; write \\ before a sign that belongs to a name, or ? for it`;
  // As a backslash may part names as well, it may lead out of the directory as well.
  const leaves = /^[A-Za-z]:/.test(path) || /^~(?:[/\\]|$)/.test(path) || climbsOut(path.split(/[/\\]/));
  return leaves ? "names a path outside of the directory of the marker" : null;
}

/** Without spaces around it, but for one at its end that a backslash keeps. */
function withoutSpaces(text: string): string {
  const value = text.trim();
  const kept = /(?:^|[^\\])(?:\\\\)*\\$/.test(value) ? text.trimStart().slice(value.length, value.length + 1) : "";
  return value + kept;
}

function climbsOut(parts: string[]): boolean {
  let depth = 0;
  for (const part of parts) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/**
 * Reads a marker. Tolerated: byte order mark, CRLF and CR, blank lines, `#` comment lines, tabs and spaces around the
 * colon, letter case of keys. An unknown key protects its path, with a warning. A line that was meant to protect and would
 * protect something else (quotes, comments at its end, lists, other wildcards, control characters) is `damaged`, as is what
 * cannot be read. Never throws.
 */
export function parseMarker(bytes: Uint8Array): Marker {
  const marker: Marker = { entries: [], localEndpoints: [], warnings: [] };
  const text = decode(bytes);
  if (text === null) return { ...marker, damaged: "it is not UTF-8 text" };
  for (const [index, content] of text.split(/\r\n|\n|\r/).entries()) {
    const line = index + 1;
    if (CONTROL.test(content)) return { ...marker, damaged: `line ${line} holds a control character` };
    const entry = content.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const colon = entry.indexOf(":");
    if (colon < 1) return { ...marker, damaged: `line ${line} is not "key: value"` };
    const key = entry.slice(0, colon).trim().toLowerCase();
    const value = withoutSpaces(content.slice(content.indexOf(":") + 1));
    if (key === "local-endpoints") {
      if (parseLocalEndpoint(value) !== null) marker.localEndpoints.push(value);
      else marker.warnings.push(`line ${line}: local-endpoints takes host, host:port or [v6]:port; it has no effect`);
      continue;
    }
    const problem = pathProblem(value);
    if (problem !== null) return { ...marker, damaged: `line ${line} ${problem}` };
    if (key !== "no-cloud" && key !== "list-only") {
      marker.warnings.push(`line ${line}: unknown key, its path is treated as no-cloud`);
    }
    marker.entries.push({ tier: key === "list-only" ? "list-only" : "no-cloud", path: value, line });
  }
  return marker;
}

export const MARKER_NAME = ".agentclisecret";

/** Largest marker in bytes; a longer one counts as damaged. */
const MARKER_LIMIT = 256 * 1024;

/** The marker at a path where something stands; one that cannot be used is `damaged`. */
export function readMarker(path: string): Marker {
  const read = readRegularFile(path, { display: path, limit: MARKER_LIMIT });
  if (!("refused" in read) && !read.more) return parseMarker(read.bytes);
  const damaged = "refused" in read ? "it cannot be read" : "it is larger than 256 KiB";
  return { entries: [], localEndpoints: [], warnings: [], damaged };
}
