/**
 * Running git on a repository that is untrusted data: what its configuration can make git run is switched off, and the
 * user's own configuration is not read. For questions about history, and for the tool that stands in for git.
 */
import { type ProcessOutcome, run } from "../../platform/process.ts";
import { join } from "../../platform/path.ts";
import type { SandboxedCommand } from "./request.ts";

/** A repository and the git to ask. */
export interface Repository {
  /** The program, absolute. */
  git: string;
  /** The working tree: the directory that holds `.git`, absolute. */
  top: string;
  /** Where the repository lies, absolute; `.git` in the working tree when absent. */
  directory?: string | undefined;
  /**
   * Puts a call in a sandbox; throws where there is none. Without it only questions about objects may be asked: what
   * looks at a working tree can be made to run programs.
   */
  inSandbox?(call: PlainCall): Promise<Omit<SandboxedCommand, "kind" | "notices">>;
}

/** A call as git itself gets it. */
export interface PlainCall {
  argv: [string, ...string[]];
  env: Record<string, string>;
  access: "read" | "write";
}

/** One call. */
export interface GitCall {
  args: readonly string[];
  /** Whether the repository may be changed, where a sandbox decides; `read` when absent. */
  access?: "read" | "write";
  /** Given to git as input. */
  input?: string;
  /** Milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** More configuration, over that of the repository. */
  settings?: Readonly<Record<string, string>>;
  /** Standard output as it comes. */
  onOutput(bytes: Uint8Array<ArrayBuffer>): void;
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
const SETTINGS: Readonly<Record<string, string>> = {
  "safe.directory": "*",
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.attributesFile": "/dev/null",
  "core.excludesFile": "/dev/null",
  "core.pager": "cat",
  "core.editor": "false",
  "core.sshCommand": "false",
  "core.gitProxy": "",
  "core.askPass": "",
  "core.alternateRefsCommand": "false",
  "core.untrackedCache": "false",
  "core.quotePath": "false",
  "credential.helper": "",
  "diff.external": "",
  "diff.relative": "false",
  "diff.ignoreSubmodules": "all",
  "diff.submodule": "short",
  "diff.orderFile": "/dev/null",
  "protocol.allow": "never",
  "commit.gpgSign": "false",
  "commit.template": "",
  "tag.gpgSign": "false",
  "gpg.program": "false",
  "gpg.ssh.program": "false",
  "gpg.x509.program": "false",
  "log.showSignature": "false",
  "log.showRoot": "true",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "submodule.recurse": "false",
};

/** Of git itself: nothing of ours, nothing that points elsewhere. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  HOME: "/nonexistent",
  LC_ALL: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null",
  GIT_LITERAL_PATHSPECS: "1",
};

/** Runs git; its error output is dropped, because it can quote content. */
export async function callGit(repository: Repository, call: GitCall): Promise<ProcessOutcome> {
  const settings = Object.entries({ ...SETTINGS, ...await silencedFilters(repository, call), ...call.settings });
  return await start(repository, call, settings);
}

/** Runs git and gives its standard output; null when it fails, takes too long, or says more than `limit` characters. */
export async function askGit(
  repository: Repository,
  call: Omit<GitCall, "onOutput"> & { limit: number },
): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = "";
  const onOutput = (bytes: Uint8Array) => {
    if (text.length <= call.limit) text += decoder.decode(bytes, { stream: true });
  };
  const outcome = await callGit(repository, { ...call, onOutput });
  return outcome.ended === "exit" && outcome.code === 0 && text.length <= call.limit ? text : null;
}

/** Filters run programs on content; the names of all that the repository sets are found and each is emptied. */
async function silencedFilters(repository: Repository, call: GitCall): Promise<Record<string, string>> {
  const decoder = new TextDecoder();
  let text = "";
  const onOutput = (bytes: Uint8Array) => text += decoder.decode(bytes, { stream: true });
  const args = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
  // Reading settings starts nothing, and needs no sandbox.
  const plain = { git: repository.git, top: repository.top, directory: repository.directory };
  await start(plain, { ...call, args, input: "", onOutput }, Object.entries(SETTINGS));
  const off: Record<string, string> = {};
  for (const key of text.split("\0")) {
    const name = /^(filter\..*)\.[^.]+$/s.exec(key)?.[1];
    if (name === undefined) continue;
    off[`${name}.clean`] = off[`${name}.smudge`] = off[`${name}.process`] = "";
    off[`${name}.required`] = "false";
  }
  return off;
}

async function start(
  repository: Repository,
  call: GitCall,
  settings: readonly (readonly [string, string])[],
): Promise<ProcessOutcome> {
  const env: Record<string, string> = { ...ENVIRONMENT, GIT_CONFIG_COUNT: String(settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  const { git, top } = repository;
  const directory = repository.directory ?? join(top, ".git");
  const argv: [string, ...string[]] = [git, "--no-pager", `--git-dir=${directory}`, `--work-tree=${top}`, ...call.args];
  const plain = { argv, cwd: top, env, finish: () => Promise.resolve() };
  const started = await repository.inSandbox?.({ argv, env, access: call.access ?? "read" }) ?? plain;
  const outcome = await run({
    argv: started.argv,
    cwd: started.cwd,
    env: started.env,
    timeoutMs: call.timeoutMs,
    ...call.signal === undefined ? {} : { signal: call.signal },
    ...call.input === undefined ? {} : { stdin: new TextEncoder().encode(call.input) },
    onOutput: (bytes, stream) => {
      if (stream === "stdout") call.onOutput(bytes);
    },
  });
  await started.finish();
  return outcome;
}
