/**
 * The files that no tool may write, because another program believes or runs them: markers, git internals, hook and
 * MCP configuration, shell start-up files, and this program; and those that commands may not make besides.
 */
import { entriesSync, lstatSync, realPathSync, statSync } from "../../platform/files_sync.ts";
import { basename, dirname, isWithin, join, normalize, relativeTo } from "../../platform/path.ts";
import { ancestors, exists, quietly, realOrNamed } from "../../platform/real_path.ts";
import { isProgramFile } from "../../platform/runtime.ts";
import { foldedName } from "../../platform/case_folded.ts";
import type { GitUser } from "../../shell/git.ts";
import { MARKER_NAME } from "./marker.ts";

/** Files of editors and agents that start processes, in any directory. */
const CONFIGURATION = [
  /(?:^|\/)(?:mcp_config|\.mcp|opencode|\.devcontainer|\.?crush)\.jsonc?$/,
  /(?:^|\/)\.[^/]+\/(?:hooks(?:\.v\d+)?|mcp)\.json$/,
  /(?:^|\/)\.(?:claude|factory)\/settings[^/]*\.json$/,
  // Whoever has hooks of its own keeps them so, in the form that is known or another.
  /(?:^|\/)\.[^/]+\/hooks(?:\/|$)/,
  // Settings name programs too, and let assistants run commands unasked.
  /(?:^|\/)\.(?:vscode|zed)\/(?:tasks|settings|debug)\.json$/,
  /(?:^|\/)(?:[^/]+\.code-workspace|\.aider\.conf\.ya?ml|\.helix\/(?:config|languages)\.toml)$/,
  // Where projects keep the hooks of git, and what tells git of further repositories.
  /(?:^|\/)\.(?:husky|githooks|git-hooks)\//,
  /(?:^|\/)\.gitmodules$/,
  /(?:^|\/)\.kiro\/settings(?:\/|$)/,
  /(?:^|\/)\.amazonq\/cli-agents(?:\/|$)/,
  /(?:^|\/)\.(?:devcontainer|gemini|qwen|codex|opencode)(?:\/|$)/,
];

/**
 * Files and directories from which editors, assistants, shells, and what runs before anything of a project (package
 * managers, managers of hooks) take what they run once the user starts them there. Tools may write these: the user sees
 * each change. A command may not: nobody sees what it makes.
 */
const STARTED_LATER = new Set(
  (".vscode .vs .idea .fleet .zed .nova .theia .helix .nvim .exrc .vimrc .gvimrc .nvimrc .nvim.lua .lvimrc .local.vimrc " +
    ".dir-locals.el .dir-locals-2.el .gdbinit .lldbinit " +
    ".claude .cursor .windsurf .devin .continue .cline .roo .roomodes .kilocode .amazonq .junie .trae .augment .goose " +
    ".factory .crush .kiro .envrc .autoenv .autoenv.zsh .mise .rtx.toml .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs " +
    ".pnpmfile.js .mvn .cargo .bundle .bazelrc .pre-commit-config.yaml .lefthook .overcommit .overcommit.yml").split(
      " ",
    ),
);
const STARTED_LATER_NAMES =
  /(?:^|\/)(?:\.?(?:mise|lefthook)(?:[.-][\w-]+)*\.(?:toml|ya?ml|json)|[^/]+\.sublime-project|\.(?:aider|huskyrc|lintstagedrc)[^/]*|\.yarn\/(?:releases|plugins|sdks))(?:\/|$)/;

/** Hooks of editors and assistants, of a project, of the user and of all users (the tables of `editor`). */
const HOOKS = [
  /(?:^|\/)\.(?:ide|windsurf|devin)\/hooks(?:\.v\d+)?\.json$/,
  /(?:^|\/)\.(?:ide|windsurf|devin|claude|cursor|codex)\/hooks(?:\/|$)/,
  /(?:^|\/)\.(?:claude\/settings(?:\.local)?|(?:cursor|codex)\/hooks)\.json$/,
  /(?:^|\/)(?:\.vendor|\.vendor\/ide|\.codeium\/windsurf|\.config\/devin)\/hooks(?:(?:\.v\d+)?\.json$|\/|$)/,
  /^(?:\/etc|\/library\/application support|[a-z]:\/programdata)\/(?:windsurf|devin)\/hooks(?:\.json$|\/|$)/,
];

