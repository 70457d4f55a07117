/** Output of commands besides their result: notices, warnings, errors, and the host of a session. */
import { clean } from "../terminal/clean.ts";
import type { Context } from "./command.ts";
import { asAgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import type { Host } from "../runtime/host.ts";
import { createProgress } from "../terminal/paced_output.ts";
import { VERSION } from "./version.ts";

/** Useful information, one line. */
export async function notice({ io, globals }: Context, text: string): Promise<void> {
  if (!globals.quiet) await io.stderr.write(clean(text) + "\n");
}

/** Something likely wrong that is not a failure, one line. */
export async function warn(context: Context, text: string): Promise<void> {
  await notice(context, `warning: ${text}`);
}

/** Shows `error` and returns the exit code. JSON goes to stdout, lines to stderr. */
export async function showError(
  error: unknown,
  io: Io,
  options: { json: boolean; verbose: boolean },
): Promise<number> {
  const shown = asAgentcliError(error);
  if (options.json) {
    const body = { error: { code: shown.code, message: shown.message, hint: shown.hint ?? null } };
    await io.stdout.write(JSON.stringify(body) + "\n");
  } else {
    let text = `agentcli: ${clean(shown.message)}\n`;
    if (shown.hint !== undefined) text += `  ${clean(shown.hint)}\n`;
    await io.stderr.write(text);
  }
  // A stack names places in the program, not what was worked on: the message of a bug may quote data, its frames do
  // not.
  if (options.verbose && shown.code === "internal" && error instanceof Error) {
    const frames = (error.stack ?? "").split("\n").filter((frame) => /^\s+at /.test(frame));
    await io.stderr.write(clean(frames.join("\n"), { multiline: true }) + "\n");
  }
  return shown.exitCode;
}

/** Returns the host of a command; `more` is what the surface does differently. */
export function hostOf({ io, globals }: Context, more: Partial<Host> = {}): Host {
  const progress = createProgress(io, globals);
  const warn = async (text: string) => {
    await progress.stop();
    await io.stderr.write(`agentcli: ${clean(text)}\n`);
  };
  return {
    io,
    cwd: globals.cwd,
    version: VERSION,
    verbose: globals.verbose,
    notice: globals.quiet ? () => {} : warn,
    warn,
    waiting(label) {
      void progress.stop();
      progress.start(label);
      return async () => await progress.stop();
    },
    ...more,
  };
}
