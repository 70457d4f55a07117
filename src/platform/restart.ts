/** Starting this program a second time in its own place, with another environment. */
import type { Io } from "./io.ts";
import { hasAllPermissions } from "./runtime.ts";

/**
 * The command that starts this program as it was started; null when that cannot be told: of the flags of the runtime
 * only "everything is permitted" can be seen from inside.
 */
export function ownCommand(): [string, ...string[]] | null {
  if (Deno.build.standalone) return [Deno.execPath()];
  return hasAllPermissions() ? [Deno.execPath(), "run", "--quiet", "--no-config", "-A", Deno.mainModule] : null;
}

/**
 * Runs `command` with exactly these variables on the streams of this process, and gives its exit code (128 and the
 * signal's number after a signal). Signals to this process reach it: from a terminal both get them anyway.
 */
export async function runInPlace(
  command: readonly [string, ...string[]],
  options: { env: Record<string, string>; io: Pick<Io, "onSignal" | "stdin" | "stdout" | "stderr"> },
): Promise<number> {
  const { env, io } = options;
  const [program, ...args] = command;
  const child = new Deno.Command(program, {
    args,
    env,
    clearEnv: true,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  const onTerminal = io.stdin.isTerminal || io.stdout.isTerminal || io.stderr.isTerminal;
  const release = io.onSignal((signal) => {
    if (signal === "SIGINT" && onTerminal) return;
    try {
      child.kill(signal);
    } catch {
      // It has ended already.
    }
  });
  try {
    return (await child.status).code;
  } finally {
    release();
  }
}
