/**
 * A client on standard input and output, and its session, which is opened with the first turn: its messages are turns,
 * one after the other; its requests are answered at once, also while a turn runs. Source: specification, stream-json
 * §2–4.
 */
import { sessionLabel } from "../../agent/labels.ts";
import type { AskPermission } from "../../agent/turn_options.ts";
import { PERMISSION_MODES } from "../../config/types.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { OutputClosed } from "../../platform/io.ts";
import { textOf } from "../../platform/record.ts";
import { type ControlRequest, type InputMessage, readInputLine, type UserInput } from "../../protocol/input.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import { createProtocolWriter, type ProtocolWriter } from "../../protocol/writer.ts";
import { readLines } from "../../rpc/lines.ts";
import { AgentSession } from "../../runtime/agent_session.ts";
import { checkStoreOptions, eventSessionId } from "../../runtime/session_options.ts";
import { interruptible } from "../../runtime/interrupt.ts";
import { aborted } from "../../platform/time_limit.ts";
import { serverStatus } from "../../runtime/open_session.ts";
import type { PromptInput, QueuedMessage } from "../../runtime/prompts.ts";
import type { ClientCommand } from "../chat/input/client_commands.ts";
import type { Context } from "../command.ts";
import type { GivenServers } from "../mcp_config.ts";
import { hostOf } from "../output.ts";
import type { RunOptions } from "../run/command.ts";
import { failedResult } from "../run/machine_output.ts";
import { givenServers } from "../run/run.ts";
import { VERSION } from "../version.ts";
import { askClient, createClientOutput, createClientRequests, textsOf } from "./client.ts";
import { type ClientHooks, createClientHooks, type HookTable, readHooks } from "./client_hooks.ts";
import { checkModelName, clientModels } from "./client_models.ts";
import type { ClientServer } from "./client_tools.ts";

/**
 * Serves one client until its input ends and every turn is done, a signal comes, or it has gone. Returns the exit code:
 * of a signal, else of the last turn where that failed by itself, else 0. Throws `usage` when the first line is not
 * JSON.
 */
export async function converse(options: RunOptions, context: Context): Promise<number> {
  if (options.outputFormat !== undefined && options.outputFormat !== "stream-json") {
    throw new AgentcliError("usage", "--input-format stream-json needs --output-format stream-json");
  }
  checkStoreOptions(options);
  const conversation = new Conversation(options, context, await givenServers(options, context));
  try {
    return await interruptible(context, (signal) => conversation.run(signal));
  } finally {
    await conversation.close();
  }
}

/** An answer: fields of a success, or an error. */
type RequestAnswer = { response: Record<string, unknown> } | { error: string; code?: string };

/** Ends of a turn that the client wanted: they do not make its process fail. */
const ENDED_BY_CLIENT: ReadonlySet<string> = new Set(["interrupted", "permission_denied"]);

class Conversation {
  readonly #options: RunOptions;
  readonly #context: Context;
  readonly #host: ReturnType<typeof hostOf>;
  readonly #output: ReturnType<typeof createClientOutput>;
  readonly #requests: ReturnType<typeof createClientRequests>;
  readonly #session: AgentSession;
  readonly #fallbackId: string;
  /** The turn that runs. */
  #running: AbortController | null = null;
  #hooks: ClientHooks | null = null;
  #hookTable: HookTable = new Map();
  #ownServers: string[];
  #servers: ClientServer[] | null = null;
  /** Made with the first event of a turn, when the session is open. */
  #turnWriter: ProtocolWriter | null = null;
  /** Of the turn that runs, or ran last. */
  #signal: AbortSignal | undefined;

