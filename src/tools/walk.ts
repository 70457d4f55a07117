/** Walks a directory tree as Glob and Grep see it: in the order of names, `.gitignore` respected. */
import { compilePattern, type PathPattern } from "./path_pattern.ts";
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import type { DirectoryEntry } from "../platform/files.ts";
import type { Clock } from "../platform/io.ts";
import { isWithin, join, relativeTo } from "../platform/path.ts";
import { isRefusal } from "./result.ts";

interface IgnoreRules {
  /** True: ignored; false: included again by `!`; null: no rule matches. `names` start below the file's directory. */
  verdict(names: readonly string[], isDirectory: boolean): boolean | null;
}

interface IgnoreRule {
  pattern: PathPattern;
  anyDepth: boolean;
  directoryOnly: boolean;
  negated: boolean;
}

/** Rules beyond this are not read: every path is matched with every rule. */
const RULE_LIMIT = 2_000;

/** Reads the text of a `.gitignore`; null when it holds no rule. Source: gitignore(5). Never throws. */
export function parseIgnoreRules(text: string): IgnoreRules | null {
  const rules: IgnoreRule[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const rule = parseRule(line);
    if (rule !== null && rules.length < RULE_LIMIT) rules.push(rule);
  }
  if (rules.length === 0) return null;
  // The last rule that matches decides.
  rules.reverse();
  return {
    verdict(names, isDirectory) {
      const last = names.slice(-1);
      const found = rules.find((rule) =>
        (isDirectory || !rule.directoryOnly) && rule.pattern.matches(rule.anyDepth ? last : names)
      );
      return found === undefined ? null : !found.negated;
    },
  };
}

function parseRule(line: string): IgnoreRule | null {
  if (line.startsWith("#")) return null;
  let text = trimEnd(line);
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const directoryOnly = text.endsWith("/");
  if (directoryOnly) text = text.slice(0, -1);
  if (text === "" || text === "/") return null;
  const pattern = compilePattern(text, { noBraces: true });
  return pattern && { pattern, negated, directoryOnly, anyDepth: !text.includes("/") };
}

/** Without the spaces at the end, except one that a backslash keeps. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  if (line[end - 1] === "\\" && end < line.length) end++;
  return line.slice(0, end);
}

export interface FoundFile {
  path: ResolvedPath;
  /** The names from where the walk began. */
  names: readonly string[];
}

interface WalkOptions {
  signal: AbortSignal;
  clock: Pick<Clock, "monotonic" | "sleep">;
  /** Returns whether a directory has to be read; names from where the walk began. */
  enter?(names: readonly string[]): boolean;
}

/** Directories that are listed ahead of their turn. */
const LISTED_AHEAD = 16;
/** Files that are yielded at once. */
const MOST_AT_ONCE = 32;
/** Milliseconds of work between two pauses. */
const PAUSE_EVERY_MS = 200;
/** Bytes of a `.gitignore` that are read. */
export const IGNORE_FILE_LIMIT = 256 * 1024;

/** The rules above a directory, outermost first, each with the names between its file and the directory. */
export type Chain = readonly { rules: IgnoreRules; above: readonly string[] }[];

interface Listed {
  path: ResolvedPath;
  names: readonly string[];
  chain: Chain;
  entries: DirectoryEntry[];
}

/**
 * The regular files below `start`, links not followed, `.git` and ignored ones left out, hidden ones taken in. A nested
 * repository starts with rules of its own. Directories that cannot be listed are skipped. Yields some files of one
 * directory at a time. Throws the abort reason.
 */
export async function* walkFiles(
  start: ResolvedPath,
  options: WalkOptions & { workspace: Workspace },
): AsyncGenerator<FoundFile[]> {
  const walk = new Walk(options.workspace, options);
  const chain = await walk.chainAbove(start);
  yield* walk.below(await walk.list({ path: start, names: [], chain }));
}

class Walk {
  readonly #workspace: Workspace;
  readonly #options: WalkOptions;
  /** When it last yielded. */
  #paused: number;

  constructor(workspace: Workspace, options: WalkOptions) {
    this.#workspace = workspace;
    this.#options = options;
    this.#paused = options.clock.monotonic();
  }

