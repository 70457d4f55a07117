/** BashOutput: what a background command printed, and its end. */
import { whyNotInBackground } from "../bash/background.ts";
import { failure, success } from "../result.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { bashOutputDeclaration, type BashOutputInput } from "../declarations.ts";

/** Milliseconds to wait for news: a model that asks again and again costs a response each time. */
const WAIT_MS = 10_000;
/** After this many reads without new output, the result asks the model to do something else. */
const MOST_IDLE = 3;

export const bashOutputTool: Tool<BashOutputInput> = {
  ...bashOutputDeclaration,
  async run({ id, end = false }, context) {
    const { memory: { commands }, signal } = context;
    const command = commands?.get(id);
    if (commands === undefined || command === undefined) {
      const ids = commands?.ids() ?? [];
      const there = ids.length === 0 ? "None runs." : `There are: ${ids.join(", ")}.`;
      return failure(`There is no background command ${JSON.stringify(id.slice(0, 40))}. ${there}`, context);
    }
    if (await whyNotInBackground(context) !== null) return await exposed(context);
    if (end) await command.end();
    else await command.news(WAIT_MS, signal);
    signal.throwIfAborted();
    const { text, state, idle } = command.take();
    // What it printed so far is returned only if nothing has become protected.
    if (await whyNotInBackground(context) !== null) return await exposed(context);
    if (state !== "running") commands.remove(id);
    if (state === "running" && idle > MOST_IDLE) {
      return failure(`${id} runs and prints nothing. Do something else, or end it.`, context);
    }
    const note = state === "running" ? `[${id} is running]` : state === "ended" ? `[${id} was ended]` : `[${state}]`;
    return success([text.trimEnd(), note].filter((part) => part !== "").join("\n"), context);
  },
};

/** Something became protected that the commands can see: they are ended, and their output is dropped. */
async function exposed(context: ToolContext): Promise<ToolResult> {
  await context.memory.commands?.endAll();
  return failure(
    "[a path is protected now that background commands could see: they were ended, their output is redacted, and what " +
      "they changed since is protected. Run commands in the foreground]",
    context,
  );
}
