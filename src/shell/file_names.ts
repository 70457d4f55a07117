/**
 * Finds what a command line may name once a shell has expanded it: patterns, braces, and what follows a variable. A
 * quoted pattern is none. It reads bash's syntax; other shells differ little in this. The sandbox is what keeps
 * commands from protected files; this reader stands in where there is none, and does not grow any more.
 */
import {
  ansiDecoded,
  ANY,
  bracesExpanded,
  CLOSE,
  COMMA,
  EXPANDED,
  OPEN,
  STAR,
  unescaped,
  VARIABLE,
} from "./expansion.ts";

/** A word that names files by a pattern or after a variable, with {@link STAR} and {@link ANY} in it. */
export interface ShellName {
  text: string;
  /** It follows a variable or the output of a command: it may start anywhere. */
  loose: boolean;
  /** It stands in quotes: a program may look for files by it, the shell does not. */
  quoted?: true;
}

export interface ShellReading {
  names: readonly ShellName[];
  /** Where a quoted text of several words stands that no program runs: from and to, without the quotes. */
  prose: readonly { from: number; to: number }[];
}

/** Programs that run what their arguments say as a shell does. */
const SHELLS =
  /^(?:(?:ba|z|da|k|a|c|tc|fi)?sh|busybox|eval|ssh|su|watch|parallel|script|alias|trap|wsl|pwsh|powershell|cmd)$/i;
/** Programs that run a language of their own: what stands in quotes after them is no prose. */
const RUNNERS = /^(?:python[\d.]*|node|deno|bun|perl|ruby|php|lua|[gmn]?awk|osascript|tclsh|rscript)$/i;
/** They show the names alone. */
const NAMES_ALONE = /^(?:echo|printf)$/;
const DEPTH_LIMIT = 20;
const PROCESS_NAMES = 12;

interface Quoted {
  from: number;
  to: number;
  text: string;
  /** A command stands in it whose output takes its place. */
  holdsCommand: boolean;
}

interface Token {
  text: string;
  operator: boolean;
}

