/**
 * Changes to a YAML text that leave every byte they do not concern: comments, order, quoting, blank lines and spacing.
 * The change is made in the text; the result is parsed again and must mean exactly what was intended.
 */
import { AgentcliError } from "../errors.ts";
import { indentedPair, lineEnding, removeFrom, setIn } from "./yaml_splice.ts";
import { isScalar, type KeyPath, type ParsedYaml, parseYaml, plainValue } from "./yaml.ts";

/** One change. `set` with the length of a list as index appends; parents that are missing are made. */
export type YamlEdit =
  | { kind: "set"; path: KeyPath; value: unknown; order?: readonly string[] }
  | { kind: "remove"; path: KeyPath };

type Plain = Record<string | number, unknown>;

function child(value: unknown, key: string | number): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, key) ? (value as Plain)[key] : undefined;
}

/** Plain data with the change applied, for comparison; the argument is not changed. */
function applied(value: unknown, edit: YamlEdit, depth = 0): unknown {
  const key = edit.path[depth];
  if (key === undefined) return edit.kind === "set" ? edit.value : undefined;
  if (edit.kind === "remove" && child(value, key) === undefined) return value;
  const last = depth === edit.path.length - 1;
  if (Array.isArray(value)) {
    const items = [...value];
    if (edit.kind === "remove" && last) items.splice(Number(key), 1);
    else items[Number(key)] = applied(items[Number(key)], edit, depth + 1);
    return items;
  }
  if (typeof key === "number") return [applied(undefined, edit, depth + 1)];
  const entries = new Map(Object.entries(typeof value === "object" && value !== null ? value : {}));
  if (edit.kind === "remove" && last) entries.delete(key);
  else entries.set(key, applied(child(value, key), edit, depth + 1));
  return Object.fromEntries(entries);
}

/** A text that is the same for two values exactly when they are equal, whatever the order of their keys. */
function fingerprint(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1));
  });
}

/** Returns whether two values mean the same. */
export function isSameContent(one: unknown, other: unknown): boolean {
  return fingerprint(one) === fingerprint(other);
}

/** A file whose whole content is `null` or `~` means an empty one: the word makes room for the first key. */
function withoutNull(parsed: ParsedYaml): ParsedYaml {
  const { contents } = parsed.document;
  const [start, end] = isScalar(contents) && contents.value === null ? contents.range ?? [0, 0] : [0, 0];
  if (start === end) return parsed;
  return parseYaml(parsed.text.slice(0, start) + parsed.text.slice(end).replace(/^[ \t]*\r?\n/, ""));
}

/** Odd layouts (explicit keys, one-line lists of lists): the library writes the text anew, comments kept. */
function rewritten({ text }: ParsedYaml, edit: YamlEdit): string {
  const { document } = parseYaml(text);
  if (edit.kind === "set") document.setIn(edit.path, document.createNode(edit.value));
  else document.deleteIn(edit.path);
  return document.toString({ lineWidth: 0 });
}

export interface ReadText {
  parsed: ParsedYaml;
  /** Its content as plain data. */
  value: unknown;
}

/**
 * The text after the change, read; the same object when nothing changes. A place that cannot be changed without
 * changing something else (behind an alias) is `config_invalid`.
 */
export function editYaml(before: ReadText, edit: YamlEdit): ReadText {
  const wanted = fingerprint(applied(before.value, edit));
  if (wanted === fingerprint(before.value ?? {})) return before;
  const parsed = withoutNull(before.parsed);
  const inPlace = () => edit.kind === "set" ? setIn(parsed, edit.path, edit) : removeFrom(parsed, edit.path);
  for (const changed of [inPlace, () => rewritten(parsed, edit)]) {
    try {
      const text = changed();
      if (text === null) continue;
      const after = parseYaml(text);
      const value = plainValue(after);
      if (fingerprint(value ?? {}) === wanted) return { parsed: after, value };
    } catch {
      // A place that the library refuses, or not YAML: the other way, or the refusal below.
    }
  }
  throw new AgentcliError("config_invalid", `${edit.path.join(".")} cannot be changed without changing other parts`, {
    hint: "that part of providers.yaml uses anchors or an unusual layout: edit the file by hand",
  });
}

/** The lines of a commented entry; `note` stands behind its name. */
export function commentLines([name, value]: readonly [string, unknown], note: string): string[] {
  const [first = "", ...rest] = indentedPair([name, value], 0).trimEnd().split("\n");
  return [`# ${first} # ${note}`, ...rest.map((line) => `# ${line}`)];
}

/** Returns whether the text has an entry of that name as a comment, whoever wrote it. */
export function isCommented(text: string, name: string): boolean {
  return new RegExp(`^[ \\t]*#[# \\t]*${RegExp.escape(name)}:`, "m").test(text);
}

/** The text with the lines behind the entries of `providers:`, which is made where it is missing. */
export function withComment(text: string, lines: readonly string[]): string {
  const feed = lineEnding(text);
  const ended = text === "" || text.endsWith("\n") ? text : text + feed;
  const all = ended.split(/(?<=\n)/);
  const start = all.findIndex((line) => /^providers:[ \t]*(?:#.*)?$/.test(line.trimEnd()));
  const block = (indent: string) => lines.map((line) => indent + line + feed);
  if (start < 0) return [ended, `providers:${feed}`, ...block("  ")].join("");
  let [end, indent] = [start + 1, "  "];
  for (let at = start + 1; /^(?:[ #]|$)/.test(all[at]?.trimEnd() ?? "-"); at++) {
    const own = /^ +(?=\S)/.exec(all[at] ?? "")?.[0];
    if (own === undefined) continue;
    if (end === start + 1) indent = own;
    end = at + 1;
  }
  return [...all.slice(0, end), ...block(indent), ...all.slice(end)].join("");
}

/** The text without these lines, where they are unchanged, at any indentation. */
export function withoutComment(text: string, lines: readonly string[]): string {
  const pattern = lines.map((line) => `[ \\t]*${RegExp.escape(line)}\\r?\\n`).join("");
  return text.replace(new RegExp(`^${pattern}`, "m"), "");
}
