/** Text from anywhere, made safe to show on a terminal or in a line of JSON. */

// C0 and DEL, C1 (among them the one-byte CSI and OSC), the characters that change the direction of text, line
// separators, invisible spaces, and the tag characters that carry hidden text. ESC is in C0, so every sequence loses
// its start.
const UNSAFE =
  // deno-lint-ignore no-control-regex -- finding control characters is the purpose
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/**
 * `text` with everything that a terminal would act on shown as an escape (`\x1b`, `\u{202e}`). `multiline` keeps line
 * feeds and tabs, and takes CR LF as a line feed; without it they are escaped too, so that the result is one line.
 * Linear in the length; text with nothing to do is returned as it is.
 */
export function clean(text: string, options: { multiline?: boolean } = {}): string {
  if (text.search(UNSAFE) < 0) return text;
  if (!options.multiline) return text.replace(UNSAFE, escaped);
  return text.replaceAll("\r\n", "\n").replace(
    UNSAFE,
    (character) => character === "\n" || character === "\t" ? character : escaped(character),
  );
}

/** `text` as one line, white space as one space each, and clean. */
export function cleanLine(text: string): string {
  return clean(text.replace(/\s+/g, " ").trim());
}

// What JSON itself leaves as it is: DEL and C1 (a one-byte CSI among them), and the characters that change the
// direction of text.
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * `value` as one line of JSON with a line feed. Control characters and direction signs from outside appear as `\u….`
 * escapes only, so that showing the line steers no terminal; any JSON reader gives back the same value.
 */
export function jsonText(value: unknown): string {
  return escapedJson(JSON.stringify(value)) + "\n";
}

/** Does the same for JSON text, one value or one per line. */
export function escapedJson(json: string): string {
  return json.replace(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
