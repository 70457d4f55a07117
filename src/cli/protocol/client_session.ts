/**
 * The session of one client: opened with its first turn, opened again when its model changes, and reported as events.
 */
import type { AskPermission } from "../../agent/turn_options.ts";
import { sessionLabel } from "../../agent/session.ts";
import type { PermissionMode } from "../../config/types.ts";
import { asAgentcliError } from "../../errors.ts";
import { OutputClosed } from "../../platform/io.ts";
import { textOf } from "../../platform/record.ts";
import type { UserInput } from "../../protocol/input.ts";
import { createProtocolWriter, type ProtocolWriter } from "../../protocol/writer.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import { clean } from "../../terminal/clean.ts";
import { failedResult } from "../run/machine_output.ts";
import { serverStatus } from "../../runtime/open_session.ts";
import { AgentSession } from "../../runtime/agent_session.ts";
import { hostOf } from "../output.ts";
import type { RunOptions } from "../run/command.ts";
import type { Context } from "../command.ts";
import type { MessageQueue, QueuedMessage } from "../../runtime/prompts.ts";
import { eventSessionId } from "../../runtime/host.ts";
import { VERSION } from "../version.ts";
import { type ClientHooks, createClientHooks, type HookTable, readHooks } from "./client_hooks.ts";
import { askClient, type ClientOutput, type ClientRequests, textsOf } from "./client.ts";
import type { ClientServer } from "./client_tools.ts";
import type { GivenServers } from "../mcp_config.ts";
import { checkModelName } from "./client_models.ts";

export interface ClientConnection {
  output: ClientOutput;
  requests: ClientRequests;
  /** The servers of `--mcp-config`. */
  given: GivenServers;
}

/** One session over the protocol. One turn at a time; the rest may be called while it runs. */
export class ClientSession {
  readonly #context: Context;
  readonly #line: ClientConnection;
  readonly #options: RunOptions;
  readonly #session: AgentSession;
  #hooks: ClientHooks | null = null;
  #hookTable: HookTable = new Map();
  #ownServers: string[];
  #servers: ClientServer[] | null = null;
  readonly #fallbackId: string;

  constructor(options: RunOptions, context: Context, line: ClientConnection) {
    this.#options = options;
    this.#context = context;
    this.#line = line;
    this.#fallbackId = eventSessionId(options);
    this.#ownServers = line.given.own;
    // A client's turns have a time limit of their own, which holds for what is prepared as well.
    this.#session = new AgentSession(
      { ...options, mcpServers: line.given.servers },
      hostOf(context, {
        clientNames: true,
        tools: async (signal) => (await this.#connected(signal)).flatMap((server) => server.tools),
      }),
    );
  }

  /** Takes the fields of `initialize`. Those of the prompt and the servers count until the first turn. */
  initialize(fields: Record<string, unknown>): void {
    this.#hookTable = readHooks(fields.hooks);
    this.#ownServers = [...new Set([...this.#ownServers, ...textsOf(fields.sdkMcpServers)])];
    const systemPrompt = textOf(fields.systemPrompt) ?? textOf(textsOf(fields.systemPrompt).join("\n\n"));
    const appendSystemPrompt = textOf(fields.appendSystemPrompt);
    this.#session.configure({
      ...systemPrompt === null ? {} : { systemPrompt },
      ...appendSystemPrompt === null ? {} : { appendSystemPrompt },
    });
  }

  /** From the next turn on. Throws what is wrong with the name. */
  async setModel(name: string | undefined): Promise<void> {
    await checkModelName(name, this.#context.io);
    this.#session.chooseModel(name);
  }

  /** From the next call on. */
  setMode(mode: PermissionMode): void {
    this.#session.setMode(mode);
  }

  servers(): { name: string; status: string }[] {
    const own = this.#servers?.map(({ name, status }) => ({ name, status })) ??
      this.#ownServers.map((name) => ({ name, status: "pending" }));
    return [...own, ...this.#session.opened === null ? [] : serverStatus(this.#session.opened)];
  }

  get queue(): MessageQueue {
    return this.#session.queue;
  }

  /** Takes a message: for the turn that runs, else for one of its own. Resolves when there is room for more. */
  async steer({ text, id, images: encoded = [] }: UserInput, size: number): Promise<void> {
    const toPrompt = async () => ({
      text,
      images: encoded.length === 0 ? [] : await (await import("./client_tools.ts")).clientImages(encoded),
    });
    await this.#session.steer({ text, id, toPrompt }, size);
  }

  /**
   * Runs one turn: its events, then its one result. Returns the exit code that the turn would end the process with.
   * Throws only {@link OutputClosed}.
   */
  async turn(message: QueuedMessage, signal: AbortSignal): Promise<number> {
    let result: TurnResult;
    try {
      result = await this.#run(message, signal);
    } catch (error) {
      if (error instanceof OutputClosed) throw error;
      result = failedResult(asAgentcliError(error), this.#id);
    }
    await this.#line.output.write(this.#writer().result(result));
    return result.outcome === "success" || ENDED_BY_CLIENT.has(result.errorCode ?? "") ? 0 : result.exitCode;
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  get #id(): string {
    return this.#session.opened?.session.id ?? this.#fallbackId;
  }

  async #run(message: QueuedMessage, signal: AbortSignal): Promise<TurnResult> {
    return await this.#session.prompt(await message.toPrompt() ?? message, {
      signal,
      ask: this.#asker(),
      onEvent: (event) => this.#emit(event),
      hooks: () => this.#hookTable.size === 0 ? null : this.#hooks ??= this.#makeHooks(),
    });
  }

  #asker(): AskPermission {
    return this.#options.permissionPromptTool === undefined
      ? () => Promise.resolve(null)
      : askClient(this.#line.requests);
  }

  /** Made with the first event of a turn, when the session is open. */
  #turnWriter: ProtocolWriter | null = null;

  async #emit(event: TurnEvent): Promise<void> {
    if (event.kind === "notice") return await this.#notice(event.text);
    if (event.kind === "start") this.#turnWriter = this.#writer();
    const shown = event.kind === "start" ? { ...event, mcpServers: this.servers() } : event;
    const lines = (this.#turnWriter ??= this.#writer()).lines(shown);
    if (lines !== "") await this.#line.output.write(lines);
  }

  async #notice(text: string): Promise<void> {
    const { io, globals } = this.#context;
    if (!globals.quiet) await io.stderr.write(`agentcli: ${clean(text)}\n`);
  }

  #writer(): ProtocolWriter {
    return createProtocolWriter({
      sessionId: this.#id,
      partial: this.#options.includePartialMessages,
      version: VERSION,
      model: this.#session.opened?.session.model.entry.id ?? "none",
    });
  }

  async #connected(signal: AbortSignal): Promise<ClientServer[]> {
    const line = {
      requests: this.#line.requests,
      clock: this.#context.io.clock,
      isOpen: () => {
        const { opened } = this.#session;
        return opened !== null && sessionLabel(opened.session) === "open";
      },
    };
    if (this.#ownServers.length === 0) return [];
    const { connectServer } = await import("./client_tools.ts");
    return this.#servers ??= await Promise.all(this.#ownServers.map((name) => connectServer(name, line, signal)));
  }

  #makeHooks(): ClientHooks {
    return createClientHooks({
      table: this.#hookTable,
      requests: this.#line.requests,
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

/** Ends of a turn that the client wanted: they do not make its process fail. */
const ENDED_BY_CLIENT: ReadonlySet<string> = new Set(["interrupted", "permission_denied"]);
