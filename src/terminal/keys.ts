/** Turns bytes of a terminal into keys, whatever sequences the terminal sends for them. */

/** The action of a key, by the usual bindings of line editors. */
export type KeyName =
  | "enter"
  | "newline"
  /** Enter with Alt: a new line, or more where something has a use for it. */
  | "alt_enter"
  | "tab"
  | "back_tab"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "up"
  | "down"
  | "page_up"
  | "page_down"
  | "home"
  | "end"
  | "word_left"
  | "word_right"
  | "delete_word_left"
  | "delete_word_right"
  | "kill_to_end"
  | "kill_to_start"
  | "yank"
  | "undo"
  | "search"
  | "interrupt"
  | "end_of_input"
  | "escape"
  | "clear_screen"
  | "edit_outside"
  | "suspend"
  | "save"
  /** No key: the terminal answers a status request (`CSI 5 n`). */
  | "ready"
  | "unfold";

/** One key. `paste` is everything between the marks of one bracketed paste. */
export type Key = { kind: "text"; text: string } | { kind: "paste"; text: string } | { kind: "named"; name: KeyName };

/** Longest paste that is accepted, in characters; a longer one is cut. */
const PASTE_LIMIT = 16 * 1024 * 1024;
/** An escape sequence that is longer is none. */
const SEQUENCE_LIMIT = 32;

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

const CONTROL: Readonly<Record<string, KeyName>> = {
  "\x01": "home",
  "\x02": "left",
  "\x03": "interrupt",
  "\x04": "end_of_input",
  "\x05": "end",
  "\x06": "right",
  "\x07": "edit_outside",
  "\x08": "backspace",
  "\x09": "tab",
  "\x0a": "newline",
  "\x0b": "kill_to_end",
  "\x0c": "clear_screen",
  "\x0d": "enter",
  "\x0e": "down",
  "\x0f": "unfold",
  "\x10": "up",
  "\x12": "search",
  "\x13": "save",
  "\x15": "kill_to_start",
  "\x17": "delete_word_left",
  "\x19": "yank",
  "\x1a": "suspend",
  "\x1f": "undo",
  "\x7f": "backspace",
};

const FINAL: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "back_tab",
};

const NUMBERED: Readonly<Record<string, KeyName>> = {
  "1": "home",
  "3": "delete",
  "4": "end",
  "5": "page_up",
  "6": "page_down",
  "7": "home",
  "8": "end",
};

const ALT: Readonly<Record<string, KeyName>> = {
  b: "word_left",
  f: "word_right",
  d: "delete_word_right",
  "\x7f": "delete_word_left",
  "\b": "delete_word_left",
  "\r": "alt_enter",
  "\n": "alt_enter",
};

// deno-lint-ignore no-control-regex -- sequences begin with the escape character
const COMPLETE = /^\x1b(?:\[([\d;:?<>=]*)([@-~])|O([ -~])|([^[O\x1b]))/;
// deno-lint-ignore no-control-regex -- see above
const UNFINISHED = /^\x1b(?:\[[\d;:?<>=]*|O)?$/;

/** Decodes as bytes arrive; a sequence may be spread over reads. */
export class KeyDecoder {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** The text of a paste whose end has not come. */
  #paste: string | null = null;

  /** Whether an escape character waits for what follows it; when nothing does soon, it was the key itself. */
  get waiting(): boolean {
    return this.#paste === null && this.#rest !== "";
  }

  push(bytes: Uint8Array): Key[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const keys: Key[] = [];
    while (this.#rest !== "") {
      if (!(this.#paste === null ? this.#takeKey(keys) : this.#takePaste(keys))) break;
    }
    return keys;
  }

  /** Nothing followed: the pending character is the escape key. */
  flush(): Key[] {
    if (!this.waiting) return [];
    this.#rest = "";
    return [{ kind: "named", name: "escape" }];
  }

  #takePaste(keys: Key[]): boolean {
    const end = this.#rest.indexOf(PASTE_END);
    // Perhaps only the beginning of the end mark has arrived.
    const kept = end >= 0 ? end : Math.max(0, this.#rest.length - PASTE_END.length + 1);
    const text = (this.#paste ?? "") + this.#rest.slice(0, kept);
    this.#paste = text.length > PASTE_LIMIT ? text.slice(0, PASTE_LIMIT) : text;
    this.#rest = this.#rest.slice(end >= 0 ? end + PASTE_END.length : kept);
    if (end < 0) return false;
    keys.push({ kind: "paste", text: this.#paste });
    this.#paste = null;
    return true;
  }

  #takeKey(keys: Key[]): boolean {
    if (this.#rest.startsWith(PASTE_START)) {
      this.#rest = this.#rest.slice(PASTE_START.length);
      this.#paste = "";
      return true;
    }
    const first = this.#rest.charAt(0);
    if (first === "\x1b") return this.#takeSequence(keys);
    const name = CONTROL[first];
    if (name !== undefined) keys.push({ kind: "named", name });
    // deno-lint-ignore no-control-regex -- the text ends where the next control character is
    const text = name === undefined ? /^[^\x00-\x1f\x7f]+/.exec(this.#rest)?.[0] ?? "" : "";
    if (text !== "") keys.push({ kind: "text", text });
    this.#rest = this.#rest.slice(Math.max(1, text.length));
    return true;
  }

  #takeSequence(keys: Key[]): boolean {
    const found = COMPLETE.exec(this.#rest);
    if (found === null) {
      if (UNFINISHED.test(this.#rest) && this.#rest.length < SEQUENCE_LIMIT) return false;
      // Two escapes in a row, or no sequence: the first is the key.
      keys.push({ kind: "named", name: "escape" });
      this.#rest = this.#rest.slice(1);
      return true;
    }
    this.#rest = this.#rest.slice(found[0].length);
    const [, parameters = "", final = "", single = "", alt = ""] = found;
    const name = final !== "" ? sequenceName(parameters, final) : single !== "" ? FINAL[single] : ALT[alt];
    if (name !== undefined) keys.push({ kind: "named", name });
    return true;
  }
}

/** The key of `CSI parameters final`; undefined for an unbound one. */
function sequenceName(parameters: string, final: string): KeyName | undefined {
  const [first = "", modifier = "", code = ""] = parameters.split(";");
  // Control and alt move by words.
  const byWord = modifier !== "" && ((Number(modifier) - 1) & 0b110) !== 0;
  if (final === "u") return codedName(Number(first.split(":", 1)[0]), Number(modifier.split(":", 1)[0] || 1) - 1);
  if (final === "~") {
    if (first === "27") return code === "13" ? codedName(13, Number(modifier) - 1) : undefined;
    return first === "3" && byWord ? "delete_word_right" : NUMBERED[first];
  }
  if (final === "n") return first === "0" ? "ready" : undefined;
  if (byWord && final === "C") return "word_right";
  if (byWord && final === "D") return "word_left";
  return FINAL[final];
}

const [SHIFT, ALTERED, CONTROLLED] = [1, 2, 4];

/** The key of a code point with modifiers, from terminals that distinguish keys which share a control character. */
function codedName(code: number, modifiers: number): KeyName | undefined {
  const character = String.fromCharCode(code);
  if (code === 13) return modifiers === 0 ? "enter" : modifiers === ALTERED ? "alt_enter" : "newline";
  if (code === 9 && (modifiers & SHIFT) !== 0) return "back_tab";
  if ((modifiers & CONTROLLED) !== 0) return CONTROL[String.fromCharCode(code & 0x1f)];
  if ((modifiers & ALTERED) !== 0) return ALT[character];
  return code === 27 ? "escape" : CONTROL[character];
}
