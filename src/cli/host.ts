/** The host of a session for commands: notices go to stderr, waiting shows a line there. */
import type { Host } from "../runtime/host.ts";
import { clean } from "../terminal/clean.ts";
import { createProgress } from "../terminal/progress.ts";
import type { Context } from "./verb.ts";
import { VERSION } from "./version.ts";

/** Returns the host of a command; `more` is what the surface does in another way. */
export function hostOf({ io, globals }: Context, more: Partial<Host> = {}): Host {
  const warn = (text: string) => io.stderr.write(`agentcli: ${clean(text)}\n`);
  return {
    io,
    cwd: globals.cwd,
    version: VERSION,
    verbose: globals.verbose,
    notice: globals.quiet ? () => {} : warn,
    warn,
    loading() {
      const progress = createProgress(io, { quiet: globals.quiet });
      progress.start("loading the model");
      return () => progress.stop();
    },
    ...more,
  };
}
