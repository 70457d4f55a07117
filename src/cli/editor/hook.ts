/**
 * What the scripts of the scaffolded hooks call. Whatever goes wrong is exit 2: an editor lets the action pass on
 * others.
 */
import { runHook } from "../../editor/hooks/run.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import type { Invocation } from "../command.ts";
import type { HOOK_OPTIONS } from "./command.ts";

const BLOCKED = 2;

/** Exit 0 lets the action pass, exit 2 blocks it; standard error says why, in one line without content. */
export async function run({ options, arguments: words, context }: Invocation<typeof HOOK_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const [scaffold = "", event = ""] = words;
  const print = (text: string) => io.stderr.write(`agentcli ${clean(scaffold)}: ${clean(text)}\n`);
  try {
    const outcome = await runHook({ scaffold, event, settings: options.set, cwd: globals.cwd }, io);
    if (outcome.kind === "blocked") {
      await print(`blocked: ${outcome.reason}. ${outcome.instead}.`);
      return BLOCKED;
    }
    if (outcome.output !== "") await io.stdout.write(outcome.output);
    return 0;
  } catch (error) {
    const reason = error instanceof AgentcliError
      ? error.message
      : `internal error (${error instanceof Error ? error.name : "?"})`;
    await print(`stopped: ${reason}`);
    return BLOCKED;
  }
}
