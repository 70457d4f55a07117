/**
 * Names of protected files in a text, and of what turns the guard off. A name is searched word by word; in a command
 * also without its quotes and backslashes, as a pattern of the shell, and from the directories that it enters. What a
 * program finds by itself, or a name that a shell assembles, is not seen: the documentation says so.
 */
import { percentDecoded } from "../../platform/text.ts";
import { foldedName, foldedText } from "../../platform/case_folded.ts";
import { basename, isWithin } from "../../platform/path.ts";
import { exists, realOrNamed } from "../../platform/real_path.ts";
import { ansiDecoded, unescaped } from "../../shell/expansion.ts";
import { PatternSearch } from "./shell_pattern.ts";
import { readShell, type ShellReading } from "../../shell/file_names.ts";
import { AgentcliError } from "../../errors.ts";
import type { TamperCheck } from "./tamper_check.ts";
import type { PathReference, ProtectedLookup } from "./lookup.ts";

/** Most words of a text that are checked; a text with more is refused. */
const WORD_LIMIT = 200_000;

/** The kind of a text: a shell runs one, the other is language. */
export type TextKind = "command" | "prose";

/** Returns the first protected path that the text names; null when it names none. Throws `usage` for too many words. */
export async function findPathReference(
  text: string,
  kind: TextKind,
  lookup: ProtectedLookup,
): Promise<PathReference | null> {
  const hidden = await lookup.set.hidden();
  const shell = kind === "command" ? readCommand(text, lookup) : null;
  const named = new NamedPaths(lookup, { hidden, from: shell?.from ?? [] });
  const looked = shell === null ? text : withoutProse(text, { prose: shell.prose, isDirectory: named.isDirectory });
  for (const spelling of spellingsOf(looked, kind)) {
    const whole = named.whole(spelling);
    if (whole !== null) return whole;
  }
  for (const { word, loose } of distinctWords(looked, kind)) {
    const found = loose ? named.loose(word) : named.word(word, kind);
    if (found !== null) return found;
  }
  return shell === null ? null : named.pattern(shell);
}

/**
 * Returns why a command may not run although it names nothing that is protected: it names what turns the guard off.
 * Null when it does not. Throws `usage` for too many words.
 */
export function findTampering(
  text: string,
  { lookup, tamperCheck }: { lookup: ProtectedLookup; tamperCheck: TamperCheck },
): string | null {
  const shell = readCommand(text, lookup);
  const own = tamperCheck.reasonOfCommand(text);
  if (own !== null) return own;
  const changes = tamperCheck.changes(text);
  const made = shell.names.map(({ text: word, loose }) => ({ word, loose }));
  for (const { word, loose } of [...distinctWords(text, "command"), ...made]) {
    if (word === "." || word === "..") continue;
    for (const path of lookup.meanings(loose ? `.${word}` : word, shell)) {
      const reason = tamperCheck.reasonAt(path) ?? (changes ? tamperCheck.reasonAbove(path) : null);
      if (reason !== null) return `${word} may not be named here: ${reason}`;
    }
  }
  if (!changes) return null;
  const search = new PatternSearch({ lookup, from: shell.from, dots: shell.dots });
  const judge = (path: string) => tamperCheck.reasonAt(path) ?? tamperCheck.reasonAbove(path);
  for (const name of shell.names) {
    const found = search.first(name, (path) => {
      const reason = judge(path);
      return reason === null ? null : `${basename(path)} may not be named here: ${reason}`;
    });
    if (found !== null) return found;
  }
  return null;
}

interface Command extends ShellReading {
  /** Existing directories that it enters. */
  from: readonly string[];
  /** Its stars may mean hidden names. */
  dots: boolean;
}

/** The words after it are checked again: `sh -c "cd src; …"` looks like one of these options. */
const GOES_INTO =
  /(?:^|[\s;&|(`"'])(?:cd|pushd|chdir|set-location|sl|-C|--(?:chdir|cwd|directory|prefix|work-tree|working-directory))[\s=]+(?:--\s+)?(?=("[^"]+"|'[^']+'|[^\s;&|)"'`]+))/gi;

