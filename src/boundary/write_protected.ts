/**
 * The files that no tool may write, because another program believes or runs them: markers, git internals, hook and
 * MCP configuration, shell start-up files. `.envrc` is not among them: direnv runs it only after the user allowed that
 * very content.
 */
import { basename, isWithin, relativeTo } from "../platform/path.ts";
import { foldedName } from "./folded.ts";
import { MARKER_NAME } from "./marker.ts";

/** Files of editors and agents that start processes, in any directory. `hooks/` holds the scripts of `hooks.json`. */
const CONFIGURATION = [
  /(?:^|\/)(?:mcp_config|\.mcp)\.json$/,
  /(?:^|\/)\.[^/]+\/(?:hooks(?:\.v\d+)?|mcp)\.json$/,
  /(?:^|\/)\.(?:ide|windsurf|devin|claude|cursor)\/hooks(?:\/|$)/,
  /(?:^|\/)\.claude\/settings[^/]*\.json$/,
];

/** What runs, or decides what runs, at a login or in a new shell: files of the user's home, and directories of it. */
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
 * Why the absolute path may not be written, a few words; null when it may. Looks at names alone, not at the disk.
 * `userHome` is a real path; null when unknown: then files named like start-up files are protected everywhere.
 */
export function writeProtection(path: string, userHome: string | null): string | null {
  const names = path.split("/").map(foldedName);
  if (names.includes(MARKER_NAME)) return "it decides what is protected";
  if (names.some((name) => name === ".git" || /^git~\d+$/.test(name))) return "it belongs to git";
  const whole = names.join("/");
  if (CONFIGURATION.some((rule) => rule.test(whole))) return "it makes other programs run commands";
  return isStartUpFile(path, userHome) ? "it runs when a shell or a program starts" : null;
}
