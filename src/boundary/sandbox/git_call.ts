/**
 * Running git on a repository that is untrusted data: always in a sandbox, with what its configuration can make git run
 * switched off. The user's own configuration is not read.
 */
import { runForOutput } from "../../platform/process.ts";
import type { GitDirectory } from "../policy/git_directory.ts";
import type { SandboxedCommand } from "./sandbox.ts";

/** Where git is looked for first, like shells. */
export const GIT_PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";

/** A repository and the git to ask. */
export interface Repository extends GitDirectory {
  /** The program, absolute. */
  git: string;
  /** Settings of the repository that must not count, from {@link filtersOff}. */
  off: Readonly<Record<string, string>>;
  /** Puts a call in a sandbox; throws where there is none. */
  inSandbox(call: PlainCall): Promise<Pick<SandboxedCommand, "argv" | "env" | "cwd">>;
}

/** A call as git itself gets it. */
export interface PlainCall {
  argv: [string, ...string[]];
  env: Record<string, string>;
  access: GitReach;
  /** Files that it may read besides the repository and the working tree. */
  see: readonly string[];
}

/** What a call may change: nothing, the repository, or that and the working tree. */
export type GitReach = "read" | "repository" | "tree";

/** One call. */
export interface GitCall {
  args: readonly string[];
  /** `read` when absent. */
  access?: GitReach | undefined;
  /** Given to git as input. */
  input?: string | undefined;
  /** Milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** More configuration, over that of the repository. */
  settings?: Readonly<Record<string, string>> | undefined;
  /** More variables. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Files that it may read besides the repository and the working tree. */
  see?: readonly string[] | undefined;
  /** Bytes of output that are taken in. */
  limit: number;
}

/** For every call that can show content: drivers for that are named by attributes, and no setting switches all of them off. */
export const PLAIN_DIFF: readonly string[] = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
  "--no-relative",
  // As an argument: what `.gitmodules` says of a submodule comes before the setting, and git would run in it.
  "--ignore-submodules=all",
];

/** Every setting that names a program, and those that would change what the answers mean. */
const SETTINGS = table(`safe.directory=* core.fsmonitor=false core.hooksPath=/dev/null core.attributesFile=/dev/null
  core.excludesFile=/dev/null core.pager=cat core.editor=false core.sshCommand=false core.gitProxy= core.askPass=
  core.alternateRefsCommand=false core.untrackedCache=false core.quotePath=false credential.helper= diff.external=
  diff.relative=false diff.ignoreSubmodules=all diff.submodule=short diff.orderFile=/dev/null commit.gpgSign=false
  commit.template= tag.gpgSign=false gpg.program=false gpg.ssh.program=false gpg.x509.program=false
  log.showSignature=false log.showRoot=true gc.auto=0 maintenance.auto=false submodule.recurse=false`);

/** One by one: what a repository says of one protocol goes before what is said of all. */
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

/** What to start for a call of git: what the repository can make it run is switched off. */
export function gitLine(
  { git, top, directory }: Pick<Repository, "git" | "top" | "directory">,
  { args, settings, env }: Pick<GitCall, "args" | "settings" | "env">,
): Pick<PlainCall, "argv" | "env"> {
  const all = Object.entries({ ...SETTINGS, ...NO_PROTOCOL, ...settings });
  const variables: Record<string, string> = { ...ENVIRONMENT, GIT_CONFIG_COUNT: String(all.length), ...env };
  for (const [index, [key, value]] of all.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { argv: [git, "--no-pager", `--git-dir=${directory}`, `--work-tree=${top}`, ...args], env: variables };
}

/**
 * Runs git and gives what it prints; null when it fails, takes too long, or says more than `limit` bytes. Its error output
 * is dropped, because it can quote content.
 */
export async function callGit(
  repository: Repository,
  { args, access = "read", see = [], env, settings, input, ...call }: GitCall,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const line = gitLine(repository, { args, settings: { ...repository.off, ...settings }, env });
  const started = await repository.inSandbox({ ...line, access, see });
  const { ended, code, bytes, more } = await runForOutput({
    argv: started.argv,
    cwd: started.cwd,
    env: started.env,
    ...call,
    ...input === undefined ? {} : { stdin: new TextEncoder().encode(input) },
  });
  return ended === "exit" && code === 0 && !more ? bytes : null;
}

/** As {@link callGit}, as text. */
export async function askGit(repository: Repository, call: GitCall): Promise<string | null> {
  const bytes = await callGit(repository, call);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** Settings as `git config --null --list` prints them: keys and values, the last of a key behind those before it. */
export function parseSettings(text: string): [key: string, value: string][] {
  return text.split("\0").filter((entry) => entry !== "").map((entry) => {
    const end = entry.indexOf("\n");
    return end < 0 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}

/** Filters run programs on content: settings that empty each one that the given settings name. */
export function filtersOff(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const off: Record<string, string> = {};
  for (const [key] of settings) {
    const name = /^(filter\..*)\.[^.]+$/s.exec(key)?.[1];
    if (name === undefined) continue;
    off[`${name}.clean`] = off[`${name}.smudge`] = off[`${name}.process`] = "";
    off[`${name}.required`] = "false";
  }
  return off;
}
