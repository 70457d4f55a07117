/** The protected set for a hook: by paths as an editor or a person writes them. */
import { pathOfAddress } from "../../platform/text.ts";
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import { linksTo, openProject, recordSeen } from "../../boundary/policy/project.ts";
import type { Remembered } from "../../boundary/policy/path_rules.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import { describeRule, isOfGit, type ProtectionRule, ruleOfGit } from "../../boundary/policy/protection_rule.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import { listSync, lstatSync, mountPoints, statSync } from "../../platform/files.ts";
import { openHome } from "../../platform/home.ts";
import { dirname, isAbsolute, isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import { exists, quietly, realOrNamed, walkedPath } from "../../platform/real_path.ts";

interface LookupOptions {
  /** Real paths: the project, and what else belongs to the action. The first one is named in messages. */
  roots: readonly string[];
  /** Where relative paths start. */
  cwd: string;
  userHome: string | null;
}

/** Something protected, and the rule that covers it. */
export interface PathReference {
  path: string;
  rule: ProtectionRule;
}

/** `file:///a`, `file:/a`, `vscode-remote://host/a`: editors write files so. One letter is a drive. */
const ADDRESS = /^[a-z][a-z0-9+.-]+:\//i;

/** Most entries outside of a directory that are looked at because links in it lead there. */
const LINKED_LIMIT = 100_000;

/** The protected paths around a hook. */
export class ProtectedLookup {
  readonly set: ProtectedSet;
  readonly #options: LookupOptions;

  readonly #remembered: readonly Remembered[];

  private constructor(
    options: LookupOptions,
    { set, remembered }: { set: ProtectedSet; remembered: readonly Remembered[] },
  ) {
    this.set = set;
    this.#options = options;
    this.#remembered = remembered;
  }

  /**
   * Walks the whole project, like a session: a marker, a link or a moved file can be anywhere in it. With `create`, new
   * facts are recorded in the home, because the assistant may remove what shows them. Throws `home_unusable` if a
   * record cannot be read.
   */
  static async open(
    options: LookupOptions,
    io: Pick<Io, "env" | "os" | "clock">,
    { create = false }: { create?: boolean } = {},
  ): Promise<ProtectedLookup> {
    const [root, ...additional] = options.roots;
    const home = root === undefined ? null : await openHome(io).catch(() => null);
    const recordsIn = async (isStored: boolean) =>
      root === undefined || home === null
        ? []
        : (await openProject(home, root, { additional, create: isStored })).records;
    const records = await recordsIn(false);
    for (const { problem } of records) if (problem !== null) throw problem;
    const links = linksTo([options.cwd], io);
    const set = await ProtectedSet.open(options.roots, { clock: io.clock, remembered: records, links });
    // Where the home cannot be written, the guard still decides by what is there.
    if (create && set.met) await recordSeen(set, await recordsIn(true));
    return new ProtectedLookup(options, { set, remembered: records });
  }

  get root(): string {
    return this.#options.roots[0] ?? this.#options.cwd;
  }

  get roots(): readonly string[] {
    return this.#options.roots;
  }

  get userHome(): string | null {
    return this.#options.userHome;
  }

  /** The directories that a path may start at: the working directory, and the roots. */
  get bases(): readonly string[] {
    return [this.#options.cwd, ...this.#options.roots];
  }

  /**
   * The absolute paths that a word may mean: from the working directory, from each root, and from each of `from`; as an
   * address, without what surrounds it, and as other systems separate names; both as the text says and as the
   * system resolves it, which differ where `..` follows a link. None for what cannot be a path.
   */
  meanings(word: string, { from = [] }: { from?: readonly string[] } = {}): string[] {
    if (word === "" || word.includes("\0")) return [];
    const { cwd, userHome } = this.#options;
    const words = [word];
    if (word.trim() !== word && word.trim() !== "") words.push(word.trim());
    if (ADDRESS.test(word)) words.push(pathOfAddress(word) ?? word);
    for (const one of [...words]) if (one.includes("\\")) words.push(one.replaceAll("\\", "/"));
    const found = new Set<string>();
    for (const one of words) {
      // Not folded yet: the system does not follow the text.
      const path = /^~(?:[/\\]|$)/.test(one) && userHome !== null ? `${userHome}/${one.slice(2)}` : one;
      // `/proc/self/cwd` is the directory of the command.
      const bases = !isAbsolute(path) || /^[/\\](?:proc|dev)[/\\]/.test(path) ? [...this.bases, ...from] : [cwd];
      for (const base of bases) {
        found.add(resolve(base, path));
        const walked = walkedPath(path, base);
        if (walked !== null) found.add(walked);
      }
    }
    return [...found];
  }

  /**
   * The rule that covers a path by any of its names: as written, with links resolved, or as another name of the file.
   */
  ruleAt(path: string): ProtectionRule | null {
    const real = realOrNamed(path);
    const status = quietly(() => lstatSync(real));
    const found = (status?.kind === "file" ? this.set.ruleOfFile(status, real) : this.set.rule(real)) ??
      this.set.rule(path);
    return found === null || this.#isNowhere(real, found) ? null : found;
  }

  /**
   * A word may mean many paths: where there is no directory, a name that is protected at every depth does not count.
   */
  #isNowhere(real: string, { pattern }: ProtectionRule): boolean {
    const directory = dirname(real);
    return !pattern.replace(/\/$/, "").includes("/") && !exists(directory) && this.set.rule(directory) === null;
  }

  /** Returns the rule for what git keeps, by any name; null for other paths, and where nothing is protected. */
  ruleOfGit(path: string): ProtectionRule | null {
    const isGit = isOfGit(path) || isOfGit(realOrNamed(path));
    return isGit && this.set.any ? ruleOfGit(this.set.markers) : null;
  }

  /** The first protected thing of the roots inside of a real directory; null when there is none. */
  async knownInside(directory: string): Promise<PathReference | null> {
    const hidden = await hiddenOf(this.set);
    return firstCovered(this.set, hidden.find((one) => isWithin(directory, one)));
  }

  /** The first protected thing inside of a directory, with its rule; null when there is none. */
  async insideOf(directory: string): Promise<PathReference | null> {
    const real = realOrNamed(directory);
    // The project was walked already, but not what git keeps.
    const walked = this.#options.roots.some((root) => isWithin(root, real)) && !/\/\.git(?:\/|$)/i.test(real);
    const known = walked ? null : await this.knownInside(real);
    if (known !== null) return known;
    const set = walked ? this.set : await ProtectedSet.open([real], { remembered: this.#remembered });
    const hidden = await hiddenOf(set);
    const within = (place: string) => firstCovered(set, hidden.find((one) => one !== place && isWithin(place, one)));
    return within(real) ?? this.#otherNameInside(real, within);
  }

  /**
   * Returns why a directory may not be used as a whole: it holds something protected. Null for anything else. A
   * directory elsewhere without a marker at it or above it is not walked: it may be the whole disk.
   */
  async reasonInside(path: string): Promise<string | null> {
    const real = realOrNamed(path);
    if (quietly(() => statSync(real))?.kind !== "directory") return null;
    const near = this.bases.some((base) => isWithin(base, real));
    const above = this.bases.some((base) => isWithin(real, base));
    // The question reads the markers there.
    this.set.rule(join(real, MARKER_NAME));
    const isRuled = this.set.markers.some((marker) => isWithin(dirname(marker), real));
    if (!near && !above && !isRuled) return null;
    const inside = near || !above ? await this.insideOf(real) : await this.knownInside(real);
    return inside === null ? null : `${this.describeInside(inside)}; name single files of it`;
  }

  /** Returns something protected below a directory under another name: by links, a hard link, or a mount. */
  #otherNameInside(directory: string, within: (place: string) => PathReference | null): PathReference | null {
    const { roots } = this.#options;
    const mounted = mountPoints().some((point) =>
      !roots.includes(point) && (isWithin(directory, point) || roots.some((root) => isWithin(root, point)))
    );
    const anyFile = mounted || !this.#allNamesKnown();
    const waiting = [directory];
    const seen = new Set(waiting);
    let entries = 0;
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const place = at;
      const isLinked = !isWithin(directory, place);
      for (const { name, kind } of quietly(() => listSync(place)) ?? []) {
        if (isLinked && ++entries > LINKED_LIMIT) {
          throw new AgentcliError("usage", "links in the directory lead to too many files to be looked at");
        }
        const path = `${place}/${name}`;
        const real = kind === "symlink" ? realOrNamed(path) : path;
        if (isLinked || kind === "symlink") {
          const rule = this.set.rule(real);
          const found = rule === null ? within(real) : { path, rule };
          if (found !== null) return found;
        }
        const isDirectory = kind === "directory" ||
          kind === "symlink" && quietly(() => statSync(real))?.kind === "directory";
        if (isDirectory && name !== ".git" && !seen.has(real)) {
          seen.add(real);
          waiting.push(real);
        }
        const status = anyFile && kind === "file" ? quietly(() => lstatSync(path)) : null;
        if (status === null || (status.links < 2 && !mounted)) continue;
        const rule = this.set.ruleOfFile(status, path);
        if (rule !== null) return { path, rule };
      }
    }
    return null;
  }

  /** Returns whether every name of every protected file is known: then no file elsewhere can be one of them. */
  #allNamesKnown(): boolean {
    const left = new Map<string, number>();
    for (const path of new Set(this.set.files())) {
      const status = quietly(() => lstatSync(path));
      if (status === null) continue;
      const identity = `${status.device}:${status.inode}`;
      left.set(identity, (left.get(identity) ?? status.links) - 1);
    }
    return [...left.values()].every((names) => names <= 0);
  }

  /** Returns that a directory holds something protected. */
  describeInside({ path, rule }: PathReference): string {
    return `the directory holds protected content: ${this.describe(path, rule)}`;
  }

  /** `secrets/keys.md is protected (.agentclisecret:3 no-cloud: secrets)`. */
  describe(path: string, rule: ProtectionRule): string {
    return `${relativeTo(this.root, path)} is protected (${describeRule(rule, this.root)})`;
  }
}

async function hiddenOf(set: ProtectedSet): Promise<string[]> {
  const { files, directories } = await set.hidden();
  return [...files, ...directories];
}

function firstCovered(set: ProtectedSet, path: string | undefined): PathReference | null {
  const rule = path === undefined ? null : set.rule(path);
  return path === undefined || rule === null ? null : { path, rule };
}
