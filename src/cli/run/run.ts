/** Runs one turn and ends with its exit code. */
import { admitPrompt } from "../../agent/admit_prompt.ts";
import type { Session } from "../../agent/session.ts";
import { runTurn } from "../../agent/turn.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { OutputClosed } from "../../platform/io.ts";
import { resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import type { TurnEvent } from "../../protocol/turn_event.ts";
import { leaveCopyingEnvironment } from "../start_environment.ts";
import type { Context, Invocation } from "../verb.ts";
import { tellFailure } from "./failure.ts";
import { type Interrupt, listenForInterrupt } from "./interrupt.ts";
import type { TurnOutput } from "./output.ts";
import { prepare, type PrepareExtras } from "./prepare.ts";
import { readPrompt } from "./prompt.ts";
import { checkStoreOptions, eventSessionId } from "./store_options.ts";
import { textOutput } from "./text_output.ts";
import { userItem } from "./user_item.ts";
import type { OUTPUT_FORMATS, RUN_OPTIONS, RunOptions } from "./verb.ts";

type Format = typeof OUTPUT_FORMATS[number];
/** How models are named: as the configuration has them, or as clients of the protocol do. */
type Naming = Pick<PrepareExtras, "clientNames">;

/** `agentcli run`. Machine formats get a result event for every failure, also for one before the first request. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof RUN_OPTIONS>,
  naming: Naming = { clientNames: false },
): Promise<number> {
  const { io } = context;
  const again = await leaveCopyingEnvironment(io, [
    context.globals.cwd,
    ...options.addDir.map((directory) => resolve(context.globals.cwd, directory)),
  ]);
  if (again !== null) return again;
  if (options.inputFormat === "stream-json") {
    const { converse } = await import("../protocol/conversation.ts");
    return await converse(options, context);
  }
  const format: Format = options.outputFormat ?? (context.globals.json ? "json" : "text");
  const interrupt = listenForInterrupt(io, options.timeout);
  try {
    const work = turn(options, { context, prompt: words[0], format, interrupt, naming });
    return await Promise.race([work, interrupt.forced]);
  } catch (error) {
    if (format === "text" || error instanceof OutputClosed) throw error;
    const failed = interrupt.signal.aborted ? interrupt.signal.reason : error;
    return await tellFailure(asAgentcliError(failed), io, eventSessionId(options));
  } finally {
    interrupt.end();
  }
}

async function turn(
  options: RunOptions,
  given: { context: Context; prompt: string | undefined; format: Format; interrupt: Interrupt; naming: Naming },
): Promise<number> {
  const { context, format, interrupt } = given;
  const { io, globals } = context;
  checkOptions(options, { format, ...given.naming });
  const words = await readPrompt(given.prompt, io, interrupt.signal);
  const prepared = await prepare(options, context, { ...given.naming, storeLate: true });
  try {
    const { session, model, recorder } = prepared;
    if (!globals.quiet) {
      for (const notice of prepared.notices) await io.stderr.write(`agentcli: ${clean(notice)}\n`);
    }
    const output = await outputOf(format, context, { session, partial: options.includePartialMessages });
    const prompt = await userItem(words, options.file, session);
    const holds = await admitPrompt(session, prompt, { allowed: options.allowProtectedPrompt });
    // What was let through to a model elsewhere is open for this turn, and the turn is not stored.
    const stored = holds === "open" || session.model.local;
    const mcpServers = prepared.unusedServers.map((name) => ({ name, status: "failed" }));
    const tell = (event: TurnEvent) => output.event(event.kind === "start" ? { ...event, mcpServers } : event);
    const result = await runTurn(session, prompt, {
      io,
      model,
      signal: interrupt.signal,
      ask: async (question, signal) => {
        const { askOnTerminal } = await import("./ask_terminal.ts");
        return await askOnTerminal(io)(question, signal);
      },
      emit: stored ? recorder.before(tell) : tell,
      maxTurns: options.maxTurns,
    });
    if (stored) await recorder.settle();
    else if (!globals.quiet) await io.stderr.write("agentcli: the prompt held protected content: not stored\n");
    await output.result(result);
    return result.exitCode;
  } finally {
    await prepared.close();
  }
}

function checkOptions(options: RunOptions, { format, clientNames }: Naming & { format: Format }): void {
  // Clients of the protocol pass what they always pass; a person is told that nothing comes of it.
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
  if (format === "text") return textOutput(io, globals);
  const { jsonOutput, streamJsonOutput } = await import("./machine_output.ts");
  if (format === "json") return jsonOutput(io);
  return streamJsonOutput(io, { sessionId: session.id, partial, model: session.model.entry.id });
}
