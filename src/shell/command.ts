/**
 * Reads a shell command as far as a rule may trust it: only plain words and quotes are understood, anything else is
 * `complex` or null. These readers err by saying too little; the one in `file_names.ts` finds whatever a command might
 * name and errs by saying too much, so they cannot be one.
 */

/** A command line as permission rules see it. */
export type ParsedCommand =
  /** One program, started with exactly these words. */
  | { kind: "simple"; argv: readonly [string, ...string[]] }
  /** Anything else; `reason` completes "it …". */
  | { kind: "complex"; reason: string };

/** Longest command that is parsed, in characters; a longer one is complex. */
const LENGTH_LIMIT = 16_384;

/** Words that a shell reads as grammar where a program's name stands. */
const RESERVED: ReadonlySet<string> = new Set(
  ("! [[ ]] { } if then elif else fi for while until do done case esac in function select time coproc").split(" "),
);

const REASONS: Readonly<Record<string, string>> = {
  ";": "joins commands",
  "&": "joins commands",
  "|": "pipes into another command",
  "\n": "has several lines",
  "<": "redirects",
  ">": "redirects",
  "(": "opens a subshell",
  ")": "opens a subshell",
  "$": "uses a substitution",
  "`": "uses a substitution",
  "*": "uses a wildcard",
  "?": "uses a wildcard",
  "[": "uses a wildcard",
  "]": "uses a wildcard",
  "{": "uses braces",
  "}": "uses braces",
  "~": "uses ~",
  "#": "holds a comment",
};

/** Unquoted, these stand for themselves in every shell that we start. */
const PLAIN = /[A-Za-z0-9_.\/:@%+,=^!-]/;

function complex(reason: string): ParsedCommand {
  return { kind: "complex", reason };
}

function isControl(character: string): boolean {
  return character < " " && character !== "\t" && character !== "\n" || character === "\x7f";
}

/**
 * Parses `text`. A simple verdict means: a POSIX shell given this text starts `argv[0]` with the other words and does
 * nothing else. Linear in the length; never throws. Source: specification of the boundary §7, threat 115.
 */
export function parseCommand(text: string): ParsedCommand {
  if (text.length > LENGTH_LIMIT) return complex("is too long to check");
  const command = text.replace(/^[ \t\n]+/, "");
  // Not a regular expression: trimming an end with one is quadratic in the white space.
  let end = command.length;
  while (end > 0 && " \t\n".includes(command.charAt(end - 1))) end--;
  // A backslash before the white space that was cut would have kept it.
  if (command.charAt(end - 1) === "\\") return complex("ends in a backslash");
  const words = new WordReader(command.slice(0, end)).words();
  if (typeof words === "string") return complex(words);
  const [program, ...rest] = words;
  if (program === undefined || program === "") return complex("is empty");
  if (RESERVED.has(program)) return complex("uses shell grammar");
  if (/^[A-Za-z_]\w*\+?=/.test(program)) return complex("sets a variable");
  return { kind: "simple", argv: [program, ...rest] };
}

class WordReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  words(): string[] | string {
    const words: string[] = [];
    while (this.#at < this.#text.length) {
      if (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") {
        this.#at++;
        continue;
      }
      const word = this.#word();
      if ("problem" in word) return word.problem;
      words.push(word.value);
    }
    return words;
  }

  #word(): { value: string } | { problem: string } {
    let value = "";
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (character === " " || character === "\t") break;
      this.#at++;
      if (character === "'" || character === '"') {
        const quoted = character === "'" ? this.#single() : this.#double();
        if ("problem" in quoted) return quoted;
        value += quoted.value;
      } else if (character === "\\") {
        const next = this.#text.charAt(this.#at++);
        if (next < " " || next > "~") return { problem: "uses a backslash in a way that is not understood" };
        value += next;
      } else if (PLAIN.test(character)) {
        value += character;
      } else {
        return { problem: REASONS[character] ?? "holds a character that is not understood" };
      }
    }
    return { value };
  }

  #single(): { value: string } | { problem: string } {
    const end = this.#text.indexOf("'", this.#at);
    if (end < 0) return { problem: "has an open quote" };
    const value = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return [...value].some(isControl) ? { problem: "holds a control character" } : { value };
  }

  #double(): { value: string } | { problem: string } {
    let value = "";
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at++);
      if (character === '"') return { value };
      if (character === "$" || character === "`") return { problem: "uses a substitution" };
      if (isControl(character)) return { problem: "holds a control character" };
      if (character !== "\\") {
        value += character;
        continue;
      }
      const next = this.#text.charAt(this.#at++);
      if (next === "\n" || next === "") return { problem: "uses a backslash in a way that is not understood" };
      if (isControl(next)) return { problem: "holds a control character" };
      // Between double quotes a backslash only takes the meaning of these away; before others it stays.
      value += '"\\$`'.includes(next) ? next : "\\" + next;
    }
    return { problem: "has an open quote" };
  }
}

/**
 * Returns the words of a command of any form, quotes and grammar taken away: what deny rules search. Linear; never
 * throws.
 */
export function looseWords(text: string): string[] {
  // A line continued on the next is one: `r\` and `m x` below it.
  return text.replace(/\\\r?\n|["'\\]/g, "").split(/[\s;&|()<>`${}!,=]+/).filter((word) => word !== "");
}

/**
 * Signs that mean themselves in every shell (`%self` is a number in fish, `=cat` a path in zsh); in single quotes all
 * but what ends them somewhere (fish knows `\'`, PowerShell typographic quotes), in double quotes all that no shell
 * expands. No control character: terminals act on them, and shells look for `!` line by line.
 */
const SAME_IN_EVERY_SHELL =
  // deno-lint-ignore no-control-regex -- they are what is left out
  /[A-Za-z0-9_./:@+,-]|(?<! )=|'((?:[^'\\\u0000-\u001f\u007f-\u009f\u2018-\u201b\u2028\u2029]|\\(?!'))*)'|"([^"$`\\!\u0000-\u001f\u007f-\u009f\u201c-\u201e\u2028\u2029]*)"|( +)/y;

/** A word, and whether any of it stands in quotes: one without is an alias for whatever zsh was told (`alias -g`). */
interface PlainWord {
  text: string;
  quoted: boolean;
}

/** Returns the words of a simple command; null for anything that some shell may read in another way. */
export function plainWords(line: string): PlainWord[] | null {
  const text = line.replace(/^ +|(?<![ \n])[ \n]+$/g, "");
  let word: PlainWord = { text: "", quoted: false };
  const words = [word];
  SAME_IN_EVERY_SHELL.lastIndex = 0;
  while (SAME_IN_EVERY_SHELL.lastIndex < text.length) {
    const [all, single, double, space] = SAME_IN_EVERY_SHELL.exec(text) ?? [];
    if (all === undefined) return null;
    const inQuotes = single ?? double;
    if (space === undefined) {
      word.text += inQuotes ?? all;
      word.quoted ||= inQuotes !== undefined;
    } else words.push(word = { text: "", quoted: false });
  }
  return words;
}
