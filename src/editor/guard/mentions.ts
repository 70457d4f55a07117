/**
 * Names of protected files in a text. A name is looked for word by word; in a command also without its quotes and
 * backslashes, and as a pattern of the shell. What a program finds by itself, or a name that a shell puts together, is not
 * seen: the documentation says so.
 */
import { foldedText } from "../../boundary/folded.ts";
import { begin, compilePathGlob, covers, step } from "../../boundary/protected_pattern.ts";
import type { ProtectionRule } from "../../boundary/protection_rule.ts";
import { basename, isWithin, relativeTo } from "../../platform/path.ts";
import { exists, type ProtectedView } from "./view.ts";

/** Most words of a text that are looked at; a text with more is not let through unseen, but refused. */
const WORD_LIMIT = 200_000;

/** Where a text comes from: a shell runs the one, the other is language. */
export type TextKind = "command" | "prose";

/** A protected path that a text names. */
export interface Mention {
  path: string;
  rule: ProtectionRule;
}

/** A text with too many words to be looked at. */
export class TooManyWords extends Error {
  override readonly name = "TooManyWords";
}

/** The first protected path that the text names; null when it names none. Throws {@link TooManyWords}. */
export async function findMention(text: string, kind: TextKind, view: ProtectedView): Promise<Mention | null> {
  const named = new NamedPaths(view, await view.set.hidden());
  const spellings = new Set([text, text.replaceAll("\\", "/")]);
  if (kind === "command") spellings.add(text.replace(/["'`^]|\\\r?\n|\\/g, ""));
  let left = WORD_LIMIT;
  const seen = new Set<string>();
  for (const spelling of spellings) {
    const whole = named.whole(spelling);
    if (whole !== null) return whole;
    for (const word of wordsOf(spelling, kind)) {
      if (seen.has(word)) continue;
      seen.add(word);
      if (--left < 0) throw new TooManyWords("the text has too many words to be looked at");
      const found = named.word(word, kind);
      if (found !== null) return found;
    }
  }
  return null;
}

/** The words of a text, each without what may stand before or behind a name. */
function* wordsOf(text: string, kind: TextKind): Generator<string> {
  // An argument of a tool may be a path as a whole; a path with spaces in a longer text stands in quotes.
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
    yield plain.replace(/[.,]+$/, "");
    if (plain.includes("%")) yield decoded(plain);
    // `-f.env`, `-.env`: the value of a short option.
    if (/^-[^-]/.test(plain)) yield* [plain.slice(1), plain.slice(2)];
  }
  // `@secrets`, `"credentials"`, and `secrets/` are names even where the word alone would be language.
  if (kind === "prose") {
    for (const [, name = ""] of text.matchAll(/["'`]([^"'`\s/]{1,255})["'`]/g)) {
      yield `${name}/`;
    }
  }
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

class NamedPaths {
  readonly #view: ProtectedView;
  readonly #byName = new Map<string, string>();
  readonly #paths: readonly string[];
  readonly #directories: ReadonlySet<string>;

  constructor(view: ProtectedView, hidden: { files: readonly string[]; directories: readonly string[] }) {
    this.#view = view;
    this.#directories = new Set(hidden.directories);
    this.#paths = [...hidden.directories, ...hidden.files];
    for (const path of [...this.#paths, ...view.set.files()]) this.#byName.set(foldedText(basename(path)), path);
  }

  /** A name with signs that part words is looked for as a whole. */
  whole(text: string): Mention | null {
    const folded = foldedText(text);
    for (const path of this.#paths) if (folded.includes(foldedText(path))) return this.#mention(path);
    for (const [name, path] of this.#byName) {
      if (/[\s"'`;|&<>()=,:#$!?[\]{}]/.test(name) && folded.includes(name)) return this.#mention(path);
    }
    return null;
  }

  word(word: string, kind: TextKind): Mention | null {
    const path = word.replace(/\/+$/, "");
    if (path === "" || path === "." || path === "..") return null;
    const asPath = word.includes("/");
    for (const meaning of this.#view.meanings(path)) {
      // In language a bare word means a file only when it looks like one.
      if (kind === "prose" && !asPath && !/[._~\d-]/.test(path)) continue;
      const rule = this.#view.ruleAt(meaning);
      if (rule !== null) return { path: meaning, rule };
    }
    if (!path.includes("/") && this.#looksLikeName(path, { kind, asPath })) {
      const known = this.#byName.get(foldedText(path));
      if (known !== undefined && !this.#view.meanings(path).some(exists)) return this.#mention(known);
    }
    return kind === "command" && /[*?[{]/.test(path) ? this.#pattern(path) : null;
  }

  #looksLikeName(word: string, { kind, asPath }: { kind: TextKind; asPath: boolean }): boolean {
    return kind === "command" || asPath || /[._\d-]/.test(word);
  }

  /** A pattern of the shell that a protected path matches. */
  #pattern(word: string): Mention | null {
    const text = word.replace(/\[[^\]]*\]/g, "?").replace(/\{[^}]*\}?/g, "*");
    for (const [glob] of [compilePathGlob(text.replace(/^\.\//, ""))]) {
      if (glob === undefined) continue;
      for (const path of this.#paths) {
        const base = [this.#view.cwd, this.#view.root].find((one) => isWithin(one, path));
        if (base === undefined) continue;
        const names = relativeTo(base, path).split("/");
        const patterns = text.replace(/^\.\//, "").split("/");
        let progress = begin(glob);
        for (const [at, name] of names.entries()) {
          // The shell's star does not mean a hidden name.
          if (name.startsWith(".") && /^[*?]/.test(patterns[Math.min(at, patterns.length - 1)] ?? "")) progress = [];
          else progress = step(glob, { progress, name });
          if (covers(glob, progress)) return this.#mention(path);
        }
        // The pattern goes on below a directory that is protected as a whole.
        if (progress.length > 0 && this.#directories.has(path)) return this.#mention(path);
      }
    }
    return null;
  }

  #mention(path: string): Mention | null {
    const rule = this.#view.ruleAt(path);
    return rule === null ? null : { path, rule };
  }
}