  constructor(options: RunOptions, context: Context, given: GivenServers) {
    this.#options = options;
    this.#context = context;
    this.#output = createClientOutput(context.io.stdout);
    this.#requests = createClientRequests(this.#output);
    this.#fallbackId = eventSessionId(options);
    this.#ownServers = given.own;
    // A client's turns have a time limit of their own, which holds for what is prepared as well.
    this.#host = hostOf(context, {
      clientNames: true,
      tools: async (signal) => (await this.#connected(signal)).flatMap((server) => server.tools),
    });
    this.#session = new AgentSession({ ...options, mcpServers: given.servers }, this.#host);
  }

  /** Reads the input and runs the turns, until both are over. */
  async run(signal: AbortSignal): Promise<number> {
    const failed = Promise.withResolvers<never>();
    this.#readInput().catch(failed.reject).finally(() => {
      this.#session.queue.end();
      this.#requests.end();
    });
    try {
      return await Promise.race([this.#takeTurns(signal), failed.promise]);
    } catch (error) {
      // When a client has gone, its work ends.
      this.#running?.abort(error instanceof OutputClosed ? interrupted() : error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  async #takeTurns(signal: AbortSignal): Promise<number> {
    const { queue } = this.#session;
    const stopped = aborted(signal).then(() => null);
    let code = 0;
    for (;;) {
      const message = await Promise.race([queue.next(), stopped]);
      if (message === null) break;
      const controller = this.#running = new AbortController();
      code = await this.#turn(message, AbortSignal.any([signal, controller.signal])).finally(() =>
        this.#running = null
      );
      if (signal.aborted) break;
    }
    if (!signal.aborted) return code;
    // Each message gets its one result, also those whose turn never came.
    for (const message of queue.drain()) await this.#turn(message, signal);
    return asAgentcliError(signal.reason).exitCode;
  }

  /**
   * Runs one turn: its events, then its one result. Returns the exit code that the turn would end the process with.
   * Throws only {@link OutputClosed}.
   */
  async #turn(message: QueuedMessage, signal: AbortSignal): Promise<number> {
    let result: TurnResult;
    this.#signal = signal;
    try {
      result = await this.#session.prompt(await message.toPrompt() ?? message, {
        signal,
        ask: this.#asker(),
        onEvent: (event) => this.#emit(event),
        hooks: () => this.#hookTable.size === 0 ? null : this.#hooks ??= this.#makeHooks(),
      });
    } catch (error) {
      if (error instanceof OutputClosed) throw error;
      result = failedResult(asAgentcliError(error), this.#id);
    }
    await this.#output.write(this.#writer().result(result));
    return result.outcome === "success" || ENDED_BY_CLIENT.has(result.errorCode ?? "") ? 0 : result.exitCode;
  }

  async #readInput(): Promise<void> {
    const { io } = this.#context;
    let first = true;
    for await (const line of readLines(() => io.stdin.read())) {
      const message: InputMessage = line === null
        ? { kind: "broken", problem: "the line is too long", isJson: true }
        : readInputLine(line);
      if (first && message.kind === "broken" && !message.isJson) {
        throw new AgentcliError("usage", "standard input is not stream-json: its first line is not JSON", {
          hint: "send one JSON object per line, or omit --input-format",
        });
      }
      first &&= line?.trim() === "";
      await this.#take(message, line?.length ?? 0);
    }
  }

  async #take(message: InputMessage, size: number): Promise<void> {
    switch (message.kind) {
      case "user":
        return await this.#steer(message, size);
      case "control_request":
        return await this.#answer(message);
      case "control_response":
        // An answer to a question that was never asked, or is already answered, means nothing.
        return void this.#requests.answer(message);
      case "broken":
        return await this.#host.warn(`a line of standard input is ignored: ${message.problem}`);
      case "cancel":
      case "ignored":
        return;
    }
  }

  /** Takes a message: for the turn that runs, else for one of its own. Resolves when there is room for more. */
  async #steer({ text, id, images: encoded = [] }: UserInput, size: number): Promise<void> {
    const toPrompt = async () => ({
      ...await this.#words(text),
      images: encoded.length === 0 ? [] : await (await import("./client_tools.ts")).clientImages(encoded),
    });
    await this.#session.queue.push({ text, id, toPrompt }, size);
  }

  /** The prompt of a message: its own words, or those of the workflow, skill or server's prompt that it begins with. */
  async #words(text: string): Promise<Pick<PromptInput, "text" | "typed" | "label">> {
    if (!text.startsWith("/")) return { text };
    const opened = await this.#session.ready(this.#signal);
    const { commandSource } = await import("../chat/input/typed_line.ts");
    const { readCustom } = await import("../chat/input/custom_commands.ts");
    const { serverPrompt } = await import("../chat/commands/mcp.ts");
    const signal = this.#signal ?? new AbortController().signal;
    const prompt = await readCustom(text, commandSource(opened)) ?? await serverPrompt(text, opened.servers, signal);
    return prompt === null ? { text } : { typed: text, ...prompt };
  }

  /** Those of the project before a session is open; none where it cannot be read, which its first turn reports. */
  async #commands(): Promise<ClientCommand[]> {
    const { projectCommands, sessionCommands } = await import("../chat/input/client_commands.ts");
    const { opened } = this.#session;
    if (opened !== null) return await sessionCommands(opened);
    return await projectCommands(this.#options, this.#context).catch(() => []);
  }

  async #answer(request: ControlRequest): Promise<void> {
    const answer = await this.#perform(request).catch((error): RequestAnswer => {
      const { message, code } = asAgentcliError(error);
      return { error: message, code };
    });
    await this.#output.control({
      type: "control_response",
      response: "response" in answer ? { subtype: "success", request_id: request.id, response: answer.response } : {
        subtype: "error",
        request_id: request.id,
        error: answer.error,
        error_code: answer.code,
      },
    });
  }

  async #perform({ subtype, fields }: ControlRequest): Promise<RequestAnswer> {
    switch (subtype) {
      case "initialize":
        this.#initialize(fields);
        return {
          response: {
            commands: (await this.#commands()).map(({ name, brief, hint }) => ({
              name,
              description: brief,
              argumentHint: hint,
            })),
            agents: [],
            output_style: "default",
            available_output_styles: ["default"],
            models: await clientModels(this.#context.io),
            account: {},
          },
        };
      case "interrupt":
        this.#running?.abort(interrupted());
        return { response: { still_queued: this.#session.queue.waiting.flatMap(({ id }) => id ?? []) } };
      case "set_model": {
        const name = textOf(fields.model) ?? undefined;
        await checkModelName(name, this.#context.io);
        // From the next turn on.
        this.#session.configure({ model: name });
        return { response: {} };
      }
      case "set_permission_mode": {
        const mode = PERMISSION_MODES.find((known) => known === fields.mode);
        if (mode === undefined) {
          return { error: `unknown mode; the modes are: ${PERMISSION_MODES.join(", ")}`, code: "usage" };
        }
        // From the next call on.
        this.#session.setMode(mode);
        return { response: { mode } };
      }
      case "mcp_status":
        return { response: { mcpServers: this.#serverStates() } };
      case "list_models":
        return { response: { models: await clientModels(this.#context.io) } };
      case "mcp_message":
        // Servers of the client announce changes this way; tools are fixed for a session.
        return { response: {} };
      default:
        return {
          error: `Unsupported control request subtype: ${subtype.slice(0, 100)}`,
          code: "unsupported_request",
        };
    }
  }

  /** Takes the fields of `initialize`. Those of the prompt and the servers count until the first turn. */
  #initialize(fields: Record<string, unknown>): void {
    this.#hookTable = readHooks(fields.hooks);
    this.#ownServers = [...new Set([...this.#ownServers, ...textsOf(fields.sdkMcpServers)])];
    const systemPrompt = textOf(fields.systemPrompt) ?? textOf(textsOf(fields.systemPrompt).join("\n\n"));
    const appendSystemPrompt = textOf(fields.appendSystemPrompt);
    this.#session.configure({
      ...systemPrompt === null ? {} : { systemPrompt },
      ...appendSystemPrompt === null ? {} : { appendSystemPrompt },
    });
  }

  get #id(): string {
    return this.#session.opened?.session.id ?? this.#fallbackId;
  }

  #serverStates(): { name: string; status: string }[] {
    const own = this.#servers?.map(({ name, status }) => ({ name, status })) ??
      this.#ownServers.map((name) => ({ name, status: "pending" }));
    return [...own, ...this.#session.opened === null ? [] : serverStatus(this.#session.opened)];
  }

  #asker(): AskPermission {
    return this.#options.permissionPromptTool === undefined ? () => Promise.resolve(null) : askClient(this.#requests);
  }

  async #emit(event: TurnEvent): Promise<void> {
    if (event.kind === "notice") return await this.#host.notice(event.text);
    if (event.kind === "start") this.#turnWriter = this.#writer(await this.#commands());
    const shown = event.kind === "start" ? { ...event, mcpServers: this.#serverStates() } : event;
    const lines = (this.#turnWriter ??= this.#writer()).lines(shown);
    if (lines !== "") await this.#output.write(lines);
  }

  #writer(commands: readonly { name: string; kind: string }[] = []): ProtocolWriter {
    return createProtocolWriter({
      commands,
      sessionId: this.#id,
      partial: this.#options.includePartialMessages,
      version: VERSION,
      model: this.#session.opened?.session.model.entry.id ?? "none",
    });
  }

  async #connected(signal: AbortSignal): Promise<ClientServer[]> {
    if (this.#ownServers.length === 0) return [];
    const line = {
      requests: this.#requests,
      clock: this.#context.io.clock,
      isOpen: () => {
        const { opened } = this.#session;
        return opened !== null && sessionLabel(opened.session) === "open";
      },
    };
    const { connectServer } = await import("./client_tools.ts");
    return this.#servers ??= await Promise.all(this.#ownServers.map((name) => connectServer(name, line, signal)));
  }

  #makeHooks(): ClientHooks {
    return createClientHooks({
      table: this.#hookTable,
      requests: this.#requests,
      clock: this.#context.io.clock,
      facts: () => ({
        session_id: this.#id,
        transcript_path: this.#session.opened?.transcriptFile ?? "",
        cwd: this.#session.opened?.session.workspace.cwd ?? this.#context.globals.cwd,
        permission_mode: this.#session.mode,
      }),
    });
  }
}

function interrupted(): AgentcliError {
  return new AgentcliError("interrupted", "the turn was interrupted");
}
