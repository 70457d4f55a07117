/** Walks a directory tree as Glob and Grep see it: in the order of names, `.gitignore` respected. */
import { compilePattern, type PathPattern } from "./path_pattern.ts";
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
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

/** Files that are yielded at once. */
const MOST_AT_ONCE = 32;
/** Milliseconds of work between two pauses. */
const PAUSE_EVERY_MS = 200;
/** Bytes of a `.gitignore` that are read. */
const IGNORE_FILE_LIMIT = 256 * 1024;

/** The rules that hold in a directory, outermost first, each with the names between its file and the directory. */
export type Chain = readonly { rules: IgnoreRules; above: readonly string[] }[];

export const NO_RULES: Chain = [];

interface Place {
  path: ResolvedPath;
  /** From where the walk began. */
  names: readonly string[];
  /** The rules of the directories above. */
  outer: Chain;
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
  yield* walk.below({ path: start, names: [], outer: await walk.chainAbove(start) });
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

  async *below(place: Place): AsyncGenerator<FoundFile[]> {
    await this.#pause();
    const { entries, chain } = await this.#enter(place.path, place.outer);
    let files: FoundFile[] = [];
    for (const entry of entries) {
      const isDirectory = entry.kind === "directory";
      if (entry.name === ".git" || !isDirectory && entry.kind !== "file") continue;
      if (isIgnored(chain, { name: entry.name, isDirectory })) continue;
      const names = [...place.names, entry.name];
      if (isDirectory && this.#options.enter?.(names) === false) continue;
      const path = childOf(place.path, entry.name);
      if (!isDirectory) {
        files.push({ path, names });
        if (files.length < MOST_AT_ONCE) continue;
      }
      if (files.length > 0) {
        yield files;
        await this.#pause();
        files = [];
      }
      if (isDirectory) yield* this.below({ path, names, outer: chainBelow(chain, entry.name) });
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

  async #enter(directory: ResolvedPath, outer: Chain) {
    const listed = await this.#workspace.list(directory);
    const entries = isRefusal(listed) ? [] : listed;
    const has = (name: string) => entries.some((entry) => entry.name === name);
    const own = has(".gitignore") ? ignoreRulesIn(directory, this.#workspace) : null;
    if (own !== null) this.#workspace.noteUsed(childOf(directory, ".gitignore"));
    return { entries, chain: chainIn(outer, { own, isRepository: has(".git") }) };
  }

  /** The rules of the directories from the root to `start`. */
  async chainAbove(start: ResolvedPath): Promise<Chain> {
    const root = [this.#workspace.root, ...this.#workspace.additional].find((one) => isWithin(one, start.real));
    let chain = NO_RULES;
    if (root === undefined || start.real === root) return chain;
    const names = relativeTo(root, start.real).split("/");
    for (const [depth, name] of names.entries()) {
      const path = await this.#workspace.resolve(join(root, ...names.slice(0, depth)));
      if (isRefusal(path)) return chain;
      chain = chainBelow((await this.#enter(path, chain)).chain, name);
    }
    return chain;
  }
}

function childOf({ path, real, display }: ResolvedPath, name: string): ResolvedPath {
  return {
    path: `${path}/${name}`,
    real: `${real}/${name}`,
    display: display === "." ? name : `${display}/${name}`,
  };
}

/** Returns the rules in a directory, given those from above: what a repository ignores is its own business. */
export function chainIn(
  outer: Chain,
  { own, isRepository }: { own: IgnoreRules | null; isRepository: boolean },
): Chain {
  const above = isRepository ? NO_RULES : outer;
  return own === null ? above : [...above, { rules: own, above: [] }];
}

/** Returns the rules of a directory for the one of this name in it. */
export function chainBelow(chain: Chain, name: string): Chain {
  return chain.length === 0 ? chain : chain.map(({ rules, above }) => ({ rules, above: [...above, name] }));
}

/** Reads the `.gitignore` of a directory; null where it has no rules or may not be read. */
export function ignoreRulesIn(directory: ResolvedPath, workspace: Workspace): IgnoreRules | null {
  const read = workspace.peek(childOf(directory, ".gitignore"), { limit: IGNORE_FILE_LIMIT });
  return isRefusal(read) ? null : parseIgnoreRules(new TextDecoder().decode(read.bytes));
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
