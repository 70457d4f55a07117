/**
 * Finds the files inside the roots that git would run or read more settings from. Reads git's configuration files
 * itself, because git never runs outside a sandbox. Conditional includes always count.
 */
import { entriesSync, lstatSync, readLinkSync } from "../../platform/files.ts";
import { basename, dirname, isWithin, join, resolve } from "../../platform/path.ts";
import { quietly, realOrNamed, realOrNull } from "../../platform/real_path.ts";
import { type GitUser, settingsIn, userGitSettings } from "../../shell/git.ts";
import { type GitDirectory, gitDirectory } from "../policy/git_directory.ts";
import { isTooLong } from "../policy/listing.ts";
import { readRegularFile } from "../reader.ts";

/** Limits of one look, over all files and repositories: characters of settings, and names of paths in them. */
const MOST_CHARACTERS = 1024 * 1024;
const MOST_NAMES = 30_000;

/** Settings whose value is run, or is a file with more settings. Source: git-config(1). */
const RUN_KEYS =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand|attributesfile)|include(?:if\..*)?\.path|filter\..*\.(?:clean|smudge|process)|diff\.(?:external|.*\.(?:command|textconv))|merge\..*\.driver|sequence\.editor|alias\..*|pager\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|init\.templatedir|interactive\.difffilter|trailer\..*\.(?:command|cmd)|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|submodule\..*\.update|sendemail\..*)$/s;
/** Those of them that name a directory. */
const DIRECTORY_KEYS = /^(?:core\.hookspath|init\.templatedir)$/;
const INCLUDE_KEYS = /^include(?:if\..*)?\.path$/s;

/** A setting that counts. */
interface Setting {
  names: "settings" | "directory" | "program";
  /** The value and each word of it: all can be paths. */
  words: readonly string[];
  /** Whether it means paths also where nothing is there. */
  isPath: boolean;
  /** How many names the words have. */
  size: number;
}

/**
 * Returns absolute paths inside the roots, which need not exist, for repositories at paths named `.git` or bare ones.
 * Returns null if there are too many settings.
 */
export function gitPrograms(
  { repositories }: { repositories: readonly string[] },
  { roots, user }: { roots: readonly string[]; user: GitUser },
): readonly string[] | null {
  const own = new Set<string>();
  const named = new Set(userGitSettings(user));
  const read = settingsReader();
  let left = MOST_NAMES;
  // Packs and bundles are no directories.
  for (const repository of repositories.map(gitDirectory).filter((found) => found !== null)) {
    const { directory, common } = repository;
    const [config, hooks] = [join(common, "config"), join(common, "hooks")];
    own.add(config).add(hooks);
    const system = user.env?.("GIT_CONFIG_SYSTEM") || "/etc/gitconfig";
    const files = new Set([system, ...userGitSettings(user), config, join(directory, "config.worktree")]);
    // The set grows on the way.
    for (const file of files) {
      const settings = read(file);
      if (settings === null) return null;
      for (const setting of settings) {
        if ((left -= setting.size) < 0) return null;
        const [value = ""] = setting.words;
        if (setting.names === "settings") files.add(resolve(dirname(file), inHome(value, user)));
        for (const path of pathsOf(setting, { file, repository, user })) {
          if (path !== config && path !== hooks) named.add(path);
        }
      }
    }
  }
  const paths = new Set<string>();
  for (const path of placesBehind([...own, ...named])) {
    const isOwn = own.has(path) && !named.has(path);
    if (!isOwn && roots.some((root) => path !== root && isWithin(root, path))) paths.add(path);
  }
  return [...paths];
}

/** Returns paths, where they really lie, and where the links in directories among them lead: hooks are often links. */
export function placesBehind(paths: readonly string[]): string[] {
  const ends = new Set(paths.map(endOf));
  const links = [...ends].flatMap((path) =>
    (quietly(() => entriesSync(path)) ?? []).filter(({ isSymlink }) => isSymlink).map(({ name }) => join(path, name))
  );
  return [...paths, ...ends, ...links.map(endOf)];
}

/** Returns where a path leads, even if nothing is there. */
function endOf(path: string): string {
  const target = kindOf(path) === "symlink" ? quietly(() => readLinkSync(path)) : null;
  return realOrNamed(target === null ? path : resolve(realOrNamed(dirname(path)), target));
}

/** Returns what reads the settings in a file that count, each real file once; null if all together are too many. */
function settingsReader(): (file: string) => readonly Setting[] | null {
  const known = new Map<string, Setting[]>();
  let left = MOST_CHARACTERS;
  return (file) => {
    const real = realOrNull(file) ?? file;
    const before = known.get(real);
    if (before !== undefined) return before;
    const found: Setting[] = [];
    known.set(real, found);
    const read = readRegularFile(file, { display: file, limit: left });
    if ("refused" in read) return found;
    if (read.more) return null;
    left -= read.bytes.length;
    for (const [key, value] of settingsIn(new TextDecoder().decode(read.bytes))) {
      // The name of a section counts with each of its settings.
      if ((left -= key.length) < 0) return null;
      if (!RUN_KEYS.test(key) || (key.startsWith("alias.") && !value.startsWith("!"))) continue;
      const names = INCLUDE_KEYS.test(key) ? "settings" : DIRECTORY_KEYS.test(key) ? "directory" : "program";
      const all = names === "settings" ? [value] : [value, ...value.split(/[\s"'`;|&()<>=!]+/)];
      const words = [...new Set(all)].filter((word) => word !== "" && !isTooLong(word));
      found.push({ names, words, isPath: value.includes("/"), size: words.join("/").split("/").length });
    }
    return found;
  };
}

function inHome(path: string, { userHome }: GitUser): string {
  return path.startsWith("~/") && userHome !== null ? join(userHome, path.slice(2)) : path;
}

function pathsOf(
  { names, words, isPath }: Setting,
  { file, repository: { top, directory, common }, user }: { file: string; repository: GitDirectory; user: GitUser },
): string[] {
  const bases = [...new Set([top, directory, common, dirname(file)])];
  const paths = words.filter((word) => !word.includes("$")).flatMap((word) =>
    bases.map((base) => resolve(base, inHome(word, user)))
  );
  // Husky names a generated directory; its scripts lie in the parent.
  if (names === "directory") return paths.map((path) => basename(path) === "_" ? dirname(path) : path);
  // A directory cannot be run.
  return paths.filter((path) => {
    const kind = kindOf(path);
    return kind === "file" || (isPath && kind !== "directory");
  });
}

function kindOf(path: string): string | null {
  return quietly(() => lstatSync(path))?.kind ?? null;
}
