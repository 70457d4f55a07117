/**
 * Git's command line for a repository that is untrusted data: what its settings can make git run is turned off, and the
 * user's are not read. Also its settings files, for callers who check them.
 */
import { isAbsolute, join } from "../platform/path.ts";

/** Where git is searched first, like shells. */
export const GIT_PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";

/** Every setting that names a program, and those that would change what the answers mean. */
const SETTINGS = table(`safe.directory=* core.fsmonitor=false core.hooksPath=/dev/null core.attributesFile=/dev/null
  core.excludesFile=/dev/null core.pager=cat core.editor=false core.sshCommand=false core.gitProxy= core.askPass=
  core.alternateRefsCommand=false core.untrackedCache=false core.quotePath=false credential.helper= diff.external=
  diff.relative=false diff.ignoreSubmodules=all diff.submodule=short diff.orderFile=/dev/null commit.gpgSign=false
  commit.template= tag.gpgSign=false gpg.program=false gpg.ssh.program=false gpg.x509.program=false
  log.showSignature=false log.showRoot=true gc.auto=0 maintenance.auto=false submodule.recurse=false`);

/** One by one: a repository's setting for one protocol overrides the one for all. */
const NO_PROTOCOL = table(`protocol.allow=never protocol.file.allow=never protocol.ext.allow=never
  protocol.git.allow=never protocol.ssh.allow=never protocol.http.allow=never protocol.https.allow=never`);

/** Of git itself: nothing of ours, nothing that points elsewhere, and no protocol. */
const ENVIRONMENT = table(`PATH=/usr/bin:/bin HOME=/nonexistent LC_ALL=C.UTF-8 GIT_CONFIG_NOSYSTEM=1
  GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
  GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 GIT_NO_REPLACE_OBJECTS=1
  GIT_GRAFT_FILE=/dev/null GIT_LITERAL_PATHSPECS=1`);

function table(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(text.split(/\s+/).map((word) => word.split("=") as [string, string]));
}

/** Returns what to start for a call of git: what the repository can make it run is turned off. */
export function gitLine(
  { git, top, directory }: { git: string; top: string; directory: string },
  { args, settings, env }: {
    args: readonly string[];
    /** More configuration, over that of the repository. */
    settings?: Readonly<Record<string, string>> | undefined;
    env?: Readonly<Record<string, string>> | undefined;
  },
): { argv: [string, ...string[]]; env: Record<string, string> } {
  const all = Object.entries({ ...SETTINGS, ...NO_PROTOCOL, ...settings });
  const variables: Record<string, string> = { ...ENVIRONMENT, GIT_CONFIG_COUNT: String(all.length), ...env };
  for (const [index, [key, value]] of all.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { argv: [git, "--no-pager", `--git-dir=${directory}`, `--work-tree=${top}`, ...args], env: variables };
}

export interface GitUser {
  userHome: string | null;
  /** The variables that name other settings files. */
  env?: ((name: string) => string | undefined) | undefined;
}

/** Returns the user's own settings files, those that others override first. */
export function userGitSettings({ userHome, env = () => undefined }: GitUser): string[] {
  const named = env("GIT_CONFIG_GLOBAL") ?? "";
  const home = userHome ?? "/nonexistent";
  const own = named === ""
    ? [join(env("XDG_CONFIG_HOME") || join(home, ".config"), "git/config"), join(home, ".gitconfig")]
    : [named];
  return own.filter(isAbsolute);
}

/** A comment; the head of a section; a setting up to the comment behind it; or the rest of a line that git refuses. */
const PIECE =
  /[#;][^\n]*|\[([^\]"[\n]*)(?:"((?:[^"\\\n]|\\.)*)"\s*)?\]|([a-z][a-z0-9-]*)[ \t]*=((?:"(?:[^"\\\n]|\\(?:\r\n|[^]))*"?|\\(?:\r\n|[^])|[^"\\\n#;])*)|\S[^\n]*/gi;

/** Yields what a file sets. What git refuses is passed over. */
export function* settingsIn(text: string): Generator<[key: string, value: string]> {
  let section = "";
  for (const [, head, below, name, value = ""] of text.matchAll(PIECE)) {
    const sub = below === undefined ? "" : `.${below.replace(/\\(.)/g, "$1")}`;
    if (head !== undefined) section = head.trim().toLowerCase() + sub;
    else if (name !== undefined) yield [`${section}.${name.toLowerCase()}`, unquoted(value)];
  }
}

function unquoted(value: string): string {
  const signs: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
  const line = value.replace(/\\\r?\n/g, "").trim();
  return line.replace(/"|\\(.)/g, (_, sign: string = "") => signs[sign] ?? sign);
}
