/** Runs one turn and ends with its exit code. */
import { readWhole } from "../../platform/text.ts";
import type { Session } from "../../agent/session.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { type Io, OutputClosed } from "../../platform/io.ts";
import { orAborted } from "../../platform/sleep.ts";
import type { Context, Invocation } from "../command.ts";
import { interruptible } from "../../runtime/interrupt.ts";
import { TextOutput, type TurnOutput } from "./text_output.ts";
import type { GivenServers } from "../mcp_config.ts";
import { serverStatus } from "../../runtime/open_session.ts";
import { AgentSession } from "../../runtime/agent_session.ts";
import { mentionedPaths } from "../../runtime/prompts.ts";
import { type Host } from "../../runtime/host.ts";
import { checkStoreOptions, eventSessionId } from "../../runtime/session_options.ts";
import { hostOf } from "../output.ts";
import type { OUTPUT_FORMATS, RUN_OPTIONS, RunOptions } from "./command.ts";

type Format = typeof OUTPUT_FORMATS[number];
/** The naming of models: as in the configuration, or as protocol clients name them. */
type Naming = Pick<Host, "clientNames">;

/** `agentcli run`. Machine formats get a result event for every failure, even for one before the first request. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof RUN_OPTIONS>,
  naming: Naming = { clientNames: false },
): Promise<number> {
  const { io } = context;
  if (options.inputFormat === "stream-json") {
    const { converse } = await import("../protocol/conversation.ts");
    return await converse(options, context);
  }
  const format: Format = options.outputFormat ?? (context.globals.json ? "json" : "text");
  return await interruptible({ io, seconds: options.timeout }, async (signal) => {
    try {
      return await turn(options, { context, prompt: words[0], format, signal, naming });
    } catch (error) {
      if (format === "text" || error instanceof OutputClosed) throw error;
      const { printFailure } = await import("./machine_output.ts");
      const failed = asAgentcliError(signal.aborted ? signal.reason : error);
      return await printFailure(failed, io, eventSessionId(options));
    }
  });
}

async function turn(
  options: RunOptions,
  invocation: { context: Context; prompt: string | undefined; format: Format; signal: AbortSignal; naming: Naming },
): Promise<number> {
  const { context, format, signal } = invocation;
  const { io } = context;
  checkOptions(options, { format, ...invocation.naming });
  const text = await readPrompt(invocation.prompt, io, signal);
  const host = hostOf(context, { ...invocation.naming, isSingleTurn: true });
  // The time limit holds for everything, reading the prompt included, so it is kept outside.
  const given = await givenServers(options, context);
  const session = new AgentSession({ ...options, mcpServers: given.servers, timeout: undefined }, host);
  try {
    for (const problem of given.problems) await host.warn(problem);
    const opened = await session.ready(signal).finally(host.waiting?.("connecting"));
    const output = await outputOf(format, context, { ...opened, partial: options.includePartialMessages });
    const mcpServers = [...serverStatus(opened), ...given.own.map((name) => ({ name, status: "failed" }))];
    // Piped input is not typed text: a diff is full of such characters.
    const mentions = await mentionedPaths(invocation.prompt ?? "", opened.session.workspace, host.notice);
    const result = await session.prompt({ text, mentions }, {
      signal,
      ask: async (question, asking) => {
        const { askOnTerminal } = await import("./ask_terminal.ts");
        return await askOnTerminal(io)(question, asking);
      },
      onEvent: (event) => output.event(event.kind === "start" ? { ...event, mcpServers } : event),
    });
    await output.result(result);
    return result.exitCode;
  } finally {
    await session.close();
  }
}

function checkOptions(options: RunOptions, { format, clientNames }: Naming & { format: Format }): void {
  // Clients of the protocol always pass these options; for a person, one without an effect is a mistake.
  if (options.permissionPromptTool !== undefined && clientNames !== true) {
    throw new AgentcliError("usage", "--permission-prompt-tool needs --input-format stream-json");
  }
  if (options.includePartialMessages && format !== "stream-json") {
    throw new AgentcliError("usage", "--include-partial-messages needs --output-format stream-json");
  }
  checkStoreOptions(options);
}

async function outputOf(
  format: Format,
  { io, globals }: Context,
  { session, partial }: { session: Session; partial: boolean },
): Promise<TurnOutput> {
  if (format === "text") return new TextOutput(io, globals);
  const { jsonOutput, streamJsonOutput } = await import("./machine_output.ts");
  if (format === "json") return jsonOutput(io);
  return streamJsonOutput(io, { sessionId: session.id, partial, model: session.model.entry.id });
}

/** Largest prompt from standard input, in bytes. */
const INPUT_LIMIT = 16 * 1024 * 1024;
/** Standard input that is silent for this long is mentioned: it may be a pipe that nobody will close. */
const PATIENCE_MS = 1000;

/**
 * The prompt's text: `argument`, or all of standard input where it is `-` or missing; a prompt and piped input are
 * joined. Throws `usage` when there is no text.
 */
async function readPrompt(argument: string | undefined, io: Io, signal: AbortSignal): Promise<string> {
  const typed = argument === "-" ? undefined : argument;
  const piped = io.stdin.isTerminal && argument !== "-" ? "" : await readInput(io, signal);
  // Servers and templates end a text at a NUL, and nothing with a NUL is text.
  if (piped.includes("\0")) {
    throw new AgentcliError("usage", "standard input is not text: it contains NUL bytes", {
      hint: "pipe text in, or name the file in the prompt; images go with --file",
    });
  }
  const prompt = [typed ?? "", piped].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") {
    throw new AgentcliError("usage", "the prompt is empty", {
      hint: 'give it as an argument or on standard input: agentcli run "<prompt>"',
    });
  }
  return prompt;
}

async function readInput(io: Io, signal: AbortSignal): Promise<string> {
  // A flag, since aborting a signal costs half a millisecond of every start.
  let waiting = true;
  void io.clock.sleep(PATIENCE_MS).then(() =>
    waiting ? io.stderr.write("reading standard input; end it with Ctrl-D, or start with </dev/null\n") : undefined
  );
  const read = () => orAborted(io.stdin.read(), signal).finally(() => waiting = false);
  const bytes = await readWhole({ read }, INPUT_LIMIT);
  if (bytes !== null) return new TextDecoder().decode(bytes);
  throw new AgentcliError("usage", `standard input is larger than ${INPUT_LIMIT / 1024 / 1024} MiB`, {
    hint: "save it to a file and let the model read it in parts",
  });
}

/** Returns the servers that the option names; it costs nothing where it is not given. */
export async function givenServers(
  { mcpConfig }: Pick<RunOptions, "mcpConfig">,
  { globals }: Context,
): Promise<GivenServers> {
  if (mcpConfig.length === 0) return { own: [], servers: [], problems: [] };
  const { readMcpConfig } = await import("../mcp_config.ts");
  return readMcpConfig(mcpConfig, globals.cwd);
}
