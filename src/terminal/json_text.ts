/** JSON for programs that may still end up on a terminal. */

// What JSON itself leaves as it is: DEL and C1 (a one-byte CSI among them), and the signs that turn the direction of text.
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * `value` as one line of JSON with a line feed. Control characters and direction signs from outside appear as `\u….`
 * escapes only, so that showing the line steers no terminal; any JSON reader gives back the same value.
 */
export function jsonText(value: unknown): string {
  return escapedJson(JSON.stringify(value)) + "\n";
}

/** JSON that is text already, one value or one a line, under the same rule. */
export function escapedJson(json: string): string {
  return json.replace(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