function readCommand(text: string, lookup: ProtectedLookup): Command {
  const from = new Set<string>();
  let at: readonly string[] = [];
  for (const [, word = ""] of text.matchAll(GOES_INTO)) {
    // After a variable it may start anywhere; most often that is where the command runs.
    const named = word.replace(/^["']|["']$/g, "").replace(/^\$(?:\w+|\{\w+\})\//, "");
    at = lookup.meanings(named, { from: at }).filter(exists);
    for (const directory of at) from.add(directory);
  }
  return { ...readShell(text), from: [...from], dots: /dotglob|GLOB_?DOTS/i.test(text) };
}

/** Without bare names of directories in quoted sentences: there they are words of a language. */
function withoutProse(
  text: string,
  { prose, isDirectory }: { prose: ShellReading["prose"]; isDirectory: (word: string) => boolean },
): string {
  let [kept, at] = ["", 0];
  for (const { from, to } of prose) {
    const open = text.slice(from, to).replace(
      /(^|\s)([^\s"'`/\\]+?)([.,;:!?]*)(?=\s|$)/g,
      (all, before: string, word: string, behind: string) => isDirectory(word) ? before + behind : all,
    );
    kept += text.slice(at, from) + open;
    at = to;
  }
  return kept + text.slice(at);
}

function spellingsOf(given: string, kind: TextKind): Set<string> {
  const spellings = new Set<string>();
  for (const text of [given, unescaped(given), ...(kind === "command" ? [ansiDecoded(given)] : [])]) {
    spellings.add(text).add(text.replaceAll("\\", "/"));
    if (kind === "command") spellings.add(text.replace(/["'`^]|\\\r?\n|\\/g, ""));
  }
  return spellings;
}

/** A variable, or the end of a command whose output takes its place, and a path after it. */
const BEHIND_VARIABLE = /(?:\$\w+|\$env:\w+|[)}`]|%\w+%|(?:^|[\s=:"'(])~[\w.+-]+)["']*([/\\][^\s"'`;|&<>()=,:#$]+)/gi;

/** Words that a shell substitutes for a variable, set or not. */
const IN_PLACE = /\$\{\w+:?[-+=?]([^\s{}]+)\}/g;

/** Returns the words of all spellings, each once. `loose`: it follows a variable. Throws `usage` for too many words. */
function* distinctWords(text: string, kind: TextKind): Generator<{ word: string; loose: boolean }> {
  const seen = new Set<string>();
  for (const spelling of spellingsOf(text, kind)) {
    for (const word of wordsOf(spelling, kind)) {
      if (seen.has(word)) continue;
      seen.add(word);
      if (seen.size > WORD_LIMIT) throw new AgentcliError("usage", "the text has too many words to be looked at");
      yield { word, loose: false };
    }
    for (const [, word = ""] of spelling.matchAll(BEHIND_VARIABLE)) {
      if (seen.has(`$${word}`)) continue;
      seen.add(`$${word}`);
      yield { word: word.replaceAll("\\", "/"), loose: true };
    }
  }
}

/** Returns the words of a text, each without what may come before or after a name. */
function* wordsOf(text: string, kind: TextKind): Generator<string> {
  // An argument of a tool may be a path as a whole; a path with spaces in a longer text is in quotes.
  if (text.length <= 4096 && text.includes("/") && !text.includes("\n")) yield text.trim();
  for (const [, double, single, back] of text.matchAll(/"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|`([^`\n]{1,4096})`/g)) {
    const quoted = double ?? single ?? back ?? "";
    if (/[\s/]/.test(quoted)) yield quoted;
  }
  const separators = kind === "command" ? /[\s"'`;|&<>()=,:#$]+/ : /[\s"'`;|&<>()=,:#$!?[\]{}]+/;
  for (const word of text.split(separators)) {
    const plain = word.replace(/^@+/, "").replace(/^file:\/\//i, "");
    if (plain === "") continue;
    yield word.startsWith("@") && !plain.includes("/") ? `${plain}/` : plain;
    yield plain.replace(/(?<![.,])[.,]+$/, "");
    if (plain.includes("%")) yield percentDecoded(plain);
    // `-f.env`, `-.env`, `-d@.env`: the value of a short option.
    if (/^-[^-]/.test(plain)) yield* [plain.slice(1), plain.slice(2).replace(/^@/, "")];
  }
  // `@secrets`, `"credentials"`, and `secrets/` are names even where the word alone would be language.
  if (kind === "prose") { for (const [, name] of text.matchAll(/["'`]([^"'`\s/]{1,255})["'`]/g)) yield `${name}/`; }
  else for (const [, word = ""] of text.matchAll(IN_PLACE)) yield word;
}

class NamedPaths {
  readonly #lookup: ProtectedLookup;
  readonly #from: readonly string[];
  readonly #byName = new Map<string, string>();
  readonly #paths: readonly string[];
  readonly #directories: ReadonlySet<string>;
  #known: readonly string[] | null = null;

  constructor(
    lookup: ProtectedLookup,
    { hidden, from }: {
      hidden: { files: readonly string[]; directories: readonly string[] };
      from: readonly string[];
    },
  ) {
    this.#lookup = lookup;
    this.#from = from;
    this.#paths = [...hidden.directories, ...hidden.files];
    for (const path of [...this.#paths, ...lookup.set.files()]) this.#byName.set(foldedText(basename(path)), path);
    const files = new Set([...hidden.files, ...lookup.set.files()].map((path) => foldedText(basename(path))));
    const names = hidden.directories.map((path) => foldedText(basename(path)));
    this.#directories = new Set(names.filter((name) => !files.has(name)));
  }

  /** Whether a bare word is the name of a protected directory, and of no protected file. */
  readonly isDirectory = (word: string): boolean => this.#directories.has(foldedText(word));

  /** A name with characters that separate words is searched as a whole. */
  whole(text: string): PathReference | null {
    const folded = foldedText(text);
    for (const path of this.#paths) if (folded.includes(foldedText(path))) return this.#reference(path);
    for (const [name, path] of this.#byName) {
      if (/[\s"'`;|&<>()=,:#$!?[\]{}]/.test(name) && folded.includes(name)) return this.#reference(path);
    }
    return null;
  }

  word(word: string, kind: TextKind): PathReference | null {
    const path = word.replace(/(?<!\/)\/+$/, "");
    if (path === "" || path === "." || path === "..") return null;
    const asPath = word.includes("/");
    const meanings = this.#lookup.meanings(path, { from: this.#from });
    // In language a bare word means a file only when it looks like one.
    if (kind === "prose" && !asPath && !/[._~\d-]/.test(path)) return null;
    const found = this.#firstOf(meanings, { quoted: kind === "prose" });
    if (found !== null) return found;
    const known = path.includes("/") ? undefined : this.#byName.get(foldedText(path));
    return known === undefined || meanings.some(exists) ? null : this.#reference(known);
  }

  /** A path after a variable: it may start where the command runs, at the home, or at the root of the disk. */
  loose(word: string): PathReference | null {
    const bases = [
      ...this.#lookup.bases,
      ...this.#from,
      ...(this.#lookup.userHome === null ? [] : [this.#lookup.userHome]),
    ];
    const starts = ["", ...bases];
    return this.#firstOf(starts.flatMap((base) => this.#lookup.meanings(base + word.replace(/(?<!\/)\/+$/, ""))));
  }

  /** A protected path that a pattern of the shell means. */
  pattern({ names, dots }: Command): PathReference | null {
    const search = new PatternSearch({ lookup: this.#lookup, from: this.#from, dots });
    for (const name of names) {
      const found = (name.loose ? this.loose(name.text) : this.word(name.text, "command")) ??
        search.first(name, (path) => this.#firstOf([path], name) ?? this.#inside(path));
      if (found !== null) return found;
    }
    return null;
  }

  /** A program that runs on a directory may take all of it. */
  #inside(path: string): PathReference | null {
    const real = realOrNamed(path);
    const found = this.#all().find((one) => isWithin(real, one));
    return found === undefined ? null : this.#reference(found);
  }

  #all(): readonly string[] {
    return this.#known ??= [...new Set([...this.#paths, ...this.#lookup.set.files()])];
  }

  /** `quoted`: programs leave `.git` out by such a pattern, and people speak of it; nothing in it is read then. */
  #firstOf(paths: readonly string[], { quoted = false }: { quoted?: boolean | undefined } = {}): PathReference | null {
    for (const path of paths) {
      const inGit = !quoted && foldedName(basename(path)) !== ".git" && exists(path);
      const rule = this.#lookup.ruleAt(path) ?? (inGit ? this.#lookup.ruleOfGit(path) : null);
      if (rule !== null) return { path, rule };
    }
    return null;
  }

  #reference(path: string): PathReference | null {
    const rule = this.#lookup.ruleAt(path);
    return rule === null ? null : { path, rule };
  }
}