/** Reads a command line. Quotes that do not end are read as none: more is a pattern then, not less. */
export function readShell(
  text: string,
  { depth = 0, isOther = false }: { depth?: number; isOther?: boolean } = {},
): ShellReading {
  const read = new Lexer(text).read() ?? new Lexer(text.replace(/["'`]/g, " ")).read() ??
    new Lexer(text.replace(/["'`$]/g, " ")).read();
  if (read === null || depth > DEPTH_LIMIT) return { names: [], prose: [] };
  const { tokens, quoted, commands, unsure } = read;
  const programs = tokens.filter(({ operator }) => !operator)
    .map(({ text }) => text.replaceAll(EXPANDED, "").replace(/^.*[/\\]/, "").replace(/\.exe$/i, ""));
  const isShell = programs.some((word) => SHELLS.test(word));
  const names = [...namesOf(tokens)];
  const scripts = isShell ? [...quoted, ...tokens].map(({ text }) => text).filter((text) => /\s/.test(text)) : [];
  const nested = [...commands, ...scripts];
  // Where a quote may be none, whatever follows counts without quotes too.
  if (unsure < text.length) nested.push(text.slice(unsure).replace(/["'`#<]/g, " "));
  for (const command of nested) names.push(...readShell(command, { depth: depth + 1 }).names);
  for (const other of isOther ? [] : otherReadings(text)) {
    names.push(...readShell(other, { depth: depth + 1, isOther: true }).names);
  }
  if (isShell) return { names, prose: [] };
  for (const { text } of quoted) names.push(...quotedPatterns(text));
  const isProse = ({ to, text, holdsCommand }: Quoted) => !holdsCommand && to <= unsure && /\S\s+\S/.test(text);
  const prose = programs.some((word) => RUNNERS.test(word)) ? [] : quoted.filter(isProse);
  return { names, prose };
}

/** Returns the same as other shells may read it, and without its comments, in which quotes are none. */
function otherReadings(text: string): Set<string> {
  const bare = text.replace(/(^|[\s;&|()])#.*$/gm, "$1");
  const others = new Set([text, bare].flatMap((one) => [one, ansiDecoded(one, EXPANDED), unescaped(one, EXPANDED)]));
  others.delete(text);
  return others;
}

/** Returns the words of the tokens that hold a pattern or variable; stars alone only if they can be read. */
function* namesOf(tokens: readonly Token[]): Generator<ShellName> {
  let program: string | null = null;
  let inCase = false;
  for (const [at, { text, operator }] of tokens.entries()) {
    if (operator) {
      if (!/[<>]/.test(text)) program = null;
      continue;
    }
    if (program === null && !/^(?:do|then|else|if|while|until|!|\w+=.*)$/.test(text)) program = text;
    inCase ||= text === "case";
    if ((inCase && isCasePattern(tokens, at)) || (NAMES_ALONE.test(program ?? "") && isStars(text))) continue;
    for (const word of bracesExpanded(text)) yield* nameIn(word);
  }
}

function isStars(text: string): boolean {
  return [...text].every((sign) => sign === STAR || sign === ANY);
}

/** `*)` of a `case`. */
function isCasePattern(tokens: readonly Token[], at: number): boolean {
  const [before, behind] = [tokens[at - 1], tokens[at + 1]];
  if (behind?.operator !== true || !/^[)|]$/.test(behind.text)) return false;
  return before !== undefined &&
    (before.operator ? /^(?:;;&?|;&|\||\()$/.test(before.text.trim()) : before.text === "in");
}

function* nameIn(word: string): Generator<ShellName> {
  const loose = word.includes(VARIABLE);
  const isName = loose || [STAR, ANY, EXPANDED].some((sign) => word.includes(sign));
  if (isName && /(?:^|\/)(?:proc|dev)\//.test(word)) yield* behindProcess(word);
  const text = word.slice(word.lastIndexOf(VARIABLE) + 1);
  if (!isName || (loose && !text.startsWith("/"))) return;
  const plain = text.replaceAll(EXPANDED, "");
  yield { text: plain, loose };
  // `--file=.e*`, `if=.e*`, `@.e*`, `HEAD:.e*`, `-f.e*`
  const value = /[=:@]([^=:@]+)$/.exec(plain)?.[1];
  if (value !== undefined) yield { text: value, loose };
  if (/^-[^-]./.test(plain)) yield { text: plain.slice(2), loose };
}

/** `/proc/$$/cwd/.env`: each end of such a path may start where a process is. */
function* behindProcess(word: string): Generator<ShellName> {
  const names = word.replaceAll(EXPANDED, "").split("/");
  for (let at = 2; at < Math.min(names.length, PROCESS_NAMES); at++) {
    const text = `/${names.slice(at).join("/")}`;
    if (text !== "/" && !text.includes(VARIABLE)) yield { text, loose: true };
  }
}

/** Patterns in quotes, for programs that search for files themselves. Without a letter, one says nothing of a name. */
function* quotedPatterns(text: string): Generator<ShellName> {
  for (const word of text.split(/\s+/)) {
    if (!/[*?[]/.test(word) || /[{}]/.test(word)) continue;
    const pattern = word.replace(/\[(?:\[:\w+:\]|[^\]])*\]/g, ANY).replaceAll("*", STAR).replaceAll("?", ANY);
    if (/[\p{L}\p{N}]/u.test(pattern)) yield { text: pattern, loose: false, quoted: true };
  }
}

/** One pass over a command line. */
class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  readonly #quoted: Quoted[] = [];
  readonly #commands: string[] = [];
  /** The last position of each closing bracket. */
  readonly #lastOf: Partial<Record<")" | "}", number>> = {};
  #at = 0;
  #word = "";
  #inWord = false;
  /** From here on quotes may be none, or end elsewhere: comments, texts of several lines, quotes within quotes. */
  #unsure: number;

  constructor(text: string) {
    this.#text = text;
    const odd = text.search(/\\`|\$'|\bcase\b/);
    this.#unsure = odd < 0 ? Infinity : odd;
  }

  read(): { tokens: readonly Token[]; quoted: readonly Quoted[]; commands: readonly string[]; unsure: number } | null {
    while (this.#at < this.#text.length) if (!this.#next()) return null;
    this.#endWord();
    return { tokens: this.#tokens, quoted: this.#quoted, commands: this.#commands, unsure: this.#unsure };
  }

  #next(): boolean {
    const sign = this.#text[this.#at] ?? "";
    const begins = sign === "#" ? !this.#inWord : sign === "<" && this.#beginsLines();
    if (begins) this.#doubt(this.#at);
    if (/\s/.test(sign) && sign !== "\n") this.#endWord();
    else if (/[(<]/.test(sign) && this.#group()) return true;
    else if (/[;|&<>()\n]/.test(sign)) return this.#operator();
    else if (sign === "'") return this.#single();
    else if (sign === '"') return this.#double();
    else if (sign === "`") return this.#command({ end: this.#text.indexOf("`", this.#at + 1), from: this.#at + 1 });
    else if (sign === "$") return this.#dollar();
    else if (sign === "\\") {
      this.#at += 1;
      this.#add((this.#text[this.#at] ?? "").replace("\n", ""));
    } else if (sign === "[") this.#class();
    else if (sign === "~" && !this.#inWord) this.#tilde();
    else this.#add(SIGNS.get(sign) ?? sign);
    this.#at += 1;
    return true;
  }

  #doubt(at: number): void {
    this.#unsure = Math.min(this.#unsure, at);
  }

  /** `<<` of a text of several lines, not `<<<` of a word. */
  #beginsLines(): boolean {
    return this.#text[this.#at + 1] === "<" && this.#text[this.#at + 2] !== "<" && this.#text[this.#at - 1] !== "<";
  }

  #add(text: string): void {
    this.#word += text;
    this.#inWord = true;
  }

  #endWord(): void {
    if (this.#inWord) this.#tokens.push({ text: this.#word, operator: false });
    this.#word = "";
    this.#inWord = false;
  }

  #operator(): boolean {
    this.#endWord();
    const [text = ""] = /^(?:;;&?|;&|&&|\|\||[;|&<>()\n])/.exec(this.#text.slice(this.#at, this.#at + 3)) ?? [];
    this.#tokens.push({ text: text === "\n" ? ";" : text, operator: true });
    this.#at += text.length;
    return true;
  }

  #single(): boolean {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) return false;
    const text = this.#text.slice(this.#at + 1, end);
    this.#quoted.push({ from: this.#at + 1, to: end, text, holdsCommand: false });
    this.#add(text);
    this.#at = end + 1;
    return true;
  }

  #double(): boolean {
    const from = this.#at + 1;
    let text = "";
    let holdsCommand = false;
    this.#inWord = true;
    for (this.#at = from; this.#text[this.#at] !== '"';) {
      const sign = this.#text[this.#at];
      if (sign === undefined) return false;
      if (sign === "\\") {
        const escaped = this.#text[this.#at + 1] ?? "";
        text += escaped;
        this.#add(escaped);
        this.#at += 2;
      } else if (sign === "$" || sign === "`") {
        const start = this.#at;
        const shown = sign === "$" ? this.#shownText() : null;
        if (shown !== null) {
          text += shown.text;
          this.#add(shown.text);
          this.#at = shown.end;
          continue;
        }
        if (sign === "`" || this.#text[start + 1] === "(") holdsCommand = true;
        const ended = sign === "$" ? this.#dollar() : this.#command({
          end: this.#text.indexOf("`", start + 1),
          from: start + 1,
        });
        if (!ended) return false;
        text += this.#text.slice(start, this.#at);
      } else {
        text += sign;
        this.#add(sign);
        this.#at += 1;
      }
    }
    this.#quoted.push({ from, to: this.#at, text, holdsCommand });
    this.#at += 1;
    return true;
  }

  /**
   * A text that `cat` shows unchanged: `$(cat <<'EOF' … EOF)`, which assistants write around messages of several lines.
   * It is the same as the text in single quotes; null for anything else, also where `cat` may be something else.
   */
  #shownText(): { text: string; end: number } | null {
    const head = /\$\([ \t]*cat[ \t]+<<[ \t]*(?:'(\w+)'|"(\w+)")[ \t]*\n/y;
    head.lastIndex = this.#at;
    const found = head.exec(this.#text);
    if (found === null || /\bcat[\s\\]*\(|\bfunction\s+cat\b/.test(this.#text)) return null;
    // The shell ends it at the first such line, wherever one comes later.
    const from = this.#at + found[0].length;
    const last = `\n${found[1] ?? found[2]}\n`;
    const end = this.#text.indexOf(last, from - 1);
    const close = /\s*\)/y;
    close.lastIndex = end + last.length;
    if (end < 0 || !close.test(this.#text)) return null;
    return { text: this.#text.slice(from, Math.max(from, end)), end: close.lastIndex };
  }

  /** A variable, or a command whose output takes its place. */
  #dollar(): boolean {
    const rest = this.#text.slice(this.#at + 1, this.#at + 300);
    const next = rest[0] ?? "";
    if (next === "(" || next === "{") {
      const end = this.#closing(this.#at + 1);
      // An arithmetic expression has no patterns.
      if (rest.startsWith("((")) return this.#variable(end + 1, { found: end >= 0 });
      return next === "(" ? this.#command({ end, from: this.#at + 2 }) : this.#variable(end + 1, { found: end >= 0 });
    }
    const [name] = /^(?:env:\w+|\w+|[@*#?$!-])/i.exec(rest) ?? [""];
    if (name !== "") return this.#variable(this.#at + 1 + name.length, { found: true });
    this.#add("$");
    this.#at += 1;
    return true;
  }

  #variable(behind: number, { found }: { found: boolean }): boolean {
    this.#add(VARIABLE);
    this.#at = behind;
    return found;
  }

  #command({ end, from }: { end: number; from: number }): boolean {
    if (end < 0) return false;
    this.#commands.push(this.#text.slice(from, end));
    return this.#variable(end + 1, { found: true });
  }

  /** Returns where the bracket at `start` is closed; -1 where it is not. Anything in single quotes closes nothing. */
  #closing(start: number): number {
    const open = this.#text[start];
    const close = open === "(" ? ")" : "}";
    let depth = 0;
    // A line of opening brackets alone would be read to its end for each of them.
    const last = this.#lastOf[close] ??= this.#text.lastIndexOf(close);
    for (let at = start; at < this.#text.length && start < last; at++) {
      const sign = this.#text[at];
      if (sign === '"' || sign === (open === "(" ? "#" : "'")) this.#doubt(start);
      if (sign === "\\") at += 1;
      else if (sign === "'") {
        const end = this.#text.indexOf("'", at + 1);
        at = end < 0 ? at : end;
      } else if (sign === open) depth += 1;
      else if (sign === close && --depth === 0) return at;
    }
    return -1;
  }

  /** `@(a|b)`, in zsh `(a|b)` and `<1-9>`: a pattern in a word that matches more than its text. False for all else. */
  #group(): boolean {
    const isRange = this.#text[this.#at] === "<";
    const [range = ""] = /^<\d*-\d*>/.exec(this.#text.slice(this.#at, this.#at + 50)) ?? [];
    // A list, and what may be a pattern only after another word.
    if (isRange ? range === "" || !this.#inWord : this.#word.endsWith("=")) return false;
    const { operator = true, text = "" } = this.#tokens.at(-1) ?? {};
    const isArgument = !operator || (/[<>]/.test(text) && /\s/.test(this.#text[this.#at - 1] ?? ""));
    if (!this.#inWord && !isArgument) return false;
    const end = isRange ? this.#at + range.length - 1 : this.#closing(this.#at);
    const inside = this.#text.slice(this.#at + 1, end);
    // The brackets of a function are empty; at the beginning of a word it has to continue.
    if (end < 0 || inside.trim() === "" || (!this.#inWord && /^(?:[\s;|&<>()]|$)/.test(this.#text.slice(end + 1)))) {
      return false;
    }
    this.#commands.push(inside);
    const before = this.#word.replace(BEFORE_GROUP, "");
    // It may make the dot that a star does not mean.
    this.#word = before + (/(?:^|\/)$/.test(before) ? OPEN + COMMA + "." + CLOSE : "") + STAR;
    this.#inWord = true;
    this.#at = end + 1;
    return true;
  }

  /** `[abc]` and `[[:alpha:]]` match one character. */
  #class(): void {
    const [found = ""] =
      /^\[[!^]?\]?(?:\[:\w+:\]|[^\]\s;|&<>()"'`])*\]/.exec(this.#text.slice(this.#at, this.#at + 300)) ?? [];
    if (found.length < 3) return this.#add("[");
    this.#add(ANY);
    this.#at += found.length - 1;
  }

  /** `~/` is the home; `~+` and `~name` are other directories. */
  #tilde(): void {
    const [found = "~"] = /^~[\w.+-]+/.exec(this.#text.slice(this.#at, this.#at + 300)) ?? [];
    this.#add(found === "~" ? "~" : VARIABLE);
    this.#at += found.length - 1;
  }
}

/** Characters that say how often a group may repeat. */
const BEFORE_GROUP = new RegExp(`[@+!${ANY}]$`);

const SIGNS: ReadonlyMap<string, string> = new Map([
  ["*", STAR],
  ["?", ANY],
  ["{", OPEN],
  [",", COMMA],
  ["}", CLOSE],
]);
