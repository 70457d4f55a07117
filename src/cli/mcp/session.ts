/** Answers the server of `agentcli mcp serve` in a process of its own: one session, then it ends. */
import { serveSession } from "../../private/session_process.ts";
import { openPrivateSession } from "../../private/session.ts";
import { heardSigns } from "../../provider/backends/localities.ts";
import type { Invocation } from "../command.ts";
import { VERSION } from "../version.ts";
import type { SESSION_OPTIONS } from "./command.ts";

/** Runs the command. */
export async function session(
  { options: { model }, context: { io, globals } }: Invocation<typeof SESSION_OPTIONS>,
): Promise<void> {
  const stream = { read: () => io.stdin.read(), write: (text: string) => io.stdout.write(text) };
  await serveSession(stream, {
    open: (rights, signal) => openPrivateSession({ io, cwd: globals.cwd, version: VERSION, model, rights }, signal),
    heard: heardSigns(io),
  });
}
