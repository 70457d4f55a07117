/** Chooses how the chat is shown: drawn on a terminal, or line by line on anything else. */
import { AgentcliError } from "../../errors.ts";
import { resolve } from "../../platform/path.ts";
import type { RUN_OPTIONS, RunOptions } from "../run/command.ts";
import { reexecWithoutLeaks } from "../reexec.ts";
import type { Context, Invocation } from "../command.ts";
import { givenServers } from "../run/run.ts";
import { warn } from "../output.ts";
import { checkStoreOptions } from "../../runtime/host.ts";
import { asksForSession, type ChatOptions } from "./begin.ts";

/** Runs the command. Throws `usage` for machine formats, which belong to `run`. */
export async function run({ options, arguments: words, context }: Invocation<typeof RUN_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const again = await reexecWithoutLeaks(io, [
    globals.cwd,
    ...options.addDir.map((directory) => resolve(globals.cwd, directory)),
  ]);
  if (again !== null) return again;
  const format = options.outputFormat ?? "text";
  if (globals.json || format !== "text" || (options.inputFormat ?? "text") !== "text") {
    throw new AgentcliError("usage", "chat is for people; machine formats belong to run", {
      hint: "agentcli run --input-format stream-json --output-format stream-json",
    });
  }
  if (options.permissionPromptTool !== undefined || options.includePartialMessages) {
    throw new AgentcliError("usage", "--permission-prompt-tool and --include-partial-messages are for run", {
      hint: "leave them out: the chat asks at the terminal, and shows what arrives piece by piece",
    });
  }
  // A session that is still to be chosen stands for any.
  checkStoreOptions(asksForSession(options) ? { ...options, resume: "latest" } : options);
  const given = await withServers(options, context);
  const drawn = io.stdin.isTerminal && io.stdout.isTerminal && (io.env("TERM") ?? "dumb") !== "dumb";
  if (drawn || (io.os === "windows" && io.stdin.isTerminal && io.stdout.isTerminal)) {
    const { chatOnTerminal } = await import("./terminal/terminal_chat.ts");
    return await chatOnTerminal(given, context, { first: words[0] });
  }
  const { chatByLine } = await import("./line_chat.ts");
  return await chatByLine(given, context, { first: words[0] });
}

/** The options with the servers of `--mcp-config`. */
async function withServers(options: RunOptions, context: Context): Promise<ChatOptions> {
  const { servers, problems } = await givenServers(options, context);
  for (const problem of problems) await warn(context, problem);
  return { ...options, mcpServers: servers };
}