/** Where the installer puts the program and its launcher. */
const PROGRAM = [/\/\.local\/share\/agentcli(?:\/|$)/, /\/\.local\/bin\/agentcli$/];

/** Run, or decide what runs, at a login or in a new shell: files of the user's home, and directories of it. */
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

/**
 * Why changing the absolute path would change what is protected, a few words; null when it would not: markers, hooks of
 * editors (the guard is one), and this program.
 */
export function decidesProtection(path: string): string | null {
  const names = path.split("/").map(foldedName);
  const whole = names.join("/");
  if (names.includes(MARKER_NAME)) return "it decides what is protected";
  if (HOOKS.some((rule) => rule.test(whole))) return "it makes other programs run commands";
  return PROGRAM.some((rule) => rule.test(whole)) || isProgramFile(path) ? "it belongs to agentcli itself" : null;
}

/**
 * Why the absolute path may not be written, a few words; null when it may. Looks at names alone, not at the disk.
 * `userHome` is a real path; null when unknown: then files named like start-up files are protected everywhere.
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

/** As {@link writeProtection}, for what a command may neither change nor make: also what is started later. */
export function commandProtection(path: string, userHome: string | null): string | null {
  const reason = writeProtection(path, userHome);
  if (reason !== null) return reason;
  const names = path.split("/").map(foldedName);
  const isStarted = names.some((name) => STARTED_LATER.has(name)) || STARTED_LATER_NAMES.test(names.join("/"));
  return isStarted ? "it makes other programs run commands" : null;
}

/**
 * Why no tool may change a path, a few words; null when one may: by its names, by other names of the same file, and by
 * what git says it would run.
 */
export async function writeProtectionOnDisk(
  { path, real }: { path: string; real: string },
  { roots, markers, user }: { roots: readonly string[]; markers: readonly string[]; user: GitUser },
): Promise<string | null> {
  return writeProtection(path, user.userHome) ?? writeProtection(real, user.userHome) ??
    otherNameProtection(real, { places: [...markers, ...placesNear(roots)], ...user }) ??
    await gitProtection(real, { roots, user });
}

/** Behind links, and by device and inode, of the markers, and of what stands at the top of the roots and in their dot directories. */
function otherNameProtection(
  real: string,
  { places, userHome }: { places: readonly string[]; userHome: string | null },
): string | null {
  const status = quietly(() => statSync(real));
  for (const place of places) {
    const found = quietly(() => lstatSync(place));
    const target = found?.kind === "symlink" ? quietly(() => realPathSync(place)) : null;
    const end = target === null ? null : normalize(target);
    const isSame = status !== null && status.links > 1 && status.inode !== 0 && found?.kind === "file" &&
      found.inode === status.inode && found.device === status.device && place !== real;
    const below = end !== null && isWithin(end, real) ? relativeTo(end, real) : isSame ? "." : null;
    const reason = below === null ? null : writeProtection(join(place, below), userHome);
    if (reason !== null) return reason;
  }
  return null;
}

/** Hooks and their kind need not lie in `.git`: the repositories above a path are asked. */
async function gitProtection(
  real: string,
  { roots, user }: { roots: readonly string[]; user: GitUser },
): Promise<string | null> {
  const repositories = ancestors(dirname(real)).map((above) => join(above, ".git")).filter(exists);
  if (repositories.length === 0) return null;
  const { gitPrograms } = await import("../sandbox/git_programs.ts");
  const programs = gitPrograms({ repositories }, { roots, user });
  if (programs === null) return "git has more settings here than can be read, and could run it";
  return programs.some((program) => isWithin(realOrNamed(program), real))
    ? "git runs it, or reads settings from it"
    : null;
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