  async *below(directory: Listed): AsyncGenerator<FoundFile[]> {
    await this.#pause();
    const children = directory.entries.flatMap((entry) => this.#child(directory, entry));
    // Listings are requested ahead, because each waits for the system, and still come in order.
    const ahead: Promise<Listed>[] = [];
    let started = 0;
    const directories = children.filter((child) => child.isDirectory);
    const listAhead = () => {
      while (ahead.length < LISTED_AHEAD && started < directories.length) {
        const next = directories[started++];
        if (next !== undefined) ahead.push(this.list({ ...next, chain: directory.chain }));
      }
    };
    listAhead();
    let files: FoundFile[] = [];
    for (const child of children) {
      if (!child.isDirectory) {
        files.push({ path: child.path, names: child.names });
        if (files.length < MOST_AT_ONCE) continue;
      }
      if (files.length > 0) {
        yield files;
        await this.#pause();
        files = [];
      }
      if (!child.isDirectory) continue;
      const listed = await ahead.shift();
      listAhead();
      if (listed !== undefined) yield* this.below(listed);
    }
    if (files.length > 0) yield files;
  }

  /** All here is synchronous: without a pause nobody would notice a stop. */
  async #pause(): Promise<void> {
    const { clock, signal } = this.#options;
    if (clock.monotonic() - this.#paused > PAUSE_EVERY_MS) {
      await clock.sleep(0);
      this.#paused = clock.monotonic();
    }
    signal.throwIfAborted();
  }

  #child(directory: Listed, entry: DirectoryEntry) {
    const isDirectory = entry.kind === "directory";
    if (entry.name === ".git" || !isDirectory && entry.kind !== "file") return [];
    if (isIgnored(directory.chain, { name: entry.name, isDirectory })) return [];
    const names = [...directory.names, entry.name];
    if (isDirectory && this.#options.enter?.(names) === false) return [];
    const { path, real, display } = directory.path;
    const addressed = `${path}/${entry.name}`;
    const child: ResolvedPath = {
      path: addressed,
      real: path === real ? addressed : `${real}/${entry.name}`,
      display: display === "." ? entry.name : `${display}/${entry.name}`,
    };
    return [{ path: child, names, isDirectory }];
  }

  /** Lists a directory; `chain` is what holds above it, and in the answer what holds in it. */
  async list(place: Omit<Listed, "entries">): Promise<Listed> {
    const listed = await this.#workspace.list(place.path);
    const entries = isRefusal(listed) ? [] : listed;
    const name = place.names.at(-1);
    let chain = name === undefined
      ? place.chain
      : place.chain.map(({ rules, above }) => ({ rules, above: [...above, name] }));
    // What a repository ignores is its own business, not that of the one around it.
    if (name !== undefined && entries.some((entry) => entry.name === ".git")) chain = [];
    const own = entries.some((entry) => entry.name === ".gitignore") ? await this.#rulesIn(place.path) : null;
    return { ...place, entries, chain: own === null ? chain : [...chain, { rules: own, above: [] }] };
  }

  async #rulesIn(directory: ResolvedPath): Promise<IgnoreRules | null> {
    const path = {
      path: join(directory.path, ".gitignore"),
      real: join(directory.real, ".gitignore"),
      display: join(directory.display, ".gitignore"),
    };
    const read = await this.#workspace.read(path, { limit: IGNORE_FILE_LIMIT });
    return isRefusal(read) ? null : parseIgnoreRules(new TextDecoder().decode(read.bytes));
  }

  /** The rules of the directories between the root and `start`, from the innermost repository inward. */
  async chainAbove(start: ResolvedPath): Promise<Chain> {
    const root = [this.#workspace.root, ...this.#workspace.additional].find((one) => isWithin(one, start.real));
    let chain: Chain = [];
    if (root === undefined || start.real === root) return chain;
    const names = relativeTo(root, start.real).split("/");
    for (let depth = 0; depth < names.length; depth++) {
      const path = await this.#workspace.resolve(join(root, ...names.slice(0, depth)));
      if (isRefusal(path)) return chain;
      const isRepository = depth > 0 && await this.#exists(join(path.path, ".git"));
      const rules = await this.#rulesIn(path);
      if (isRepository) chain = [];
      if (rules !== null) chain = [...chain, { rules, above: names.slice(depth) }];
    }
    return await this.#exists(join(start.path, ".git")) ? [] : chain;
  }

  async #exists(path: string): Promise<boolean> {
    const resolved = await this.#workspace.resolve(path);
    return !isRefusal(resolved) && await this.#workspace.status(resolved) !== null;
  }
}

/** Returns whether an entry of a directory is ignored: the innermost rule that speaks of the name decides. */
export function isIgnored(
  chain: Chain,
  { name, isDirectory }: { name: string; isDirectory: boolean },
): boolean {
  for (let at = chain.length - 1; at >= 0; at--) {
    const link = chain[at];
    const verdict = link?.rules.verdict([...link.above, name], isDirectory);
    if (verdict === true || verdict === false) return verdict;
  }
  return false;
}
