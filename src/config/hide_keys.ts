/** providers.yaml as it may be shown: without keys, also where they stand under a mistyped name. */

/** A name that says "key", its colon, and the value up to the end of the line or of the entry. */
const KEY_LINE =
  /(["']?[\w.-]{0,40}(?:key|token|secret|passw|authori[sz]ation|cookie|credential)[\w.-]{0,40}["']?\s*:[ \t]*)("[^"\n]*"?|'[^'\n]*'?|[^\s,}#][^,}\n]*)/gi;
/** Values in place of a key that are not keys. */
const NO_KEY = /^["']?(?:local|none|keyring|file|\$\w+|\$\{\w+\}|null|~)["']?\s*$/;
const BLOCK =
  /^["']?[\w.-]{0,40}(?:key|token|secret|passw|authori[sz]ation|cookie|credential)[\w.-]{0,40}["']?\s*:\s*[|>][-+\d]*\s*$/i;

const HIDDEN = "(hidden)";

/** `text` with `(hidden)` for the values of keys, of anything named like a key, and of passwords in addresses. */
export function hideKeys(text: string): string {
  let blockIndent = -1;
  return text.split("\n").map((line) => {
    const indent = line.length - line.trimStart().length;
    if (blockIndent >= 0 && (line.trim() === "" || indent > blockIndent)) return line.slice(0, indent) + HIDDEN;
    blockIndent = BLOCK.test(line.trim()) ? indent : -1;
    if (blockIndent >= 0) return line;
    return line
      .replace(KEY_LINE, (whole, name: string, value: string) => NO_KEY.test(value) ? whole : name + HIDDEN)
      .replace(/(:\/\/)[^/\s"'@]+@/g, `$1${HIDDEN}@`);
  }).join("\n");
}
