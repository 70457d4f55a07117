/**
 * Finds the files inside the roots that git would run or read more settings from. Reads git's configuration files
 * itself, because git never runs outside a sandbox. Conditional includes always count.
 */
import { entriesSync, lstatSync, readLinkSync } from "../../platform/files.ts";
import { basename, dirname, isWithin, join, normalize, resolve } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { type GitUser, settingsIn, userGitSettings } from "../../shell/git.ts";
import { type GitDirectory, gitDirectory } from "../policy/git_directory.ts";
import { readRegularFile } from "../reader.ts";

/** Limits of one file in bytes, and of files that include one another: more than git itself accepts. */
const FILE_LIMIT = 8 * 1024 * 1024;
const MOST_FILES = 500;

/** Settings whose value is run, or is a file with more settings. Source: git-config(1). */
const RUN_KEYS =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand|attributesfile)|include(?:if\..*)?\.path|filter\..*\.(?:clean|smudge|process)|diff\.(?:external|.*\.(?:command|textconv))|merge\..*\.driver|sequence\.editor|alias\..*|pager\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|init\.templatedir|interactive\.difffilter|trailer\..*\.(?:command|cmd)|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|submodule\..*\.update|sendemail\..*)$/s;
/** Those of them that name a directory. */
const DIRECTORY_KEYS = /^(?:core\.hookspath|init\.templatedir)$/;
const INCLUDE_KEYS = /^include(?:if\..*)?\.path$/s;

/** One setting and its file. */
interface Setting {
  key: string;
  value: string;
  file: string;
}

/**
 * Returns absolute paths inside the roots, which need not exist, for repositories at paths named `.git` or bare ones.
 * Returns null if there are too many settings.
 */
export function gitPrograms(
  { repositories }: { repositories: readonly string[] },
  { roots, user }: { roots: readonly string[]; user: GitUser },
): readonly string[] | null {
  const paths = new Set<string>();
  // Packs and bundles are no directories.
  for (const repository of repositories.map(gitDirectory).filter((found) => found !== null)) {
    const settings = settingsOf(repository, user);
    if (settings === null) return null;
    const own = [join(repository.common, "hooks"), join(repository.common, "config")];
    const named = settings.flatMap((setting) => pathsOf(setting, { repository, user }));
    for (const path of [...own, ...userGitSettings(user), ...named].flatMap(placesBehind)) {
      if (!own.includes(path) && roots.some((root) => path !== root && isWithin(root, path))) paths.add(path);
    }
  }
  return [...paths];
}

/** Returns a path, where it really lies, and where the links in it lead if it is a directory: hooks are often links. */
export function placesBehind(path: string): string[] {
  const links = (quietly(() => entriesSync(path)) ?? []).filter(({ isSymlink }) => isSymlink);
  const ends = [path, ...links.map(({ name }) => join(path, name))].map((named) => {
    const target = quietly(() => readLinkSync(named));
    return realOrNamed(target === null ? named : resolve(realOrNamed(dirname(named)), target));
  });
  return [path, ...ends];
}

function settingsOf({ directory, common }: GitDirectory, user: GitUser): Setting[] | null {
  const system = user.env?.("GIT_CONFIG_SYSTEM") || "/etc/gitconfig";
  const files = new Set([system, ...userGitSettings(user), join(common, "config"), join(directory, "config.worktree")]);
  const found: Setting[] = [];
  // The set grows on the way.
  for (const file of files) {
    const read = readRegularFile(file, { display: file, limit: FILE_LIMIT });
    if ("refused" in read) continue;
    if (read.more || files.size > MOST_FILES) return null;
    for (const [key, value] of settingsIn(new TextDecoder().decode(read.bytes))) {
      found.push({ key, value, file });
      if (INCLUDE_KEYS.test(key)) files.add(resolve(dirname(file), inHome(value, user)));
    }
  }
  return found;
}

function inHome(path: string, { userHome }: GitUser): string {
  return path.startsWith("~/") && userHome !== null ? join(userHome, path.slice(2)) : path;
}

function pathsOf(
  { key, value, file }: Setting,
  { repository: { top, directory, common }, user }: { repository: GitDirectory; user: GitUser },
): string[] {
  if (!RUN_KEYS.test(key) || (key.startsWith("alias.") && !value.startsWith("!"))) return [];
  const words = new Set([value, ...value.split(/[\s"'`;|&()<>=!]+/)]);
  const paths = [...words].filter((word) => word !== "" && !word.includes("$")).flatMap((word) =>
    [top, directory, common, dirname(file)].map((base) => normalize(resolve(base, inHome(word, user))))
  );
  // Husky names a generated directory; its scripts lie in the parent.
  if (DIRECTORY_KEYS.test(key)) return paths.map((path) => basename(path) === "_" ? dirname(path) : path);
  // A directory cannot be run.
  return paths.filter((path) => kindOf(path) !== "directory" && (value.includes("/") || kindOf(path) === "file"));
}

function kindOf(path: string): string | null {
  return quietly(() => lstatSync(path))?.kind ?? null;
}
