/** The message of a server's error as people may see it: servers echo the request in parts. Loaded with an error. */
import { variantsOf } from "../../boundary/scan/variants.ts";
import { CONTROL } from "./server_error.ts";

/** Characters of a message that are shown. */
const SHOWN_LIMIT = 300;

/**
 * The message for people: at most 300 characters, and no piece of the request in it — servers echo the request in
 * parts. `texts` are those of the request, and the key. A message with control characters is not shown: what they
 * cut in pieces cannot be recognized.
 */
export function shownMessage(said: string, texts: readonly string[]): string {
  if (said.includes(CONTROL)) return "";
  const message = withoutEcho(said.replace(/(last read: )'.*/s, "$1…"), texts);
  return message.length > SHOWN_LIMIT ? message.slice(0, SHOWN_LIMIT).toWellFormed() + "…" : message;
}

/** Letters and digits in a row that identify a part of the request: shorter ones are common words. */
const PIECE = 10;
/** Escapes of JSON, also escaped twice, and of HTML, each for one character or none. */
const ESCAPE = /\\+u([0-9a-f]{4})|\\+x([0-9a-f]{2})|\\+[nrtbf]|&(?:quot|apos|amp|lt|gt|nbsp|#x?[0-9a-f]{1,6});/giy;
/** Between two texts of a request. */
const GAP = "\0";

/** Returns letters and digits alone, case folded. A final sigma has a form of its own. */
function caseFolded(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ").replace(/[^\p{L}\p{N}\0]+/gu, "");
}

/** A text as its letters and digits, and where each of them stands in it. */
interface Letters {
  text: string;
  /** Start and end in the text of the letter at this index. */
  places: [number, number][];
}

/** Letters alone: two spellings of one text differ in spaces, quotes, line ends and punctuation. */
function lettersOf(text: string, { escapes }: { escapes: boolean }): Letters {
  let letters = "";
  const places: [number, number][] = [];
  const add = (character: string, place: [number, number]) => {
    const plain = caseFolded(character);
    letters += plain;
    for (let unit = 0; unit < plain.length; unit++) places.push(place);
  };
  for (let at = 0; at < text.length;) {
    ESCAPE.lastIndex = at;
    const escape = escapes && "\\&".includes(text.charAt(at)) ? ESCAPE.exec(text) : null;
    if (escape !== null) {
      const code = escape[1] ?? escape[2];
      if (code !== undefined) add(String.fromCharCode(parseInt(code, 16)), [at, ESCAPE.lastIndex]);
      at = ESCAPE.lastIndex;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    add(character, [at, at + character.length]);
    at += character.length;
  }
  return { text: letters, places };
}

/** Both readings of the texts: a backslash before a letter is an escape, or stands for itself. */
function haystackOf(texts: readonly string[]): string {
  const joined = texts.join(GAP);
  if (!/[\\&]/.test(joined)) return caseFolded(joined);
  const unescaped = joined.replace(
    new RegExp(ESCAPE, "gi"),
    (_, ...[four, two]: (string | undefined)[]) => {
      const code = four ?? two;
      return code === undefined ? "" : String.fromCharCode(parseInt(code, 16));
    },
  );
  return caseFolded(joined) + GAP + caseFolded(unescaped);
}

/** Bytes as programs print them: a list of numbers, or escapes in a row with what is between them. */
const DUMP = /(?:\b\d{1,3}\b[\s,;]+){7,}\d{1,3}\b|(?:\\+(?:x[0-9a-f]{2}|[0-7]{3})[^\\]{0,8}){4,}/gi;

/**
 * `message` without the pieces of `texts` in it, each replaced by `…`: whatever has ten letters or digits in a row in
 * common with them, in any spacing, quoting or escaping. JSON that holds such a piece is replaced as a whole, and so is
 * a message that holds one reversed, in base64, in hexadecimal, in percent or another form that content is looked for
 * in. Dumps of bytes are replaced whatever they hold.
 */
export function withoutEcho(message: string, texts: readonly string[]): string {
  return withoutPieces(message, texts).replace(DUMP, "…");
}

function withoutPieces(message: string, texts: readonly string[]): string {
  const haystack = haystackOf(texts);
  const hidden = new Uint8Array(message.length);
  for (const escapes of [false, true]) hidePieces(lettersOf(message, { escapes }), { haystack, hidden });
  const first = hidden.indexOf(1);
  if (holdsEncoded(message, haystack)) return "…";
  if (first < 0) return message;
  const document = message.slice(0, first).search(/[[{]+\s*\\*["']/);
  if (document >= 0) hidden.fill(1, document);
  let shown = "";
  for (let at = 0; at < message.length; at++) {
    if (hidden[at] !== 1) shown += message.charAt(at);
    else if (hidden[at - 1] !== 1) shown += "…";
  }
  return shown;
}

function hidePieces({ text, places }: Letters, given: { haystack: string; hidden: Uint8Array }): void {
  for (let start = 0; start + PIECE <= text.length;) {
    let end = start + PIECE;
    if (!given.haystack.includes(text.slice(start, end))) {
      start++;
      continue;
    }
    while (end < text.length && given.haystack.includes(text.slice(start, end + 1))) end++;
    given.hidden.fill(1, places[start]?.[0], places[end - 1]?.[1]);
    start = end;
  }
}

/** Returns whether a message has a piece in common with the haystack in any form but the plain one. */
function holdsEncoded(message: string, haystack: string): boolean {
  const decoder = new TextDecoder();
  const pieces = new Set<string>();
  for (const { form, bytes } of variantsOf(message)) {
    // Escapes are undone by the search for plain pieces, which leaves the rest of a message standing.
    if (form === "plain" || form === "escaped") continue;
    const letters = caseFolded(decoder.decode(bytes));
    for (let at = 0; at + PIECE <= letters.length; at++) pieces.add(letters.slice(at, at + PIECE));
  }
  // One way through the haystack, which can be a whole conversation.
  for (let at = 0; pieces.size > 0 && at + PIECE <= haystack.length; at++) {
    if (pieces.has(haystack.slice(at, at + PIECE))) return true;
  }
  return false;
}
