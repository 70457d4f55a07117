/** Starts a server that is a program: in a sandbox wherever commands are, and only with its own variables. */
import type { Label } from "../boundary/policy/label.ts";
import { serverClass } from "./server_admission.ts";
import { findProgram, programNamed } from "../boundary/programs.ts";
import { sandboxEnvironment } from "../boundary/policy/environment.ts";
import {
  SANDBOX_REASONS,
  type SandboxReason,
  sandboxReason,
  type SessionSandbox,
} from "../boundary/sandbox/sandbox.ts";
import { runWatched, unsandboxed, type WatchOptions } from "../boundary/sandbox/watched_run.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import type { Io } from "../platform/io.ts";
import { isWithin, resolve } from "../platform/path.ts";
import { endingWithUs } from "../platform/process_group.ts";
import { withTemporaryDirectory } from "../platform/temporary.ts";
import { ServerFailed } from "./link.ts";
import type { McpServer, ResolvedServer } from "./server.ts";
import type { RunProgram } from "./stdio.ts";

export interface SessionScope {
  workspace: Workspace;
  sandbox: SessionSandbox | undefined;
  /** The highest label of what the session holds. */
  label(): Label;
  /** Returns whether texts that are about to leave, or to be stored, hold protected content. */
  found(texts: readonly string[], options?: { isLeaving: boolean }): Promise<boolean>;
  /** Scans what a program changed, once it has ended: see `WatchOptions`. */
  protectChanges: WatchOptions["protectChanges"];
  /** Names of variables that hold keys of providers. */
  secretVariables: readonly string[];
  provider: string;
}

/** Returns why a server's program has to run in a sandbox now; null where it does not. */
export async function isolationOf({ workspace, sandbox, label }: SessionScope): Promise<SandboxReason | null> {
  return await sandboxReason({ workspace, sandbox, sessionLabel: label() });
}

interface ProgramOptions {
  server: McpServer;
  resolved: ResolvedServer;
  scope: SessionScope;
  isolation: SandboxReason | null;
  io: Pick<Io, "env" | "environment" | "os">;
  notify(text: string): void | Promise<void>;
}

/** Variables that programs need to find their files, besides those of a command. */
const NAMED = ["USER", "LOGNAME", "SHELL", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP"];

/**
 * Returns a function that runs the program; it fails with {@link ServerFailed} where the program may not be started, or
 * is missing.
 */
export function programOf(options: ProgramOptions): RunProgram {
  const { scope, isolation, server } = options;
  const { workspace, found } = scope;
  return async (streams) => {
    const { root, additional } = workspace;
    const argv = await commandLine(options);
    const env = await environmentOf(options);
    if (await found([...argv, ...Object.values(options.resolved.env)])) {
      throw new ServerFailed("was not started: its command line or its variables hold protected content");
    }
    const wanted = resolve(root, options.resolved.cwd ?? root);
    const cwd = [root, ...additional].some((place) => isWithin(place, wanted)) ? wanted : root;
    const plain = async () => {
      const line = { argv: [...endingWithUs(argv)] as typeof argv, env, cwd: wanted };
      const program = unsandboxed(line, { ...scope, accepted: isolation });
      return await runWatched(program, { ...streams, ...watching(options) });
    };
    if (isolation === null) return await plain();
    // What a person saves while a program with a network runs would be there for it, and sent at once: no look is soon
    // enough. So it sees nothing of the project.
    const isBlind = isolation === "project" && serverClass(server) === "networked";
    const start = async (within: { root: string; additional: readonly string[]; cwd: string }) => {
      const ran = await sandboxed({ ...options, isolation, argv, env, within }, streams);
      return ran === null ? await plain() : ran;
    };
    return isBlind
      ? await withTemporaryDirectory(({ path }) => start({ root: path, additional: [], cwd: path }))
      : await start({ root, additional, cwd });
  };
}

async function sandboxed(
  { server, scope, isolation, argv, env, within, notify }: ProgramOptions & {
    isolation: SandboxReason;
    argv: [string, ...string[]];
    env: Record<string, string>;
    within: { root: string; additional: readonly string[]; cwd: string };
  },
  streams: Parameters<RunProgram>[0],
) {
  const { workspace: { protection }, sandbox } = scope;
  const wrapped = await sandbox?.wrapCommand({
    ...within,
    argv,
    env,
    protection,
    git: isolation !== "project",
    network: server.network || isolation === "external",
  }) ?? { kind: "refused", missing: true, reason: "there is no sandbox", hint: "see agentcli doctor" };
  if (wrapped.kind === "refused") {
    // As for commands: only where nothing of this project is at stake.
    if (isolation === "external" && wrapped.missing) return null;
    throw new ServerFailed(`was not started: ${SANDBOX_REASONS[isolation]}, and ${wrapped.reason} (${wrapped.hint})`);
  }
  for (const notice of wrapped.notices) await notify(notice);
  return await runWatched(wrapped, { ...streams, ...watching({ server, scope, notify }) });
}

function watching({ server, scope, notify }: Pick<ProgramOptions, "server" | "scope" | "notify">): WatchOptions {
  return {
    name: `the MCP server ${server.name}`,
    notify,
    holdsProtected: async (text) => await scope.found([text]),
    protectChanges: scope.protectChanges,
  };
}

async function commandLine(
  { server, resolved, scope: { workspace }, io }: ProgramOptions,
): Promise<[string, ...string[]]> {
  const { command = "", args } = resolved;
  const { root, additional } = workspace;
  const search = { path: io.env("PATH") ?? io.env("Path") ?? "", roots: [root, ...additional], io };
  const program = await programNamed(command, root, search) ??
    (io.os === "windows" ? await findProgram(`${command}.cmd`, search) : null);
  if (program !== null) return [program, ...args];
  throw new ServerFailed(
    `could not be started: there is no program "${command}" on PATH outside of your projects ` +
      `(install it, or write its whole path: agentcli mcp show ${server.name})`,
  );
}

async function environmentOf(
  { resolved, scope: { found, secretVariables }, io }: ProgramOptions,
): Promise<Record<string, string>> {
  const kept = await sandboxEnvironment(io.environment(), {
    named: NAMED,
    secret: secretVariables,
    holdsProtected: async (text) => await found([text]),
  });
  return { ...kept, ...resolved.env };
}
