/**
 * The structure of a protected file in place of its values: names, order and comments' places stay, and each value is shown
 * as its shape. Lines keep their numbers. What is not understood is a value: in a file of keys and values nothing but the
 * names is shown, in any other text what looks like a key or a token is not.
 */
import { basename } from "../../platform/path.ts";
import type { FileBytes } from "../reader.ts";
import type { ByteRange, Refusal, ResolvedPath } from "./workspace.ts";

/** Files of keys and values by their names. */
const STRUCTURED =
  /^\.env|\.(?:env|ini|cfg|conf|properties|toml|ya?ml|json[c5]?|tfvars|tfstate|netrc|pgpass|plist|xml)$|^(?:credentials|config|\.npmrc|\.netrc|\.pgpass|\.pypirc|\.htpasswd|secrets?)$/i;
/** Of the lines that are not empty, so many have the form of keys and values where a file of another name is one. */
const SHARE = 0.6;

const KEY_LINE = /^(\s*(?:-\s+)?(?:export\s+|set\s+)?)("[^"]*"|'[^']*'|[\w.$/@-]+)(\s*[=:](?!=)\s*)(.*)$/;
/** A name without a value: else it may be base64 that ends so. */
const NAME = /^["']?(?:[A-Z0-9_.-]+|[a-z0-9_.-]+|[A-Za-z]+)["']?$/;
const ITEM_LINE = /^(\s*-\s+)(.*)$/;
const SECTION_LINE = /^\s*\[{1,2}[\w.\s"'-]+\]{1,2}\s*$/;
const COMMENT_LINE = /^(\s*(?:#|;|\/\/)+)(.*)$/;
/** Brackets of JSON, and the beginning and end of documents and block scalars. */
const BARE_LINE = /^[\s[\]{},]*$|^\s*(?:---|\.\.\.)\s*$/;
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?(?:-----END \1-----|$)/g;
/** Runs that are no words of a text: base64, hex, long numbers; and the password of an address. */
const RUNS = /[A-Za-z0-9+/_-]{20,}={0,2}|\b[0-9a-fA-F]{16,}\b|\b\d{12,}\b/g;
const USERINFO = /(:\/\/[^\s:/@]*:)([^\s@]+)(?=@)/g;

/** Returns what is read of a protected file in its place; a refusal for what is no text. */
export function structureView(
  read: FileBytes | Refusal,
  { path, display }: ResolvedPath,
  range: ByteRange,
): FileBytes | Refusal {
  if ("refused" in read) return read;
  const text = read.more ? null : utf8(read.bytes);
  if (text === null) {
    const message = `${display} is protected, and its content is no text of which the structure can be shown`;
    return { refused: "protected", message: `${message}; go on without it` };
  }
  const shown = new TextEncoder().encode(structureOf(path, text));
  const { offset = 0, limit = shown.length } = range;
  const bytes = shown.slice(offset, offset + limit);
  return { ...read, bytes, more: offset + bytes.length < shown.length, status: { ...read.status, size: shown.length } };
}

function utf8(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** Returns the text with the shapes of its values in their places. */
export function structureOf(path: string, given: string): string {
  const text = /\.json$/i.test(path) && !given.trim().includes("\n") ? spread(given) : given;
  const blocks = text.replace(PEM, (block, kind: string) => {
    const lines = block.split("\n");
    const inner = `<${lines.length - 2} lines of base64>`;
    return [
      `-----BEGIN ${kind}-----`,
      ...lines.slice(2).map((_, at) => at === 0 ? inner : "<base64>"),
      `-----END ${kind}-----`,
    ]
      .join("\n");
  });
  const lines = blocks.split("\n");
  const isStructured = STRUCTURED.test(basename(path)) || looksStructured(lines);
  return lines.map((line) => isStructured ? structuredLine(line) : plainLine(line)).join("\n");
}

/** JSON in one line in several, so that its names can be shown. */
function spread(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function looksStructured(lines: readonly string[]): boolean {
  const full = lines.filter((line) => line.trim() !== "" && !COMMENT_LINE.test(line));
  const known = full.filter((line) => KEY_LINE.test(line) || SECTION_LINE.test(line));
  return full.length > 0 && known.length / full.length >= SHARE;
}

function structuredLine(line: string): string {
  const text = line.replace(/\r$/, "");
  if (BARE_LINE.test(text) || isPemLine(text)) return text;
  if (SECTION_LINE.test(text)) return plainLine(text);
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

/** A value: opening brackets and words that are no secret as they are, everything else by its shape. */
function valueOf(value: string, { name, sign }: { name: string; sign: string }): string {
  const [, inner = "", comma = ""] = /^(.*?)(,?)\s*$/.exec(value) ?? [];
  const text = inner.trim();
  if (text === "" && sign === ":") return comma;
  if (/^[[{]\s*[\]}]?$/.test(text) || /^[|>][+-]?$/.test(text)) return `${text}${comma}`;
  const plain = unquoted(text);
  if (/^(?:true|false|yes|no|on|off|null|~)$/i.test(plain)) return `${text}${comma}`;
  if (/port["']?$/i.test(name) && /^\d{1,5}$/.test(plain)) return `${text}${comma}`;
  return `${shape(plain)}${comma}`;
}

function unquoted(text: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(text);
  return quoted?.[2] ?? text;
}

/** Returns how long a value is and of what. */
function shape(value: string): string {
  if (value === "") return "<empty>";
  const kinds = [
    /^\d+$/.test(value) ? "digits" : /^\p{L}+$/u.test(value) ? "letters" : null,
    /^[\p{L}\d]+$/u.test(value) ? "letters and digits" : null,
    /^\S+$/.test(value) ? "no spaces" : "words",
  ];
  const count = [...value].length;
  return `<${count} ${count === 1 ? "character" : "characters"}, ${kinds.find((kind) => kind !== null)}>`;
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

/** Whether small and capital letters take turns more often than the words of a name do. */
function isMixed(run: string): boolean {
  const turns = run.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return turns > run.length / 3;
}
