/**
 * Frontmatter as the editors read it: leniently. Their own examples (globs that start with a star) are no valid YAML, so nothing here
 * asks for more than one key a line; flow lists, block lists and one level of indented keys are understood too.
 */

/** A value: text, a list of texts, or a map of texts. */
export type FieldValue = string | string[] | Record<string, string>;

/** A markdown file in its two parts. */
export interface Frontmatter {
  /** Null: the file has none. */
  fields: Map<string, FieldValue> | null;
  body: string;
  /** Keys that stand there twice. */
  repeated: string[];
}

function unquoted(text: string): string {
  const value = text.trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value);
  if (quoted !== null) return (quoted[1] ?? "").replace(/\\(["\\])/g, "$1");
  return /^'((?:[^']|'')*)'$/.exec(value)?.[1]?.replaceAll("''", "'") ?? value;
}

function valueOf(text: string): FieldValue {
  const list = /^\[(.*)\]$/.exec(text.trim())?.[1];
  return list === undefined ? unquoted(text) : list.split(",").map(unquoted).filter((item) => item !== "");
}

/** Reads the frontmatter of a markdown text; a byte order mark and either line end are fine. */
export function readFrontmatter(text: string): Frontmatter {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const end = lines[0]?.trimEnd() === "---" ? lines.findIndex((line, at) => at > 0 && line.trimEnd() === "---") : -1;
  if (end < 0) return { fields: null, body: lines.join("\n"), repeated: [] };
  const fields = new Map<string, FieldValue>();
  const repeated: string[] = [];
  let key = "";
  for (const line of lines.slice(1, end)) {
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1];
    const nested = /^\s+([\w.-]+):\s*(.*)$/.exec(line);
    const top = /^([\w.-]+):(?:\s+(.*))?$/.exec(line);
    const now = fields.get(key);
    if (item !== undefined && key !== "") fields.set(key, [...(Array.isArray(now) ? now : []), unquoted(item)]);
    else if (nested !== null && key !== "" && (now === "" || (typeof now === "object" && !Array.isArray(now)))) {
      fields.set(key, { ...(typeof now === "object" ? now : {}), [nested[1] ?? ""]: unquoted(nested[2] ?? "") });
    } else if (top !== null) {
      key = top[1] ?? "";
      if (fields.has(key)) repeated.push(key);
      fields.set(key, valueOf(top[2] ?? ""));
    } else if (/^\s+\S/.test(line) && typeof now === "string") {
      // A folded text goes on; the sign that said so is no part of it.
      fields.set(key, `${now.replace(/^[>|][-+]?$/, "")} ${line.trim()}`.trim());
    }
  }
  return { fields, body: lines.slice(end + 1).join("\n"), repeated };
}

/** A field as one text; a list is joined by commas, as the editors join globs. */
export function fieldText({ fields }: Frontmatter, key: string): string | null {
  const value = fields?.get(key);
  return typeof value === "string" ? value : Array.isArray(value) ? value.join(",") : null;
}

/** Frontmatter with these fields, one line each, unquoted; empty ones are left out. Line ends of values become spaces. */
export function writeFrontmatter(fields: Readonly<Record<string, string | undefined>>, body: string): string {
  const lines = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [`${key}: ${value.replace(/\s*[\r\n]+\s*/g, " ").trim()}`]
  );
  return `---\n${lines.join("\n")}\n---\n\n${body.replace(/^\s*\n/, "").trimEnd()}\n`;
}
