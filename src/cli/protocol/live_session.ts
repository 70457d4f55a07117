/** The session of one client: prepared with its first turn, prepared anew when its model changes, told of as events. */
import { admitPrompt } from "../../agent/admit_prompt.ts";
import type { AskPermission } from "../../agent/permission_question.ts";
import { type Session, sessionLabel } from "../../agent/session.ts";
import { runTurn } from "../../agent/turn.ts";
import type { PermissionMode } from "../../config/types.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { OutputClosed } from "../../platform/io.ts";
import type { EncodedImage } from "../../protocol/input.ts";
import { createProtocolWriter, type ProtocolWriter } from "../../protocol/writer.ts";
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";
import type { UserItem } from "../../session/item.ts";
import { clean } from "../../terminal/clean.ts";
import { failedResult } from "../run/failure.ts";
import { prepare, type Prepared } from "../run/prepare.ts";
import { eventSessionId } from "../run/store_options.ts";
import { userItem } from "../run/user_item.ts";
import type { RunOptions } from "../run/verb.ts";
import type { Context } from "../verb.ts";
import { VERSION } from "../version.ts";
import { type ClientHooks, createClientHooks } from "./client_hooks.ts";
import type { ClientOutput } from "./client_output.ts";
import { askClient } from "./client_permission.ts";
import { type ClientServer, connectServer } from "./client_tools.ts";
import { textOf, textsOf } from "./fields.ts";
import { type HookTable, readHooks } from "./hook_table.ts";
import { checkModelName } from "./listed_models.ts";
import { readMcpConfig } from "./mcp_config.ts";
import type { Questions } from "./questions.ts";

/** Where a session speaks to its client. */
export interface ClientLine {
  output: ClientOutput;
  questions: Questions;
}

/** What a client says in one message. */
export interface ClientMessage {
  text: string;
  images: readonly EncodedImage[];
}

/** One session over the protocol. One turn at a time; the rest may be called while it runs. */
export class LiveSession {
  readonly #context: Context;
  readonly #line: ClientLine;
  #options: RunOptions;
  #prepared: Prepared | null = null;
  #hooks: ClientHooks | null = null;
  #hookTable: HookTable = new Map();
  #ownServers: string[];
  readonly #otherServers: string[];
  #servers: ClientServer[] | null = null;
  #fallbackId: string;
  #modelChanged = false;
  #filesAttached = false;
  /** A protected prompt was let through to a model elsewhere: nothing is stored from then on. */
  #stored = true;

  constructor(options: RunOptions, context: Context, line: ClientLine) {
    this.#options = options;
    this.#context = context;
    this.#line = line;
    this.#fallbackId = eventSessionId(options);
    const { own, others } = readMcpConfig(options.mcpConfig);
    this.#ownServers = own;
    this.#otherServers = others;
  }

