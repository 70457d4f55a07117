/** What git says that it would run, or read more settings from, as far as that lies in the roots. */
import { lstatSync } from "../../platform/files_sync.ts";
import { runForOutput } from "../../platform/process.ts";
import { basename, dirname, isWithin, join, normalize, resolve } from "../../platform/path.ts";
import { quietly } from "../real_path.ts";
import { parseSettings } from "./git_call.ts";
import { type GitDirectory, gitDirectory } from "../policy/git_directory.ts";
import type { StartLine } from "./plan.ts";

/** Longest time for the question, in milliseconds. */
const DEADLINE_MS = 10_000;
/** Characters of settings that are taken in. */
const LIMIT = 8 * 1024 * 1024;

/** Settings whose value is run, or is a file with more of them. Source: git-config(1). */
const RUN_KEYS =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand|attributesfile)|include(?:if\..*)?\.path|filter\..*\.(?:clean|smudge|process)|diff\.(?:external|.*\.(?:command|textconv))|merge\..*\.driver|sequence\.editor|alias\..*|pager\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|init\.templatedir|interactive\.difffilter|trailer\..*\.(?:command|cmd)|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|remote\..*\.(?:uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|submodule\..*\.update|sendemail\..*)$/s;
/** Of those, the ones that name a directory. */
const DIRECTORY_KEYS = /^(?:core\.hookspath|init\.templatedir)$/;

/** Asks for each repository; `sh -c` with its directories as arguments. No key begins with the line end before a directory. */
const QUESTION = 'git=$1; shift; for d; do printf "\\n%s\\0" "$d"; "$git" --git-dir="$d" config --null --list; done';

/** What to start for a question in a sandbox that sees `more` besides the roots; null where it cannot be made. */
export type AskInSandbox = (
  question: { argv: [string, ...string[]]; env: Record<string, string>; more: { kind: "read"; path: string }[] },
) => Promise<StartLine & { cwd: string } | null>;

/** Asks git, again only when a file of settings has changed. */
export class GitPrograms {
  readonly #userHome: string | null;
  #last = { state: "", paths: [] as readonly string[] };

  constructor(userHome: string | null) {
    this.#userHome = userHome;
  }

  /** Absolute paths inside of the roots, whether or not something stands there. */
  async find(
    { git, sh, places, roots }: { git: string; sh: string; places: readonly string[]; roots: readonly string[] },
    ask: AskInSandbox,
  ): Promise<readonly string[]> {
    const repositories = places.map(gitDirectory).filter((repository) => repository !== null);
    if (repositories.length === 0) return [];
    const own = this.#userHome === null
      ? []
      : [join(this.#userHome, ".gitconfig"), join(this.#userHome, ".config/git")];
    const files = repositories.flatMap(({ directory, common }) => [
      join(common, "config"),
      join(directory, "config.worktree"),
    ]);
    const watched = [...files, ...own, ...own.map((path) => join(path, "config"))];
    const state = [...repositories.map(({ directory }) => directory), ...watched.map(stateOf)].join("\n");
    if (state === this.#last.state) return this.#last.paths;
    const started = await ask({
      argv: [sh, "-c", QUESTION, "sh", git, ...repositories.map(({ directory }) => directory)],
      env: { PATH: "/usr/bin:/bin", ...this.#userHome === null ? {} : { HOME: this.#userHome }, ...ENVIRONMENT },
      more: [
        ...repositories.map(({ common }) => common),
        ...repositories.map(({ directory }) => directory),
        ...own.filter((path) => stateOf(path) !== "-"),
      ].map((path) => ({ kind: "read", path })),
    });
    if (started === null) return [];
    const { bytes } = await runForOutput({ ...started, timeoutMs: DEADLINE_MS, limit: LIMIT });
    const text = new TextDecoder().decode(bytes);
    const paths = text.split("\0\n").flatMap((answer) => {
      const [directory, ...settings] = answer.replace(/^\n/, "").split("\0");
      const repository = repositories.find((one) => one.directory === directory);
      return repository === undefined ? [] : this.#pathsOf(repository, parseSettings(settings.join("\0")));
    });
    const inside = [...new Set(paths)].filter((path) => roots.some((root) => path !== root && isWithin(root, path)));
    this.#last = { state, paths: inside };
    return inside;
  }

  #pathsOf({ top, directory, common }: GitDirectory, settings: readonly (readonly [string, string])[]): string[] {
    return settings.filter(([key]) => RUN_KEYS.test(key)).flatMap(([key, value]) => {
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

/** The question prints settings and runs nothing; of the environment only these could change that. */
const ENVIRONMENT = { LC_ALL: "C.UTF-8", GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "none", GIT_PAGER: "cat" };

function stateOf(path: string): string {
  const status = quietly(() => lstatSync(path));
  return status === null ? "-" : `${status.inode}:${status.modified}:${status.changed}:${status.size}`;
}

function kindOf(path: string): string | null {
  return quietly(() => lstatSync(path))?.kind ?? null;
}
