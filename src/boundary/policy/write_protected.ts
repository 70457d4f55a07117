/** Files that no tool may write, because another program trusts or runs them, and those that no command may create. */
import { entriesSync, lstatSync, statSync } from "../../platform/files.ts";
import { basename, dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { ancestors, exists, quietly, realOrNull } from "../../platform/real_path.ts";
import { isProgramFile } from "../../platform/runtime.ts";
import { foldedName } from "../../platform/case_folded.ts";
import type { GitUser } from "../../shell/git.ts";
import { MARKER_NAME } from "./marker.ts";

/** Files of editors and agents that start processes, in any directory. */
const CONFIGURATION = [
  /(?:^|\/)(?:mcp_config|\.mcp|opencode|\.devcontainer|\.?crush)\.jsonc?$/,
  // Settings of any tool, known or not, that name programs or let assistants run commands without asking.
  /(?:^|\/)\.[^/]+\/(?:hooks|mcp|settings|tasks|debug)[^/]*\.json$/,
  /(?:^|\/)(?:[^/]+\.code-workspace|\.aider\.conf\.ya?ml|\.helix\/(?:config|languages)\.toml|\.gitmodules)$/,
  /(?:^|\/)\.(?:[^/]+\/hooks|husky|githooks|git-hooks|kiro\/settings|amazonq\/cli-agents)(?:\/|$)/,
  /(?:^|\/)\.(?:devcontainer|gemini|qwen|codex|opencode)(?:\/|$)/,
];

/**
 * Files and directories that editors, assistants, shells, package managers and hook managers run code from once the
 * user starts them in the project. Tools may write these, because the user sees each change. Commands may not.
 */
const STARTED_LATER = new Set(
  (".vscode .vs .idea .fleet .zed .nova .theia .helix .nvim .exrc .vimrc .gvimrc .nvimrc .nvim.lua .lvimrc .local.vimrc " +
    ".dir-locals.el .dir-locals-2.el .gdbinit .lldbinit " +
    ".claude .cursor .windsurf .devin .continue .cline .roo .roomodes .kilocode .amazonq .junie .trae .augment .goose " +
    ".factory .crush .kiro .envrc .autoenv .autoenv.zsh .mise .rtx.toml .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs " +
    ".pnpmfile.js .mvn .cargo .bundle .bazelrc .pre-commit-config.yaml .lefthook .overcommit .overcommit.yml " +
    ".lazy.lua .luarc.json .ycm_extra_conf.py .externaltoolbuilders .rprofile .ghci .irbrc .pryrc .pdbrc .iex.exs " +
    ".ocamlinit .octaverc .jshellrc").split(" "),
);
const STARTED_LATER_NAMES =
  /(?:^|\/)(?:\.?(?:mise|lefthook)(?:[.-][\w.-]*)?\.(?:toml|ya?ml|json)|[^/]+\.sublime-project|\.(?:aider|huskyrc|lintstagedrc)[^/]*|\.yarn\/(?:releases|plugins|sdks)|\.pi\/extensions|\.vibe\/config\.toml|\.vim\/coc-settings\.json)(?:\/|$)/;

/**
 * Hooks of editors and assistants: of the project, the user and the system. The same as in the tables of `src/editor`.
 */
const HOOKS = [
  /(?:^|\/)\.(?:ide|windsurf|devin|claude|cursor|codex|vendor|vendor\/ide|codeium\/windsurf|config\/devin)\/hooks(?:(?:\.v\d+)?\.json$|\/|$)/,
  /(?:^|\/)\.claude\/settings(?:\.local)?\.json$/,
  /^(?:\/etc|\/library\/application support|[a-z]:\/programdata)\/(?:windsurf|devin)\/hooks(?:\.json$|\/|$)/,
];

/** Where the installer puts agentcli and its launcher. */
const PROGRAM = [/\/\.local\/share\/agentcli(?:\/|$)/, /\/\.local\/bin\/agentcli$/];

/** Files and directories in the user's home that run, or choose what runs, at login or in a new shell. */
const START_UP_FILES = new Set(
  (".profile .login .logout .inputrc .pam_environment .xprofile .xinitrc .xsession .xsessionrc .gitconfig " +
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .kshrc .mkshrc .cshrc .tcshrc " +
    ".zshrc .zshenv .zprofile .zlogin .zlogout").split(" "),
);
const START_UP_DIRECTORIES = /^(?:\.ssh|\.config\/(?:fish|git|autostart|systemd|powershell)|\.bashrc\.d)(?:\/|$)/;

function isStartUpFile(path: string, userHome: string | null): boolean {
  if (userHome === null) return START_UP_FILES.has(foldedName(basename(path)));
  if (!isWithin(userHome, path)) return false;
  const below = relativeTo(userHome, path).split("/").map(foldedName).join("/");
  return START_UP_FILES.has(below) || START_UP_DIRECTORIES.test(below);
}

/** Returns why a change at the absolute path would change what is protected, in a few words, or null. */
export function decidesProtection(path: string): string | null {
  const names = path.split("/").map(foldedName);
  const whole = names.join("/");
  if (names.includes(MARKER_NAME)) return "it decides what is protected";
  if (HOOKS.some((rule) => rule.test(whole))) return "it makes other programs run commands";
  return PROGRAM.some((rule) => rule.test(whole)) || isProgramFile(path) ? "it belongs to agentcli itself" : null;
}

/**
 * Returns why tools may not write the absolute path, in a few words, or null. Judges names only, not the disk.
 * `userHome` is a real path; if it is null, files named like start-up files are protected everywhere.
 */
export function writeProtection(path: string, userHome: string | null): string | null {
  const names = path.split("/").map(foldedName);
  const decides = decidesProtection(path);
  if (decides !== null) return decides;
  if (names.some((name) => name === ".git" || /^git~\d+$/.test(name))) return "it belongs to git";
  const whole = names.join("/");
  if (CONFIGURATION.some((rule) => rule.test(whole))) return "it makes other programs run commands";
  return isStartUpFile(path, userHome) ? "it runs when a shell or a program starts" : null;
}

/** Like {@link writeProtection}, for commands, which may not create files that run later, either. */
export function commandProtection(path: string, userHome: string | null): string | null {
  const reason = writeProtection(path, userHome);
  if (reason !== null) return reason;
  const names = path.split("/").map(foldedName);
  const isStarted = names.some((name) => STARTED_LATER.has(name)) || STARTED_LATER_NAMES.test(names.join("/"));
  return isStarted ? "it makes other programs run commands" : null;
}

/** Like {@link writeProtection}, also by other names of the same file, and for programs that git's settings name. */
export async function writeProtectionOnDisk(
  { path, real }: { path: string; real: string },
  { roots, markers, user }: { roots: readonly string[]; markers: readonly string[]; user: GitUser },
): Promise<string | null> {
  const { userHome } = user;
  const near = placesNear(userHome === null ? roots : [...roots, userHome]);
  return writeProtection(path, userHome) ?? writeProtection(real, userHome) ??
    otherNameProtection(real, { places: [...markers, ...near], userHome }) ??
    await gitProtection(real, { roots, user });
}

/** Returns the start-up files and settings that are at the top of the user's home, and may be links into a project. */
export function ownSettings(userHome: string | null): string[] {
  return userHome === null
    ? []
    : [...placesNear([userHome])].filter((path) => writeProtection(path, userHome) !== null);
}

/** Compares a file with markers and top-level settings, which may be links to it or other names of it. */
function otherNameProtection(
  real: string,
  { places, userHome }: { places: readonly string[]; userHome: string | null },
): string | null {
  const status = quietly(() => statSync(real));
  for (const place of places) {
    const found = quietly(() => lstatSync(place));
    const end = found?.kind === "symlink" ? realOrNull(place) : null;
    const isSame = status !== null && status.links > 1 && status.inode !== 0 && found?.kind === "file" &&
      found.inode === status.inode && found.device === status.device && place !== real;
    const below = end !== null && isWithin(end, real) ? relativeTo(end, real) : isSame ? "." : null;
    const reason = below === null ? null : writeProtection(join(place, below), userHome);
    if (reason !== null) return reason;
  }
  return null;
}

/** Checks the settings of the repositories above a path, since hooks need not lie in `.git`. */
async function gitProtection(
  real: string,
  { roots, user }: { roots: readonly string[]; user: GitUser },
): Promise<string | null> {
  const repositories = ancestors(dirname(real)).map((above) => join(above, ".git")).filter(exists);
  if (repositories.length === 0) return null;
  const { gitPrograms } = await import("../sandbox/git_programs.ts");
  const programs = gitPrograms({ repositories }, { roots, user });
  if (programs === null) return "git has more settings here than can be read, and could run it";
  return programs.some((program) => isWithin(program, real)) ? "git runs it, or reads settings from it" : null;
}

function* placesNear(roots: readonly string[]): Generator<string> {
  for (const root of roots) {
    for (const { name, isFile } of quietly(() => entriesSync(root)) ?? []) {
      yield join(root, name);
      if (isFile || !name.startsWith(".") || name === ".git") continue;
      for (const below of quietly(() => entriesSync(join(root, name))) ?? []) yield join(root, name, below.name);
    }
  }
}
