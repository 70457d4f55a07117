/** Runs git on the project's repository, which is untrusted data: always in a sandbox. */
import type { GitDirectory } from "../../boundary/policy/git_directory.ts";
import { gitLine } from "../../shell/git.ts";
import type { SandboxedCommand } from "../../boundary/sandbox/sandbox.ts";
import { runForOutput } from "../../platform/process.ts";

export interface Repository extends GitDirectory {
  /** The program, absolute. */
  git: string;
  /** Settings of the repository that must not count, from {@link filtersOff}. */
  off: Readonly<Record<string, string>>;
  inSandbox(call: PlainCall): Promise<Pick<SandboxedCommand, "argv" | "env" | "cwd">>;
}

/** A call as git itself gets it. */
export interface PlainCall {
  argv: [string, ...string[]];
  env: Record<string, string>;
  access: GitReach;
  see: readonly string[];
}

/** The scope of a call's changes: nothing, the repository, or the repository and the working tree. */
type GitReach = "read" | "repository" | "tree";

export interface GitCall {
  args: readonly string[];
  /** `read` when absent. */
  access?: GitReach | undefined;
  /** Given to git as input. */
  input?: string | undefined;
  /** Milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
  settings?: Readonly<Record<string, string>> | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  /** Files that it may read besides the repository and the working tree. */
  see?: readonly string[] | undefined;
  limit: number;
}

/**
 * For every call that can show content: drivers for that are named by attributes, and no setting turns all of them off.
 */
export const PLAIN_DIFF: readonly string[] = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
  "--no-relative",
  // As an argument: what `.gitmodules` says of a submodule comes before the setting, and git would run in it.
  "--ignore-submodules=all",
];

/**
 * Runs git and returns what it prints; null when it fails, takes too long, or prints more than `limit` bytes. Its error
 * output is dropped, because it can quote content.
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

/** Settings as `git config --null --list` prints them: keys and values, the last of a key after those before it. */
export function parseSettings(text: string): [key: string, value: string][] {
  return text.split("\0").filter((entry) => entry !== "").map((entry) => {
    const end = entry.indexOf("\n");
    return end < 0 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}
