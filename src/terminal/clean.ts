/**
 * Text from outside made safe to show: what would steer a terminal, or show one text and mean another, becomes visible
 * escapes. Rule: specification of the boundary, "Terminal".
 */

// C0 and DEL, C1 (among them the one-byte CSI and OSC), the signs that turn the direction of text, line separators,
// invisible spaces, and the tag characters that carry hidden text. ESC is in C0, so every sequence loses its start.
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
