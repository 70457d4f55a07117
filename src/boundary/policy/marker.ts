/** Parses markers. Source: specification of the boundary, "The marker". */
import { utf8Text } from "../../platform/text.ts";
import { parseLocalEndpoint } from "./locality.ts";
import type { ProtectionRule } from "./protection_rule.ts";
import { readRegularFile } from "../reader.ts";

/** `no-cloud`: only local models may read the content. `list-only`: no model may, but it may list the name. */
export type Tier = "no-cloud" | "list-only";

/** A line of a marker: a rule that does not name its marker yet. */
export type MarkerEntry = Omit<ProtectionRule, "marker">;

/** A parsed marker. If `damaged` is set, ignore the other fields: the whole project counts as protected. */
interface Marker {
  entries: MarkerEntry[];
  /** The valid values of `local-endpoints:`, as written. */
  localEndpoints: string[];
  /** One sentence each, starting with the line number. */
  warnings: string[];
  damaged?: string;
}

/**
 * Characters that some editors show as a line break or hide, so that the text after them looks like its own line.
 * Spelled out because `\p{…}` slows down every start.
 */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/;
const QUOTES = "\"'`\u00ab\u00bb\u2018-\u201f\u2039\u203a";

const OUTER_QUOTES = new RegExp(`^[${QUOTES}]|[${QUOTES}]$`, "g");

/** Syntax of other tools' files that a marker does not have. Read literally, such a line would protect nothing. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^[${QUOTES}].*[${QUOTES}]$`), "has quotation marks around its path; leave them out"],
  [/^!/, "begins with !, which takes nothing back here"],
  [/(?:^|\s)#/, "has a # in its path; a comment takes a line of its own"],
  [/,/, "has a comma in its path; write one path a line"],
  [/[[\]{}]/, "has brackets or braces in its path; only *, ** and ? are wildcards"],
  [/\t/, "has a tab in its path; write one path a line"],
];

/** Returns a path for a marker line: special characters are escaped, forbidden ones become `?`. Never throws. */
export function escapedPath(path: string): string {
  const plain = path.replace(/[\p{Cc}\u2028\u2029]/gu, "?");
  return plain.replace(/[\\,[\]{}#]|^[!\s]|\s$/gu, "\\$&").replace(OUTER_QUOTES, "\\$&");
}

function pathProblem(path: string): string | null {
  if (path === "") return "names no path";
  if (path.length > 4096) return "is longer than a path can be";
  // An escaped character has no special meaning.
  const plain = path.replace(/\\[^]/g, "_");
  const foreign = FOREIGN.find(([sign]) => sign.test(plain));
  if (foreign !== undefined) return `${foreign[1]}; write \\ before a sign that belongs to a name, or ? for it`;
  // On Windows a backslash separates names.
  const leaves = /^[A-Za-z]:|^~(?:[/\\]|$)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(path);
  return leaves ? "holds .., ~ or a drive; name a path below the directory of the marker" : null;
}

/** Trims spaces, but keeps one escaped by a backslash at the end. */
function withoutSpaces(text: string): string {
  const value = text.trim();
  const kept = /(?:^|[^\\])(?:\\\\)*\\$/.test(value) ? text.trimStart().slice(value.length, value.length + 1) : "";
  return value + kept;
}

/**
 * Parses a marker. Accepts a byte order mark, CRLF and CR, blank lines, `#` comment lines, tabs and spaces around the
 * colon, and keys in any letter case. An unknown key protects its path, with a warning. A line that would protect
 * something other than its author meant (quotes, trailing comments, lists, other wildcards, control characters) makes
 * the marker `damaged`, as does text that cannot be decoded. Never throws.
 */
export function parseMarker(bytes: Uint8Array): Marker {
  const marker: Marker = { entries: [], localEndpoints: [], warnings: [] };
  // A wrong guess about the encoding could unprotect a path.
  const text = bytes.includes(0) ? null : utf8Text(bytes);
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
    marker.entries.push({ tier: key === "list-only" ? "list-only" : "no-cloud", pattern: value, line });
  }
  return marker;
}

export const MARKER_NAME = ".agentclisecret";

/** Size limit of a marker in bytes; a larger one counts as damaged. Every name is matched against each wildcard. */
const MARKER_LIMIT = 64 * 1024;

/** Reads the marker at an existing path. One that cannot be read is `damaged`. */
export function readMarker(path: string): Marker {
  const read = readRegularFile(path, { display: path, limit: MARKER_LIMIT });
  if (!("refused" in read) && !read.more) return parseMarker(read.bytes);
  const damaged = "refused" in read ? "it cannot be read" : "it is larger than 64 KiB";
  return { entries: [], localEndpoints: [], warnings: [], damaged };
}
