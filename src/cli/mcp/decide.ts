/** Runs what the user decides about the answers of `mcp serve`: always at a terminal, since an assistant can run commands. */
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { rootOf } from "../../private/facts.ts";
import { Ledger } from "../../private/ledger.ts";
import { logRelease } from "../../private/release_log.ts";
import { bits } from "../../private/outcome.ts";
import { clean } from "../../terminal/clean.ts";
import { confirm } from "../../terminal/prompt.ts";
import type { Context, Invocation } from "../command.ts";
import { notice } from "../output.ts";
import type { ALLOW_OPTIONS } from "./command.ts";

/** Runs the command. */
export async function allow({ options, context }: Invocation<typeof ALLOW_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  if (options.bits === undefined && !options.values) {
    throw new AgentcliError("usage", "what to allow is not said", { hint: "give --bits N, --values, or both" });
  }
  const home = await openHome(io);
  const ledger = new Ledger(home, io.clock);
  const at = () => ({ now: io.clock.now() });
  if (options.bits !== undefined) {
    await agreed(context, `Let ${options.bits} more bits about protected files out in the next 24 hours?`);
    await logRelease(home, { what: "bits added", bits: options.bits }, at());
    await ledger.add(options.bits * 1000);
    await notice(context, `${bits(await ledger.left())} bits are left`);
  }
  if (!options.values) return;
  const project = await rootOf(io, globals.cwd);
  await agreed(context, `Let the local model see values for the next question about ${clean(project)}?`);
  await logRelease(home, { what: "values allowed once", project }, at());
  await ledger.showValues(project);
  await notice(context, "the next question sees values");
}

/** Throws where nobody says yes; `--yes` is no answer, since whoever may not see can type it too. */
async function agreed({ io }: Context, question: string): Promise<void> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal || !io.stdout.isTerminal) {
    throw new AgentcliError("permission_denied", "this is decided at a terminal, by a person", {
      hint: "run it yourself, in a terminal of your own",
    });
  }
  if (!await confirm(io, question)) throw new AgentcliError("permission_denied", "nothing was changed");
}
