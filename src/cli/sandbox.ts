/** Runs a command in the view of the project, for a person or for another program. */
import { findProgram } from "../boundary/programs.ts";
import { protectedProjects } from "../boundary/policy/project.ts";
import { ContentScanner } from "../agent/content_scanner.ts";
import { sandboxEnvironment } from "../boundary/policy/environment.ts";
import { createSessionSandbox, type SandboxedCommand } from "../boundary/sandbox/sandbox.ts";
import type { OpenJudge } from "../boundary/sandbox/unfinished.ts";
import { runWatched, type WatchedOutcome, type WatchOptions } from "../boundary/sandbox/watched_run.ts";
import { keyVariables } from "../config/endpoint.ts";
import { AgentcliError } from "../errors.ts";
import type { Io, StopSignal } from "../platform/io.ts";
import { isOutputJoined } from "../platform/process.ts";
import { openProjectContext } from "./secrets/context.ts";
import type { Invocation } from "./command.ts";
import type { SANDBOX_OPTIONS } from "./boundary_commands.ts";
import { BoundedOutput } from "../tools/bash/bounded_output.ts";
import { exposureNotice } from "../tools/bash/start.ts";
import { hiddenProgramNotice } from "../tools/bash/hidden_program.ts";
import { configured, notice, warn } from "./result.ts";

/** Commands that without a network would retry silently for minutes, or fail without a reason. */
const NEEDS_NETWORK =
  /(?:^|\/)(?:npm|npx|pnpm|yarn|bun|pip3?|uv|poetry|cargo|go|gem|bundle|composer|mvn|gradle|curl|wget|ssh)$/;

/** The exit code of the command; throws `policy_refused` where there is no sandbox. */
export async function run(
  { options, arguments: [program = "", ...words], context }: Invocation<typeof SANDBOX_OPTIONS>,
): Promise<number> {
  const { io } = context;
  const { root, cwd, protection, record, notices } = await openProjectContext(context, { create: true });
  for (const text of notices) await warn(context, text);
  const { home, configuration } = await configured(context);
  const settings = configuration.sandbox;
  const projects = protectedProjects(home);
  const sandbox = createSessionSandbox({ settings, home: home.path, roots: [root], io, projects });
  protection.refresh();
  const records = record === null ? [] : [record];
  const output = { notify: (text: string) => warn(context, text) };
  // As for a remote model: the command sees nothing protected, unless it is exposed.
  const scanner = new ContentScanner({ root, additional: [], local: false, protection, records }, output);
  const holdsProtected = (text: string) => scanner.holds([text]);
  const openJudge: OpenJudge = (roots) => ContentScanner.at(home, roots, { near: root, own: scanner, ...output });
  for (const text of await sandbox.recoverUnfinished(root, openJudge)) await warn(context, text);
  await protection.reread();
  const network = options.network || settings.network;
  const sandboxed = await sandbox.wrapCommand({
    root,
    additional: [],
    cwd,
    argv: joined(await argvOf([program, ...words], { root, io })),
    env: await sandboxEnvironment(io.environment(), {
      named: settings.env,
      secret: keyVariables(configuration.providers),
      holdsProtected,
    }),
    protection,
    git: !protection.any,
    network,
  });
  if (sandboxed.kind === "refused") {
    throw new AgentcliError("policy_refused", `the command was not run: ${sandboxed.reason}`, {
      hint: sandboxed.hint,
    });
  }
  for (const text of sandboxed.notices) await notice(context, text);
  if (!network && NEEDS_NETWORK.test(program.split(" ", 1)[0] ?? "")) {
    await notice(context, "the sandbox has no network: agentcli sandbox --network -- … gives it");
  }
  const watching: WatchOptions = {
    name: "the command",
    notify: (text) => warn(context, text),
    holdsProtected,
    protectChanges: (...changes) => scanner.protectChanges(...changes),
  };
  const { ended, code, quarantined, exposed, unread, end } = await runOnOwnStreams(sandboxed, { io, watching });
  if (exposed === null) {
    const hidden = code === 0 ? null : hiddenProgramNotice(end, { io, cwd, roots: [root], settings });
    if (hidden !== null) await notice(context, hidden);
    if (ended === "abort" && quarantined !== null) await warn(context, "the command was ended when it made that");
    if (unread !== null) throw unread;
    return code;
  }
  const { message, hint } = exposureNotice(exposed);
  throw new AgentcliError("policy_refused", `${message}, and its output from then on is redacted`, { hint });
}

/** Exit codes of processes that a signal ended. */
const CODE_OF: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** Runs a command on the streams of this process; a signal to this process ends it with all that it started. */
async function runOnOwnStreams(
  command: SandboxedCommand,
  { io, watching }: { io: Io; watching: WatchOptions },
): Promise<WatchedOutcome & { unread: Error | null; end: string }> {
  const stop = new AbortController();
  let code: number | null = null;
  let unread: Error | null = null;
  const output = new BoundedOutput(Infinity);
  const release = io.onSignal((signal) => {
    code ??= CODE_OF[signal];
    stop.abort();
  });
  try {
    const outcome = await runWatched(command, {
      ...watching,
      stdin: "inherit",
      signal: stop.signal,
      async onOutput(bytes, stream) {
        output.add(bytes);
        try {
          if (unread === null) await io[stream].write(bytes);
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          // The reader is gone: the command ends as it would without us, and is still supervised.
          unread = error;
          stop.abort();
        }
      },
    });
    return { ...outcome, code: code ?? outcome.code, unread, end: output.text() };
  } finally {
    release();
  }
}

/** Where both outputs are the same, they are for the command too: two pipes do not preserve the order. */
function joined(argv: [string, ...string[]]): [string, ...string[]] {
  return isOutputJoined() ? ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", ...argv] : argv;
}

/** Returns what is run: a single word that is not a plain name is a line for a shell, as with `watch` and `ssh`. */
async function argvOf(words: [string, ...string[]], { root, io }: { root: string; io: Io }): Promise<typeof words> {
  const [line, ...more] = words;
  if (more.length > 0 || /^[\w./+-]*$/.test(line)) return words;
  const places = `/bin:/usr/bin:/usr/local/bin:/run/current-system/sw/bin:${io.env("PATH") ?? ""}`;
  const shell = await findProgram("bash", { path: places, roots: [root], io });
  return [shell ?? "sh", "-c", line];
}
