/** One session of a client: an {@link AgentSession}, what is chosen for it, and the turn that runs. */
import { shortened } from "../../platform/text.ts";
import { sessionLabel } from "../../agent/labels.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { OutputClosed } from "../../platform/io.ts";
import { textOf } from "../../platform/record.ts";
import type { TurnResult } from "../../protocol/turn_event.ts";
import type { Thinking } from "../../provider/profiles/profile.ts";
import { RPC_CODES, RpcError } from "../../rpc/message.ts";
import type { RpcCall } from "../../rpc/peer.ts";
import { AgentSession, selectorOf } from "../../runtime/agent_session.ts";
import { untilAborted } from "../../runtime/interrupt.ts";
import { projectSlug } from "../../session/paths.ts";
import { cleanLine } from "../../terminal/clean.ts";
import type { Context } from "../command.ts";
import { hostOf } from "../output.ts";
import { type Choices, configOptions, modeState, readMode, readModel, readThinking } from "./config_options.ts";
import { editorText } from "./editor_text.ts";
import { type ConfigOption, invalidParams, REFUSALS, type SendUpdate, type StopReason, textBlock } from "./wire.ts";
import type { Connection } from "./server.ts";
import type { SessionPlace } from "./sessions.ts";
import { TurnUpdates } from "./updates.ts";

interface SessionStart extends SessionPlace {
  id: string;
  /** Continues the stored session with this id. */
  resumes: boolean;
  models: Choices["models"];
  /** Selector; null where the session decides. */
  model: string | null;
  /** The configuration does not lead to the model: it has to be named. */
  isChosen: boolean;
  /** Whether words of the model are sent once the session holds protected content. */
  showProtected: boolean;
}

const TITLE_LIMIT = 80;

/** The title of a session: the beginning of its first words. */
export function titleOfPrompt(text: string): string {
  return shortened(cleanLine(text), TITLE_LIMIT);
}

/** One session. Turns and changes of it come one after the other; modes and cancels count at once. */
export class AcpSession {
  readonly id: string;
  readonly #connection: Connection;
  readonly #start: SessionStart;
  readonly #context: Context;
  readonly #agent: AgentSession;
  readonly #updates: TurnUpdates;
  /** The last thing that was begun. */
  #work: Promise<unknown> = Promise.resolve();
  #turn: AbortController | null = null;
  readonly #life = new AbortController();
  #model: string | null;
  /** False where the open session still has the previous one. */
  #isModelOpen = true;
  /** The reasoning effort to request; undefined for the model's default. */
  #thinking: Thinking | undefined;
  #hasTitle: boolean;
  /** As the client knows them. */
  #reported = { options: "", mode: "" };

