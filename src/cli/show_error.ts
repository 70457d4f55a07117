/** How a failure is shown: one line what failed, one line what to do; as JSON where JSON was asked for. */
import { asAgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import { clean } from "../terminal/clean.ts";

/** Shows `error` and gives the exit code. JSON goes to stdout, lines to stderr. */
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
  // A stack names places in the program, not what was worked on: the message of a bug may quote data, its frames do not.
  if (options.verbose && shown.code === "internal" && error instanceof Error) {
    const frames = (error.stack ?? "").split("\n").filter((frame) => /^\s+at /.test(frame));
    await io.stderr.write(clean(frames.join("\n"), { multiline: true }) + "\n");
  }
  return shown.exitCode;
}
