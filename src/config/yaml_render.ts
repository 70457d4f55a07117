/** New pieces of YAML text, in the style of the place they go to. */
import { blockText } from "./yaml.ts";

function indented(text: string, indent: number): string {
  const space = " ".repeat(indent);
  return text.replace(/^(?=[^\n])/gm, space);
}

/** `key: value` in block style, every line indented, ending with a line feed. */
export function indentedPair(entry: readonly [key: string, value: unknown], indent: number): string {
  return indented(blockText(Object.fromEntries([entry])), indent);
}

/** `- value` in block style, every line indented, ending with a line feed. */
export function indentedItem(value: unknown, indent: number): string {
  return indented(blockText([value]), indent);
}

// Words that need no quotes inside brackets and are no number, truth value or nothing in any version of YAML.
const PLAIN = /^(?!(?:true|false|yes|no|on|off|y|n|null|nan|inf)$)[A-Za-z_][A-Za-z0-9_.\/-]*$/i;

function flowScalar(value: unknown, quoted: boolean): string {
  if (typeof value === "string" && !quoted && PLAIN.test(value)) return value;
  return JSON.stringify(value) ?? "null";
}

/** `value` on one line, with brackets: `{ id: x, alias: [a, b] }`; with every text quoted it is JSON. */
export function flowText(value: unknown, style: { quoted: boolean }): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, style)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) =>
      `${flowScalar(key, style.quoted)}: ${flowText(inner, style)}`
    );
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return flowScalar(value, style.quoted);
}

/** A scalar, or a list of them, on one line, quoted as what it replaces was quoted. */
export function inlineText(value: unknown, quoting: string | null): string {
  if (typeof value === "string") {
    if (quoting === "QUOTE_DOUBLE" || /[\n\r]/.test(value)) return JSON.stringify(value);
    if (quoting === "QUOTE_SINGLE") return `'${value.replaceAll("'", "''")}'`;
  }
  if (typeof value === "object") return flowText(value, { quoted: false });
  return blockText(value).trimEnd();
}