  constructor(connection: Connection, start: SessionStart) {
    const { options, context } = connection;
    this.id = start.id;
    this.#connection = connection;
    this.#start = start;
    this.#model = start.model;
    this.#hasTitle = start.resumes;
    this.#context = { ...context, globals: { ...context.globals, cwd: start.cwd } };
    this.#agent = new AgentSession({
      ...options,
      model: start.isChosen ? start.model ?? undefined : options.model,
      addDir: [...options.addDir, ...start.directories],
      mcpServers: start.mcpServers,
      ...start.resumes ? { resume: start.id } : { sessionId: start.id },
      ...{ allowProtectedPrompt: false, file: [], continue: false, forkSession: false, noSessionPersistence: false },
    }, this.#host());
    this.#updates = new TurnUpdates({
      send: this.#send,
      client: connection.client(),
      showProtected: start.showProtected,
      now: () => context.io.clock.monotonic(),
      place: () => {
        const { session } = this.#opened();
        const { workspace, tools, model } = session;
        return { workspace, tools, cwd: workspace.cwd, contextWindow: model.contextWindow };
      },
    });
  }

  settings(): { modes: ReturnType<typeof modeState>; configOptions: ConfigOption[] } {
    this.#reported.mode = this.#agent.mode;
    return { modes: modeState(this.#agent.mode), configOptions: this.#reportOptions() };
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#alone(() => this.#agent.ready(signal), signal);
    this.#learn();
  }

  /** Sends the whole history as it may be written down, including what a summary replaced. */
  async replay(): Promise<void> {
    const { session: { workspace } } = this.#opened();
    const { openDocument } = await import("../sessions/document.ts");
    const home = await openHome(this.#context.io);
    const { items, redacted } = await openDocument(home, { slug: projectSlug(workspace.root), id: this.id });
    await this.#updates.replay(items);
    if (redacted > 0) {
      await this.#updates.notice("Protected content is not stored: placeholders stand for it in the history.", "info");
    }
  }

  /** Opens the session in the background, and sends what is known then. Failures wait for the first prompt. */
  prepare(): void {
    this.#prepare().catch((error) => {
      // Whoever writes next to a client that has gone gets the error.
      if (!(error instanceof OutputClosed)) return hostOf(this.#context).warn(asAgentcliError(error).message);
    });
  }

  async #prepare(): Promise<void> {
    const { signal } = this.#life;
    await this.#alone(() => this.#agent.ready(signal).catch(() => {}), signal);
    if (signal.aborted) return;
    this.#learn();
    const { notice } = this.#host();
    for (const problem of this.#start.problems) await notice(problem);
    await this.#sendChanges();
    const { availableCommands } = await import("./commands.ts");
    await this.#send({
      sessionUpdate: "available_commands_update",
      availableCommands: await availableCommands(this.#agent.opened),
    });
  }

  /** Runs one turn. Throws any failure but a refusal of the prompt. */
  async prompt(prompt: unknown, signal: AbortSignal): Promise<{ stopReason: StopReason }> {
    if (this.#turn !== null && !this.#turn.signal.aborted) {
      throw new RpcError(RPC_CODES.invalidRequest, "a prompt runs in this session: wait for its end, or cancel it");
    }
    const turn = this.#turn = new AbortController();
    const stop = () => this.#interrupt(turn);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      // From here on a cancel finds the turn.
      const { promptBlocks } = await import("./content.ts");
      const blocks = promptBlocks(prompt);
      return { stopReason: await this.#alone(() => this.#run(blocks, turn.signal), turn.signal) };
    } catch (error) {
      if (error instanceof OutputClosed || !turn.signal.aborted) throw error;
      return { stopReason: "cancelled" };
    } finally {
      if (this.#turn === turn) this.#turn = null;
      signal.removeEventListener("abort", stop);
    }
  }

  /** Ends the turn that runs or waits to run. */
  cancel(): void {
    if (this.#turn !== null) this.#interrupt(this.#turn);
  }

  async setMode(mode: unknown, call: RpcCall): Promise<Record<string, never>> {
    this.#agent.setMode(readMode(mode));
    this.#reported.mode = this.#agent.mode;
    call.afterAnswer(() => this.#sendChanges());
    return await Promise.resolve({});
  }

  async setOption(id: unknown, value: unknown, call: RpcCall): Promise<{ configOptions: ConfigOption[] }> {
    switch (id) {
      case "mode":
        this.#agent.setMode(readMode(value));
        break;
      case "model":
        this.#choose(readModel(value, this.#choices()), { thinking: this.#thinking });
        break;
      case "thinking":
        this.#choose(this.#model, { thinking: readThinking(value) });
        break;
      default:
        throw invalidParams("unknown configuration option; there are mode, model and thinking");
    }
    call.afterAnswer(() => this.#sendChanges());
    return await Promise.resolve({ configOptions: this.#reportOptions() });
  }

  /** Ends the turn, then the session. */
  async close(): Promise<void> {
    this.cancel();
    // Nobody waits for a server that does not answer.
    this.#life.abort(new AgentcliError("interrupted", "the session was closed"));
    await this.#work;
    await this.#agent.close();
  }

  async #run(blocks: readonly Record<string, unknown>[], signal: AbortSignal): Promise<StopReason> {
    try {
      return await this.#answer(blocks, signal);
    } catch (error) {
      if (error instanceof OutputClosed || signal.aborted) throw error;
      const { code, message, hint } = asAgentcliError(error);
      if (!REFUSALS.has(code)) throw error;
      await this.#print(hint === undefined ? message : `${message}\n\n${hint}`);
      return "refusal";
    } finally {
      await this.#updates.endTurn();
      this.#learn();
      await this.#sendChanges();
    }
  }

  async #answer(blocks: readonly Record<string, unknown>[], signal: AbortSignal): Promise<StopReason> {
    const opened = await this.#agent.ready(signal);
    this.#isModelOpen = true;
    const { promptInput } = await import("./content.ts");
    const { readCommand, runCommand } = await import("./commands.ts");
    const emit = this.#updates.take.bind(this.#updates);
    const [first, ...rest] = blocks;
    const typed = first?.type === "text" ? await readCommand(textOf(first.text) ?? "", this.#agent) : null;
    if (typed?.kind === "command") {
      const target = { agent: this.#agent, context: this.#context, signal, emit };
      await this.#print(await runCommand(typed, target));
      return "end_turn";
    }
    const input = await promptInput(typed === null ? blocks : [{ type: "text", text: typed.text }, ...rest], opened, {
      io: this.#context.io,
      label: typed?.label ?? "open",
    });
    const { askClient } = await import("./permissions.ts");
    const { peer } = this.#connection;
    const ask = askClient(this.#agent, { peer, sessionId: this.id });
    const result = await this.#agent.prompt(input, { signal, ask, onEvent: emit });
    await this.#sendInfo(textOf(first?.text) ?? "", result);
    return await this.#stopReason(result, signal);
  }

  async #stopReason({ errorCode, errors, hint, stopReason }: TurnResult, signal: AbortSignal): Promise<StopReason> {
    if (signal.aborted) return "cancelled";
    if (errorCode === null) return stopReason === "max_tokens" ? "max_tokens" : "end_turn";
    switch (errorCode) {
      case "interrupted":
        return "cancelled";
      case "max_turns":
        return "max_turn_requests";
      case "permission_denied":
      case "check_failed":
      case "loop_detected":
      case "empty_reply":
      case "invalid_reply":
      case "timeout":
      case "context_overflow":
        await this.#print([...errors, ...hint === null ? [] : [hint]].join("\n\n"));
        return errorCode === "context_overflow" ? "max_tokens" : "end_turn";
      default:
        throw new AgentcliError(errorCode, errors.join("; "), { hint: hint ?? undefined });
    }
  }

  async #sendInfo(words: string, { label }: TurnResult): Promise<void> {
    const title = this.#hasTitle || label !== "open" ? "" : titleOfPrompt(words);
    this.#hasTitle ||= title !== "";
    const updatedAt = new Date(this.#context.io.clock.now()).toISOString();
    await this.#send({ sessionUpdate: "session_info_update", updatedAt, ...title === "" ? {} : { title } });
  }

  async #print(text: string): Promise<void> {
    await this.#send({ sessionUpdate: "agent_message_chunk", content: textBlock(text) });
  }

  /** Runs `work` when everything before it is over; gives up waiting when the signal is aborted. */
  async #alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#work;
    signal.throwIfAborted();
    const begun = untilAborted(before, { signal, drop: () => Promise.resolve() }).then(work);
    this.#work = Promise.allSettled([before, begun]);
    return await begun;
  }

  /** From the next turn on: what is being opened, or runs, keeps its model. */
  #choose(model: string | null, { thinking }: { thinking: Thinking | undefined }): void {
    this.#model = model;
    this.#thinking = thinking;
    this.#isModelOpen = false;
    const change = () => Promise.resolve(this.#agent.configure({ thinking, model: model ?? undefined }));
    // A session that is closed before has no next turn.
    this.#alone(change, this.#life.signal).catch(() => {});
  }

  #interrupt(turn: AbortController): void {
    turn.abort(new AgentcliError("interrupted", "the turn was interrupted"));
  }

  #opened() {
    const { opened } = this.#agent;
    if (opened === null) throw new AgentcliError("internal", "the session is not open");
    return opened;
  }

  /** Takes over what the open session knows better than it did at its beginning, and what commands changed in it. */
  #learn(): void {
    if (!this.#isModelOpen) return;
    const { opened, thinking } = this.#agent;
    this.#thinking = thinking;
    if (opened !== null && opened.session.model.entry.id !== "") this.#model = selectorOf(opened);
  }

  #choices(): Choices {
    const session = this.#agent.opened?.session;
    const [source] = session?.items.flatMap((item) => "source" in item ? [item.source] : []) ?? [];
    return {
      mode: this.#agent.mode,
      models: this.#start.models,
      model: this.#model,
      thinking: this.#thinking,
      isProtected: session !== undefined && sessionLabel(session) !== "open",
      source,
    };
  }

  #reportOptions(): ConfigOption[] {
    const options = configOptions(this.#choices());
    this.#reported.options = JSON.stringify(options);
    return options;
  }

  /** Sends what changed since the last update. */
  async #sendChanges(): Promise<void> {
    const { options, mode } = this.#reported;
    const configured = this.#reportOptions();
    if (this.#agent.mode !== mode) {
      this.#reported.mode = this.#agent.mode;
      await this.#send({ sessionUpdate: "current_mode_update", currentModeId: this.#agent.mode });
    }
    if (JSON.stringify(configured) !== options) {
      await this.#send({ sessionUpdate: "config_option_update", configOptions: configured });
    }
  }

  readonly #send: SendUpdate = async (update) => {
    await this.#connection.peer.notify("session/update", { sessionId: this.id, update });
  };

  #host() {
    const { peer, client } = this.#connection;
    const host = hostOf(this.#context, { clientNames: true });
    const showing = (show: typeof host.notice, severity: "info" | "warning") => async (text: string) => {
      await show(text);
      await this.#updates.notice(text, severity);
    };
    return {
      ...host,
      notice: showing(host.notice, "info"),
      warn: showing(host.warn, "warning"),
      ...client().readsFiles
        ? { unsaved: editorText({ peer, sessionId: this.id, clock: this.#context.io.clock }) }
        : {},
    };
  }
}