  /** Takes the fields of `initialize`. Those of the prompt and the servers count until the first turn. */
  initialize(fields: Record<string, unknown>): void {
    this.#hookTable = readHooks(fields.hooks);
    this.#ownServers = [...new Set([...this.#ownServers, ...textsOf(fields.sdkMcpServers)])];
    const systemPrompt = textOf(fields.systemPrompt) ?? textOf(textsOf(fields.systemPrompt).join("\n\n"));
    const appendSystemPrompt = textOf(fields.appendSystemPrompt);
    this.#options = {
      ...this.#options,
      ...systemPrompt === undefined ? {} : { systemPrompt },
      ...appendSystemPrompt === undefined ? {} : { appendSystemPrompt },
    };
  }

  /** From the next turn on. Throws what is wrong with the name. */
  async setModel(name: string | undefined): Promise<void> {
    await checkModelName(name, this.#context.io);
    this.#options = { ...this.#options, model: name };
    this.#modelChanged = true;
  }

  /** From the next call on. */
  setMode(mode: PermissionMode): void {
    this.#options = { ...this.#options, permissionMode: mode };
    if (this.#prepared !== null) this.#prepared.session.policy.mode = mode;
  }

  /** The servers of tools and how they are. */
  servers(): { name: string; status: string }[] {
    const own = this.#servers?.map(({ name, status }) => ({ name, status })) ??
      this.#ownServers.map((name) => ({ name, status: "pending" }));
    return [...own, ...this.#otherServers.map((name) => ({ name, status: "failed" }))];
  }

  /**
   * Runs one turn: its events, then its one result. Gives the exit code that the turn would end the process with.
   * Throws only {@link OutputClosed}.
   */
  async turn(message: ClientMessage, signal: AbortSignal): Promise<number> {
    let result: TurnResult;
    try {
      result = await this.#run(message, signal);
    } catch (error) {
      if (error instanceof OutputClosed) throw error;
      const shown = asAgentcliError(signal.aborted ? signal.reason : error);
      result = failedResult(shown, this.#prepared?.session.id ?? this.#fallbackId);
    }
    await this.#line.output.write(this.#writer().result(result));
    return result.outcome === "success" || ENDED_BY_CLIENT.has(result.errorCode ?? "") ? 0 : result.exitCode;
  }

  async close(): Promise<void> {
    await this.#prepared?.close();
  }

  async #run(message: ClientMessage, signal: AbortSignal): Promise<TurnResult> {
    const { session, model, recorder } = await this.#ready(signal);
    const { io } = this.#context;
    const hooks = this.#hookTable.size === 0 ? null : this.#hooks ??= this.#makeHooks();
    const item = await this.#userItem(message, { session, hooks }, signal);
    this.#filesAttached = true;
    // The permission was for one prompt.
    if (!this.#stored) this.#options = { ...this.#options, allowProtectedPrompt: false };
    const writer = this.#writer();
    const tell = (event: TurnEvent) => this.#tell(event, writer);
    const result = await runTurn(session, item, {
      io,
      model,
      signal,
      ask: this.#asker(),
      emit: this.#stored ? recorder.before(tell) : tell,
      maxTurns: this.#options.maxTurns,
      ...hooks === null ? {} : { hooks },
    });
    if (this.#stored) await recorder.settle();
    return result;
  }

  /** The prompt with what hooks add to it. What may not leave the session is not told to them. */
  async #userItem(
    { text, images }: ClientMessage,
    { session, hooks }: { session: Session; hooks: ClientHooks | null },
    signal: AbortSignal,
  ): Promise<UserItem> {
    const files = this.#filesAttached ? [] : this.#options.file;
    const item = await userItem(text, files, session);
    if (images.length > 0) {
      const { clientImages } = await import("./client_images.ts");
      item.images = [...clientImages(images), ...item.images ?? []];
    }
    const holds = await this.#admit(session, item);
    const told = holds === "open" && item.label === "open" ? text : null;
    const asked = await hooks?.submit(told, signal);
    if (asked === undefined) return item;
    if (asked.blocked !== null) {
      throw new AgentcliError("permission_denied", `a hook refused the prompt: ${asked.blocked}`);
    }
    if (asked.context === "") return item;
    const longer: UserItem = { ...item, text: `${item.text}\n\n${asked.context}` };
    await this.#admit(session, longer);
    return longer;
  }

  async #admit(session: Session, item: UserItem): Promise<"open" | "protected"> {
    const holds = await admitPrompt(session, item, { allowed: this.#options.allowProtectedPrompt });
    if (holds === "protected" && !session.model.local && this.#stored) {
      this.#stored = false;
      await this.#notice("the prompt held protected content: this session is not stored from here on");
    }
    return holds;
  }

  #asker(): AskPermission {
    return this.#options.permissionPromptTool === undefined
      ? () => Promise.resolve(null)
      : askClient(this.#line.questions);
  }

  #tell(event: TurnEvent, writer: ProtocolWriter): void | Promise<void> {
    if (event.kind === "notice") return this.#notice(event.text);
    const shown = event.kind === "start" ? { ...event, mcpServers: this.servers() } : event;
    const lines = writer.lines(shown);
    return lines === "" ? undefined : this.#line.output.write(lines);
  }

  async #notice(text: string): Promise<void> {
    const { io, globals } = this.#context;
    if (!globals.quiet) await io.stderr.write(`agentcli: ${clean(text)}\n`);
  }

  #writer(): ProtocolWriter {
    const session = this.#prepared?.session;
    return createProtocolWriter({
      sessionId: session?.id ?? this.#fallbackId,
      partial: this.#options.includePartialMessages,
      version: VERSION,
      model: session?.model.entry.id ?? "none",
    });
  }

  async #ready(signal: AbortSignal): Promise<Prepared> {
    signal.throwIfAborted();
    const previous = this.#prepared;
    if (previous !== null && !this.#modelChanged) return previous;
    const tools = (await this.#connected(signal)).flatMap((server) => server.tools);
    const preparing = prepare(this.#options, this.#context, {
      tools,
      clientNames: true,
      ...previous === null ? {} : { previous },
    });
    // A session that is carried over keeps its transcript, whatever becomes of this try.
    const drop = (late: Prepared) => previous === null ? late.close() : late.release();
    const prepared = await untilAborted(preparing, { signal, drop });
    this.#prepared = prepared;
    this.#modelChanged = false;
    for (const notice of prepared.notices) await this.#notice(notice);
    return prepared;
  }

  async #connected(signal: AbortSignal): Promise<ClientServer[]> {
    const line = {
      questions: this.#line.questions,
      clock: this.#context.io.clock,
      isOpen: () => this.#prepared !== null && sessionLabel(this.#prepared.session) === "open",
    };
    return this.#servers ??= await Promise.all(this.#ownServers.map((name) => connectServer(name, line, signal)));
  }

  #makeHooks(): ClientHooks {
    return createClientHooks({
      table: this.#hookTable,
      questions: this.#line.questions,
      clock: this.#context.io.clock,
      facts: () => ({
        session_id: this.#prepared?.session.id ?? this.#fallbackId,
        transcript_path: this.#prepared?.transcriptFile ?? "",
        cwd: this.#prepared?.session.workspace.cwd ?? this.#context.globals.cwd,
        permission_mode: this.#options.permissionMode ?? "default",
      }),
    });
  }
}

/** Ends of a turn that the client wanted: they do not make its process fail. */
const ENDED_BY_CLIENT: ReadonlySet<string> = new Set(["interrupted", "permission_denied"]);

/** The prepared session, or the signal's reason at once; what is prepared too late is dropped. */
async function untilAborted(
  preparing: Promise<Prepared>,
  { signal, drop }: { signal: AbortSignal; drop(late: Prepared): Promise<unknown> },
): Promise<Prepared> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([preparing, promise]);
  } catch (error) {
    if (signal.aborted) preparing.then(drop, () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
