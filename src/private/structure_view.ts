/**
 * The structure of a protected file in place of its values: names, order and the places of comments stay, and each
 * value is shown as its shape. Lines keep their numbers. What is not understood counts as a value: a file of keys and
 * values shows nothing but the names, any other text hides what looks like a key or a token.
 */
import { parseJson } from "../platform/record.ts";
import { utf8Text } from "../platform/text.ts";
import { basename } from "../platform/path.ts";
import type { FileBytes } from "../boundary/reader.ts";
import type { FileView } from "../boundary/workspace/disk.ts";
import type { Refusal, ResolvedPath } from "../boundary/workspace/workspace.ts";

/** Files of keys and values by their names. */
const STRUCTURED =
  /^\.env|\.(?:env|ini|cfg|conf|properties|toml|ya?ml|json[c5]?|tfvars|tfstate|netrc|pgpass|plist|xml)$|^(?:credentials|config|\.npmrc|\.netrc|\.pgpass|\.pypirc|\.htpasswd|secrets?)$/i;
/** Where brackets hold lists of values, and no names of sections. */
const LISTED = /\.(?:json[c5]?|ya?ml)$/i;
/** Share of nonempty lines in the form of keys and values that makes a file of another name such a file. */
const SHARE = 0.6;

const KEY_LINE = /^(\s*(?:-\s+)?(?:export\s+|set\s+)?)("[^"]*"|'[^']*'|[\w.$/@-]+)(\s*[=:](?!=)\s*)(.*)$/;
/** A name without a value; otherwise it may be base64 with such an end. */
const NAME = /^["']?(?:[A-Z0-9_.-]+|[a-z0-9_.-]+|[A-Za-z]+)["']?$/;
const ITEM_LINE = /^(\s*-\s+)(.*)$/;
const SECTION_LINE = /^\s*\[{1,2}[\w.\s"'-]+\]{1,2}\s*$/;
const COMMENT_LINE = /^(\s*(?:#|;|\/\/)+)(.*)$/;
/** Brackets of JSON, and the beginning and end of documents and block scalars. */
const BARE_LINE = /^[\s[\]{},]*$|^\s*(?:---|\.\.\.)\s*$/;
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?(?:-----END \1-----|$)/g;
/** Runs that are not words: base64, hex, long numbers; and the password of an address. */
const RUNS = /[A-Za-z0-9+/_-]{20,}={0,2}|\b[0-9a-fA-F]{16,}\b|\b\d{12,}\b/g;
const USERINFO = /(:\/\/[^\s:/@]*:)([^\s@]{1,256})(?=@)/g;

/** The view of protected files as their structure. */
export const structureView: FileView = {
  shown(read, path, range) {
    const text = textOf(read, path);
    if (typeof text !== "string") return text;
    const shown = new TextEncoder().encode(structureOf(path, text));
    const { offset = 0, limit = shown.length } = range;
    const bytes = shown.slice(offset, offset + limit);
    const status = { ...(read as FileBytes).status, size: shown.length };
    return { ...read as FileBytes, bytes, more: offset + bytes.length < shown.length, status };
  },
  restored(read, path, bytes) {
    const isNew = "refused" in read && read.refused === "absent";
    const text = isNew ? "" : textOf(read, path);
    if (typeof text !== "string") return text;
    // Lines are shown without their CR.
    const end = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
    const lines = restoredLines(new TextDecoder().decode(bytes).replaceAll("\r\n", "\n"), {
      source: spread(path, text).replaceAll("\r\n", "\n").split("\n"),
      shown: structureOf(path, text).split("\n"),
    });
    if (lines !== null) return new TextEncoder().encode(lines.join(end));
    const message =
      `${path.display} is protected, and the shapes in it stand for values: leave each line with a shape as ` +
      "it is and where it is, remove it, or give it a value of your own";
    return { refused: "protected", message };
  },
};

function textOf(read: FileBytes | Refusal, { display }: ResolvedPath): string | Refusal {
  if ("refused" in read) return read;
  const text = read.more ? null : utf8Text(read.bytes);
  if (text !== null && !text.includes("\0")) return text;
  const message = `${display} is protected, and its content is no text of which the structure can be shown`;
  return { refused: "protected", message: `${message}; go on without it` };
}

const SHAPE = /<(?:empty|\d+ characters?, [a-z ]+|\d+ lines of base64|base64)>/;

/** Returns the lines of a new text with the values back in their places; null where they cannot be matched. */
function restoredLines(
  text: string,
  { source, shown }: { source: readonly string[]; shown: readonly string[] },
): string[] | null {
  // A line is identified by its place.
  if (source.length !== shown.length) return null;
  const hidden = new Map<string, string[]>();
  for (const [at, line] of shown.entries()) {
    const value = source[at] ?? "";
    if (SHAPE.test(line)) hidden.set(line, [...hidden.get(line) ?? [], value]);
  }
  const lines = text.split("\n");
  const counts = Map.groupBy(lines, (line) => line);
  const restored: string[] = [];
  for (const line of lines) {
    const values = hidden.get(line);
    if (values === undefined && SHAPE.test(line)) return null;
    const isClear = values === undefined || new Set(values).size === 1 || counts.get(line)?.length === values.length;
    if (!isClear) return null;
    restored.push(values === undefined ? line : values.length > 1 ? values.shift() ?? line : values[0] ?? line);
  }
  return restored;
}

/** Returns the text with the shapes of its values in their places. */
export function structureOf(path: Pick<ResolvedPath, "path" | "real">, given: string): string {
  const blocks = spread(path, given).replace(PEM, (block, kind: string) => {
    const lines = block.split("\n");
    // In one line, as JSON writes it.
    if (lines.length === 1) return `-----BEGIN ${kind}-----<base64>-----END ${kind}-----`;
    const inner = `<${lines.length - 2} lines of base64>`;
    const hidden = lines.slice(2).map((_, at) => at === 0 ? inner : "<base64>");
    return [`-----BEGIN ${kind}-----`, ...hidden, `-----END ${kind}-----`].join("\n");
  });
  const lines = blocks.split("\n");
  const names = [path.path, path.real].map((name) => basename(name));
  // A lone CR ends lines of keys and values that nothing else sees as lines.
  const isStructured = names.some((name) => STRUCTURED.test(name)) || looksStructured(lines) ||
    /\r(?!\n|$)/.test(given);
  const hasSections = !names.some((name) => LISTED.test(name));
  return lines.map((line) => isStructured ? structuredLine(line, { hasSections }) : plainLine(line)).join("\n");
}

/** Splits JSON in one line into several, so that its names can be shown. */
function spread({ real }: Pick<ResolvedPath, "real">, text: string): string {
  if (!/\.json$/i.test(real) || text.trim().includes("\n")) return text;
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

function looksStructured(lines: readonly string[]): boolean {
  const full = lines.filter((line) => line.trim() !== "" && !COMMENT_LINE.test(line));
  const known = full.filter((line) => KEY_LINE.test(line) || SECTION_LINE.test(line));
  return full.length > 0 && known.length / full.length >= SHARE;
}

function structuredLine(line: string, { hasSections }: { hasSections: boolean }): string {
  const text = line.replace(/\r$/, "");
  if (BARE_LINE.test(text) || isPemLine(text)) return text;
  if (hasSections && SECTION_LINE.test(text)) return plainLine(text);
  const [, mark, words = ""] = COMMENT_LINE.exec(text) ?? [];
  if (mark !== undefined) return words.trim() === "" ? mark : `${mark} ${shape(words.trim())}`;
  const [, before = "", name = "", sign = "", value = ""] = KEY_LINE.exec(text) ?? [];
  if (name !== "" && (value !== "" || NAME.test(name))) {
    return `${before}${plainLine(name)}${sign}${valueOf(value, { name, sign: sign.trim() })}`;
  }
  const [, item, rest = ""] = ITEM_LINE.exec(text) ?? [];
  if (item !== undefined) return `${item}${valueOf(rest, { name: "", sign: "" })}`;
  return shape(text.trim());
}

function isPemLine(line: string): boolean {
  return /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/.test(line) || /^<(?:\d+ lines of )?base64>$/.test(line);
}

/** A value: opening brackets and harmless words as they are, everything else by its shape. */
function valueOf(value: string, { name, sign }: { name: string; sign: string }): string {
  const trimmed = value.trim();
  const comma = trimmed.endsWith(",") ? "," : "";
  const text = trimmed.slice(0, trimmed.length - comma.length).trimEnd();
  if (text === "" && sign === ":") return comma;
  if (/^[[{]\s*[\]}]?$/.test(text) || /^[|>][+-]?$/.test(text)) return `${text}${comma}`;
  const [, quote = "", plain = ""] = /^(["']?)(.*)\1$/.exec(text) ?? [];
  if (/^(?:true|false|yes|no|on|off|null|~)$/i.test(plain)) return `${text}${comma}`;
  if (/port["']?$/i.test(name) && /^\d{1,5}$/.test(plain)) return `${text}${comma}`;
  return `${quote}${shape(plain)}${quote}${comma}`;
}

/** Returns the length of a value and the kind of its characters. */
function shape(value: string): string {
  if (value === "") return "<empty>";
  const kinds = [
    /^\d+$/.test(value) ? "digits" : /^\p{L}+$/u.test(value) ? "letters" : null,
    /^[\p{L}\d]+$/u.test(value) ? "letters and digits" : null,
    /^\S+$/.test(value) ? "no spaces" : "words",
  ];
  const count = [...value].length;
  return `<${count} character${count === 1 ? "" : "s"}, ${kinds.find((kind) => kind !== null)}>`;
}

/** A line of another text: words stay. */
function plainLine(line: string): string {
  return line
    .replace(USERINFO, (_, before: string, password: string) => `${before}${shape(password)}`)
    .replace(RUNS, (run) => isWord(run) ? run : shape(run));
}

/** Whether a run is a name or a path as people write it: without digits, or in parts that have few. */
function isWord(run: string): boolean {
  return run.split(/[/_-]/).every((part) => /^[A-Za-z]*\d{0,3}$/.test(part)) && !/^[0-9a-f]{16,}$/i.test(run) &&
    !isMixed(run);
}

/** Whether the letter case changes more often than in the words of a name. */
function isMixed(run: string): boolean {
  const turns = run.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return turns > run.length / 3;
}
