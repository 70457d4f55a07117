/** Expands a word as a shell does before it looks for files: braces, and quotes with escapes of their own. */

/** Signs that a shell gives a meaning; as characters of no language they part these from the same signs in quotes. */
export const STAR = "\uE000";
export const ANY = "\uE001";
export const OPEN = "\uE002";
export const COMMA = "\uE003";
export const CLOSE = "\uE004";
export const VARIABLE = "\uE005";
/** The shell has made another word of it than the one that stands there. */
export const EXPANDED = "\uE006";

const EXPANSION_LIMIT = 1_000;
/** Most pairs of braces in a word that are worked out. */
const BRACES_LIMIT = 20;

/**
 * Returns the words that braces make of one, each with {@link EXPANDED} at its end; the word alone where there are
 * none.
 */
export function bracesExpanded(word: string): string[] {
  const done: string[] = [];
  const waiting = [word.split(OPEN).length > BRACES_LIMIT ? bracesAsStars(word) : word];
  let expanded = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    // The innermost braces first: what they make goes into those around them.
    const found = new RegExp(`${OPEN}([^${OPEN}${CLOSE}]*)${CLOSE}`).exec(next);
    if (found === null) {
      done.push(next.replaceAll(OPEN, "{").replaceAll(CLOSE, "}").replaceAll(COMMA, ","));
      continue;
    }
    const [before, behind] = [next.slice(0, found.index), next.slice(found.index + found[0].length)];
    const choices = choicesOf(found[1] ?? "");
    if (choices === null) waiting.push(`${before}{${found[1]}}${behind}`);
    else {
      expanded = true;
      const tooMany = choices.length + waiting.length + done.length > EXPANSION_LIMIT;
      waiting.push(...(tooMany ? [STAR] : choices).map((choice) => before + choice + behind));
    }
  }
  return expanded ? done.map((one) => one + EXPANDED) : done;
}

/** More means the same and takes no longer: any name in place of each pair. */
function bracesAsStars(word: string): string {
  return word.replace(new RegExp(`${OPEN}[^${OPEN}${CLOSE}]*${CLOSE}`, "g"), STAR)
    .replaceAll(OPEN, STAR).replaceAll(CLOSE, STAR).replace(new RegExp(`${STAR}+`, "g"), STAR);
}

function choicesOf(inside: string): string[] | null {
  if (inside.includes(COMMA)) return inside.split(COMMA);
  const [, first = "", last = ""] = /^(-?\d+|[^])\.\.(-?\d+|[^])(?:\.\.-?\d+)?$/.exec(inside) ?? [];
  if (first === "" || inside.includes(VARIABLE)) return null;
  const numbers = /\d$/.test(first) && /\d$/.test(last);
  const place = (one: string) => numbers ? Number(one) : one.charCodeAt(0);
  const [low, high] = [Math.min(place(first), place(last)), Math.max(place(first), place(last))];
  if (high - low >= EXPANSION_LIMIT || !Number.isSafeInteger(low) || !Number.isSafeInteger(high)) return [STAR];
  const all = Array.from({ length: high - low + 1 }, (_, at) => low + at);
  if (!numbers) return all.map((code) => String.fromCharCode(code));
  // `{01..10}` makes all as long as the longest.
  const width = /^-?0\d/.test(first) || /^-?0\d/.test(last) ? Math.max(first.length, last.length) : 0;
  const padded = (number: number) =>
    number < 0 ? `-${String(-number).padStart(width - 1, "0")}` : String(number).padStart(width, "0");
  return [...new Set(all.flatMap((number) => [String(number), padded(number)]))];
}

/** `$'…'` and `$"…"`. */
const ANSI_QUOTES = /\$'((?:[^'\\]|\\[^])*)'|\$(?=")/g;
const ESCAPE = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3})|c([^])|([^]))/g;
const LETTERS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Returns the text with `$'\x2eenv'` as `.env` and `$"a"` as `"a"`; `mark` is put after each. */
export function ansiDecoded(text: string, mark = ""): string {
  return text.replace(ANSI_QUOTES, (_, quoted?: string) => {
    if (quoted === undefined) return mark;
    // The shell ends it there.
    const plain = ansiText(quoted).split("\0", 1)[0] ?? "";
    if (/^[\w./@%+,:~-]*$/.test(plain)) return plain + mark;
    return `'${plain.replaceAll("'", "")}'${mark}`;
  });
}

function ansiText(quoted: string): string {
  const encoder = new TextEncoder();
  const bytes: number[] = [];
  let at = 0;
  for (const found of quoted.matchAll(ESCAPE)) {
    const [all, hex, short, long, octal, control, letter = ""] = found;
    bytes.push(...encoder.encode(quoted.slice(at, found.index)));
    at = found.index + all.length;
    const code = short ?? long;
    if (hex !== undefined) bytes.push(parseInt(hex, 16));
    else if (octal !== undefined) bytes.push(parseInt(octal, 8) & 0xff);
    else if (control !== undefined) bytes.push(control.charCodeAt(0) & 0x1f);
    else if (code === undefined) bytes.push(...encoder.encode(LETTERS[letter] ?? letter));
    else bytes.push(...encoder.encode(String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))));
  }
  bytes.push(...encoder.encode(quoted.slice(at)));
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/**
 * Returns the text with `\u002eenv` as `.env`: JSON in a text, programs, and fish write signs so, and each text around
 * it doubles `\`. `mark` is put after each.
 */
export function unescaped(text: string, mark = ""): string {
  return text.replace(
    /(?<!\\)\\+(?:u([\da-f]{4})|u\{([\da-f]{1,6})\}|x([\da-f]{2})|0?([0-7]{3}))/gi,
    (_, plain?: string, braced?: string, short?: string, octal?: string) => {
      const code = octal === undefined ? parseInt(plain ?? braced ?? short ?? "", 16) : parseInt(octal, 8);
      return code <= 0x10ffff ? String.fromCodePoint(code) + mark : "";
    },
  );
}
