/** What git says that it would run, or read more settings from, as far as that lies in the roots. */
import { lstatSync } from "../../platform/files_sync.ts";
import { runForOutput } from "../../platform/process.ts";
import { basename, dirname, isWithin, join, normalize, resolve } from "../../platform/path.ts";
import { quietly } from "../real_path.ts";
import { trustedProgram } from "./backend.ts";
import { parseSettings } from "./git_call.ts";
import { type GitDirectory, gitDirectory } from "../policy/git_directory.ts";

/** Longest time for the question, in milliseconds. */
const DEADLINE_MS = 10_000;
/** Characters of settings that are taken in. */
const LIMIT = 8 * 1024 * 1024;

/** Settings whose value is run, or is a file with more of them. Source: git-config(1). */
const RUN_KEYS =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand|attributesfile)|include(?:if\..*)?\.path|filter\..*\.(?:clean|smudge|process)|diff\.(?:external|.*\.(?:command|textconv))|merge\..*\.driver|sequence\.editor|alias\..*|pager\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|init\.templatedir|interactive\.difffilter|trailer\..*\.(?:command|cmd)|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|submodule\..*\.update|sendemail\..*)$/s;
/** Of those, the ones that name a directory. */
const DIRECTORY_KEYS = /^(?:core\.hookspath|init\.templatedir)$/;

/** Asking prints settings and runs nothing; of the environment only these could change that. */
const ENVIRONMENT = { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "none" };

/** Asks git, again only when a file of settings has changed. */
export class GitPrograms {
  readonly #userHome: string | null;
  #last = { state: "", paths: [] as readonly string[] };

  constructor(userHome: string | null) {
    this.#userHome = userHome;
  }

  /**
   * Returns absolute paths inside of the roots, whether or not something stands there, for places that are named `.git` or
   * are bare repositories; null where git gives no answer in time. The system's git is run without a sandbox: listing settings starts
   * nothing that a repository names, and what counts is what git finds as the user runs it.
   */
  async find(
    { repositories: places }: { repositories: readonly string[] },
    roots: readonly string[],
  ): Promise<readonly string[] | null> {
    // Packs and bundles are no directories.
    const repositories = places.map(gitDirectory).filter((repository) => repository !== null);
    if (repositories.length === 0) return [];
    const own = [".gitconfig", ".config/git/config"].map((name) => `${this.#userHome ?? ""}/${name}`);
    const files = repositories.flatMap(({ directory, common }) => [`${common}/config`, `${directory}/config.worktree`]);
    const state = [...repositories.map(({ directory }) => directory), ...[...files, ...own].map(stateOf)].join("\n");
    if (state === this.#last.state) return this.#last.paths;
    const git = await trustedProgram("git");
    if (git === null) return [];
    const env = { ...ENVIRONMENT, ...this.#userHome === null ? {} : { HOME: this.#userHome } };
    const paths = new Set<string>();
    for (const repository of repositories) {
      const argv = [git, `--git-dir=${repository.directory}`, "config", "--null", "--list"] as const;
      const { ended, bytes } = await runForOutput({ argv, env, cwd: "/", timeoutMs: DEADLINE_MS, limit: LIMIT });
      if (ended !== "exit") return null;
      const settings = parseSettings(new TextDecoder().decode(bytes));
      for (const path of this.#pathsOf(repository, settings)) {
        if (roots.some((root) => path !== root && isWithin(root, path))) paths.add(path);
      }
    }
    this.#last = { state, paths: [...paths] };
    return this.#last.paths;
  }

  #pathsOf({ top, directory, common }: GitDirectory, settings: readonly (readonly [string, string])[]): string[] {
    const runs = ([key, value]: readonly [string, string]) =>
      RUN_KEYS.test(key) && (value.startsWith("!") || !key.startsWith("alias."));
    return settings.filter(runs).flatMap(([key, value]) => {
      const words = new Set([value, ...value.split(/[\s"'`;|&()<>=!]+/)]);
      const paths = [...words].filter((word) => word !== "" && !word.includes("$")).flatMap((word) => {
        const named = word.startsWith("~/") && this.#userHome !== null ? join(this.#userHome, word.slice(2)) : word;
        return [top, directory, common].map((base) => normalize(resolve(base, named)));
      });
      // Husky names a directory of its own making; the scripts that are run lie above it.
      if (DIRECTORY_KEYS.test(key)) return paths.map((path) => basename(path) === "_" ? dirname(path) : path);
      // A word that is a directory of the project is none that is run.
      return paths.filter((path) => kindOf(path) !== "directory" && (value.includes("/") || kindOf(path) === "file"));
    });
  }
}

function stateOf(path: string): string {
  const status = quietly(() => lstatSync(path));
  return status === null ? "-" : `${status.inode}:${status.modified}:${status.changed}:${status.size}`;
}

function kindOf(path: string): string | null {
  return quietly(() => lstatSync(path))?.kind ?? null;
}
