/** Chooses how the chat is shown: drawn on a terminal, or line by line on anything else. */
import { AgentcliError } from "../../errors.ts";
import type { RUN_OPTIONS } from "../run/command.ts";
import type { Invocation } from "../command.ts";
import { givenServers } from "../run/run.ts";
import { warn } from "../output.ts";
import { checkStoreOptions } from "../../runtime/host.ts";

/** Runs the command. Throws `usage` for machine formats, which belong to `run`. */
export async function run({ options, arguments: words, context }: Invocation<typeof RUN_OPTIONS>): Promise<number> {
  const { io, globals } = context;
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
  // `--resume` without a session: one that is still to be chosen stands for any.
  const choosesSession = options.resume === "";
  checkStoreOptions(choosesSession ? { ...options, resume: "latest" } : options);
  const { servers, problems } = await givenServers(options, context);
  for (const problem of problems) await warn(context, problem);
  const given = { ...options, mcpServers: servers };
  const beginning = { first: words[0], choosesSession };
  const drawn = io.stdin.isTerminal && io.stdout.isTerminal && (io.env("TERM") ?? "dumb") !== "dumb";
  if (drawn || (io.os === "windows" && io.stdin.isTerminal && io.stdout.isTerminal)) {
    const { TerminalChat } = await import("./terminal/terminal_chat.ts");
    return await new TerminalChat(given, context).run(beginning);
  }
  const { LineChat } = await import("./line_chat.ts");
  return await new LineChat(given, context).run(beginning);
}
