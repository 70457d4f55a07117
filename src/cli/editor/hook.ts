/**
 * Called by the scripts of the scaffolded hooks. Whatever goes wrong is exit 2: with any other code an editor lets the
 * action pass.
 */
import { isAssistant } from "../../editor/assistants.ts";
import { runHook } from "../../editor/hooks/run.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import type { Invocation } from "../command.ts";
import type { HOOK_OPTIONS } from "./command.ts";

const BLOCKED = 2;

/**
 * Exit 0 lets the action pass, exit 2 blocks it; standard error says why, in one line without content. Standard output
 * holds the decision, and after it what else an assistant reads.
 */
export async function run({ options, arguments: words, context }: Invocation<typeof HOOK_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const [scaffold = "", event = "", assistant] = words;
  const answer = async (decision: string, refusal: string | null) => {
    const answer = await answerFor(assistant, event, refusal);
    if (decision !== "" || answer !== "") {
      await io.stdout.write((decision || `${clean(scaffold)}: blocked ${clean(event)}\n`) + answer);
    }
  };
  const block = async (text: string) => {
    const refusal = `agentcli ${clean(scaffold)}: ${clean(text)}`;
    await answer("", refusal);
    await io.stderr.write(`${refusal}\n`);
    return BLOCKED;
  };
  try {
    const outcome = await runHook({ scaffold, event, assistant, settings: options.set, cwd: globals.cwd }, io);
    if (outcome.kind === "blocked") return await block(`blocked: ${outcome.reason}. ${outcome.instead}.`);
    await answer(outcome.output, null);
    return 0;
  } catch (error) {
    const reason = error instanceof AgentcliError
      ? error.message
      : `internal error (${error instanceof Error ? error.name : "?"})`;
    return await block(`stopped: ${reason}`);
  }
}

async function answerFor(assistant: string | undefined, event: string, refusal: string | null): Promise<string> {
  if (assistant === undefined || !isAssistant(assistant)) return "";
  const { answerOf } = await import("../../editor/guard/payloads.ts");
  const answer = answerOf(assistant, event, refusal);
  return answer === null ? "" : `${answer}\n`;
}
