/**
 * The one owner of a session: opens it when it is first used, admits prompts, runs turns, and stores what happened.
 * Nothing else changes the state of a session. Commands, chats and protocol clients are surfaces over it.
 */
import { applyMarkers } from "../agent/admission.ts";
import { startTurnState } from "../agent/turn_result.ts";
import { runTurn } from "../agent/turn.ts";
import type { PermissionMode } from "../config/types.ts";
import { AgentcliError } from "../errors.ts";
import type { TurnResult } from "../protocol/turn_event.ts";
import { itemsBeforeProtected, releaseIn, type UserItem } from "../session/item.ts";
import { readRules } from "../tools/registry.ts";
import { startDeadline, untilAborted } from "./interrupt.ts";
import type { Host, TurnSurface } from "./host.ts";
import type { SessionOptions } from "./session_options.ts";
import type { RewindParts, RewindPoint, Rewound, UndoneTurn } from "./rewind.ts";
import type { Restored } from "../session/undo_entry.ts";
import { splitRules } from "./tools_and_rules.ts";
import { MessageQueue, PromptAdmission, type PromptInput } from "./prompts.ts";
import { type OpenSession, openSession } from "./open_session.ts";
import type { WarmUp } from "./warm_up.ts";

const NEW_SESSION = { resume: undefined, continue: false, forkSession: false, sessionId: undefined } as const;

/** One session, and those that replace it. It does one thing at a time: a turn, a change of the session, or nothing. */
export class AgentSession {
  /** Messages that wait. A running turn takes those that it can use after tool results, the surface takes the rest. */
  readonly queue: MessageQueue = new MessageQueue();
  readonly #host: Host;
  /** Absent unless the model is configured with `warm_up`. */
  #warmUp: WarmUp | undefined;
  readonly #admission: PromptAdmission;
  #options: SessionOptions;
  #open: OpenSession | null = null;
  /** The model of the options is not the one that the session was opened with. */
  #isModelStale = false;
  /** The last rewind or undo, while it can be reversed. */
  #rewound: Rewound | null = null;

  constructor(options: SessionOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#admission = new PromptAdmission(host, () => this.#options.file);
  }

  /** The open session, for reading only; null until it is opened. */
  get opened(): OpenSession | null {
    return this.#open;
  }

  /** Whether an option or a choice made here names the model, rather than the configuration. */
  get isModelChosen(): boolean {
    return this.#options.model !== undefined;
  }

  get mode(): PermissionMode {
    return this.#options.permissionMode ?? "default";
  }

  /**
   * Opens the session unless it is open with this model: then it gets the rules of now, unless it was opened for a
   * single turn. Throws what opening and the rules throw, and the signal's reason at once.
   */
  async ready(signal: AbortSignal = new AbortController().signal): Promise<OpenSession> {
    signal.throwIfAborted();
    const previous = this.#open;
    if (previous !== null && !this.#isModelStale) {
      if (this.#host.isSingleTurn !== true) await applyMarkers(previous.session, signal);
      return previous;
    }
    await this.#warmUp?.stop();
    const opening = this.#reopen(this.#options, { previous, signal });
    // A session that is carried over keeps its transcript even if this fails.
    const drop = (late: OpenSession) => previous === null ? late.close() : late.release();
    this.#open = await untilAborted(opening, { signal, drop });
    this.#open.session.policy.mode = this.mode;
    this.#isModelStale = false;
    const isWarm = this.#open.session.model.entry.warmUp === true && this.#host.isSingleTurn !== true;
    if (isWarm) this.#warmUp ??= new (await import("./warm_up.ts")).WarmUp();
    if (isWarm && previous === null) this.#warmUp?.start(this.#open);
    return this.#open;
  }

  /**
   * Runs one turn. Throws if it cannot begin, and the reason of the signal or the deadline; the result says how it
   * ended otherwise.
   */
  async prompt(input: PromptInput, surface: TurnSurface): Promise<TurnResult> {
    const { io } = this.#host;
    const late = new AbortController();
    const endDeadline = startDeadline(this.#options.timeout, { clock: io.clock, controller: late });
    const signal = AbortSignal.any([surface.signal, late.signal]);
    try {
      return await this.#turn(input, { ...surface, signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      endDeadline();
    }
  }

  /**
   * Restores the files of the last turn that changed any; the next prompt says so to the model. Null where none did.
   */
  async undo(): Promise<UndoneTurn | null> {
    const { undoLastTurn } = await import("./rewind.ts");
    const undone = await this.#between(undoLastTurn);
    this.#rewound = undone?.rewound ?? this.#rewound;
    return undone;
  }

  /**
   * Runs a command that the user typed; with `isForModel`, its output goes out with the next prompt. Throws what a
   * scan of the output throws.
   */
  async runCommand(
    command: string,
    { signal, onEvent, isForModel }: Pick<TurnSurface, "signal" | "onEvent"> & { isForModel: boolean },
  ): Promise<void> {
    const { runUserCommand } = await import("./user_input.ts");
    const call = { io: this.#host.io, signal, emit: onEvent, isForModel };
    await this.#between(({ session }) => runUserCommand(command, session, call));
  }

  async rewindPoints(): Promise<RewindPoint[]> {
    const { rewindPoints } = await import("./rewind.ts");
    return await rewindPoints(await this.ready());
  }

  async rewind(prompt: UserItem, parts: RewindParts): Promise<Rewound> {
    const { rewind } = await import("./rewind.ts");
    return this.#rewound = await this.#between((opened) => rewind(opened, prompt, parts));
  }

  /**
   * Reverses the last {@link AgentSession.rewind} or {@link AgentSession.undo}; null if there is none, or a prompt came
   * after it.
   */
  async redo(): Promise<readonly Restored[] | null> {
    const rewound = this.#rewound;
    this.#rewound = null;
    if (rewound === null) return null;
    const { redo } = await import("./rewind.ts");
    return await this.#between((opened) => redo(opened, rewound));
  }

  /** Changes the session between turns, and then updates the transcript. */
  async #between<T>(work: (opened: OpenSession) => Promise<T>): Promise<T> {
    const opened = await this.ready();
    await this.#warmUp?.stop();
    const done = await work(opened);
    // Restored files are in no item, and would otherwise be noted with the next prompt.
    opened.session.workspace.takeUsed();
    await opened.recorder.settle();
    return done;
  }

  async compact(
    { signal, onEvent, keep }: Pick<TurnSurface, "signal" | "onEvent"> & { keep?: string },
  ): Promise<boolean> {
    const opened = await this.ready(signal);
    const { session, chat } = opened;
    await this.#warmUp?.stop();
    const { clock } = this.#host.io;
    const emit = opened.recorder.before(onEvent);
    const state = startTurnState(clock);
    const { compactSession } = await import("../agent/context/compact.ts");
    const done = await compactSession(session, { signal, emit, chat, trigger: "manual", keep, io: { clock }, state });
    await opened.recorder.settle();
    if (done) this.#warmUp?.start(opened);
    return done;
  }

  /** Changes options: the model and its reasoning from the next turn on, others when a session is opened next. */
  configure(options: Partial<SessionOptions>): void {
    this.#options = { ...this.#options, ...options };
    this.#isModelStale ||= "model" in options || "thinking" in options;
  }

  /** The reasoning effort to request; undefined for the model's default. */
  get thinking(): SessionOptions["thinking"] {
    return this.#options.thinking;
  }

  /** Sets the permission mode from the next call on. */
  setMode(mode: PermissionMode): void {
    this.configure({ permissionMode: mode });
    if (this.#open !== null) this.#open.session.policy.mode = mode;
  }

  /** Allows what a rule covers while the session is open. Throws `usage` for a malformed rule. */
  async allow(rule: string): Promise<void> {
    const rules = await readRules([rule]);
    this.configure({ allowedTools: [...this.#options.allowedTools, rule] });
    const policy = this.#open?.session.policy;
    if (policy !== undefined) policy.allow = [...policy.allow, ...rules];
  }

  /**
   * Allows what rules cover while the session is open, and stores them for the project, unless they may hold
   * protected content. Returns whether they are stored, and warns if not. Throws `usage` for a malformed rule.
   */
  async allowAlways(rules: readonly string[]): Promise<boolean> {
    for (const rule of rules) await this.allow(rule);
    const { session } = await this.ready();
    return await (await import("./user_input.ts")).storeRules(rules, { session, host: this.#host });
  }

  /** Removes a rule that allowed something, from the next call on. */
  disallow(rule: string): void {
    this.configure({ allowedTools: splitRules(this.#options.allowedTools).filter((text) => text !== rule) });
    const policy = this.#open?.session.policy;
    if (policy !== undefined) policy.allow = policy.allow.filter(({ text }) => text !== rule);
  }

  /** Names the session in its transcript; false where it is not stored. Throws what `titleOf` throws. */
  async rename(text: string): Promise<boolean> {
    const { session, recorder } = await this.ready();
    const { titleOf } = await import("./user_input.ts");
    const title = await titleOf(text, session.scanner);
    return await recorder.rename(title);
  }

  /** Changes the model now. If that fails, the session keeps the one that it had. */
  async setModel(selector: string): Promise<OpenSession> {
    const before = this.#options;
    const previous = this.#open;
    this.configure({ model: selector });
    try {
      return await this.ready();
    } catch (error) {
      this.#options = before;
      if (previous === null) throw error;
      // Its connections are closed already, so it is opened again with its former model.
      this.#open = await this.#reopen({ ...before, model: selectorOf(previous) }, { previous });
      this.#isModelStale = false;
      throw error;
    }
  }

  /** Replaces the session by a new one with the items from before it met anything protected. */
  async forkOpen(selector: string): Promise<OpenSession> {
    const { session } = await this.ready();
    const kept = session.items.slice(0, itemsBeforeProtected(session.items));
    const { removed } = session.context;
    const opened = await this.#replace({ ...this.#options, ...NEW_SESSION, model: selector });
    opened.session.items.push(...kept);
    opened.session.context.removed = removed;
    await opened.recorder.settle();
    return opened;
  }

  /** Replaces the session by an empty one. */
  async clear(): Promise<OpenSession> {
    return await this.#replace({ ...this.#options, ...NEW_SESSION, model: this.#ownModel() });
  }

  /** Replaces the session by a stored one, with the model of this one. */
  async resume(id: string): Promise<OpenSession> {
    return await this.#replace({ ...this.#options, ...NEW_SESSION, resume: id, model: this.#ownModel() });
  }

  async close(): Promise<void> {
    await this.#warmUp?.stop();
    await this.#open?.close();
    this.#open = null;
  }

  async #turn(input: PromptInput, { signal, onEvent, ask, hooks }: TurnSurface): Promise<TurnResult> {
    // A server that did not say where it runs may do so now.
    this.#isModelStale ||= this.#host.isSingleTurn !== true && this.#open?.session.model.isInDoubt === true;
    const { session, chat, recorder } = await this.ready(signal);
    await this.#warmUp?.stop();
    this.#rewound = null;
    const asked = hooks?.() ?? null;
    const scope = { session, hooks: asked, signal };
    const admitted = await this.#admission.admit(input, scope, this.#options.allowProtectedPrompt);
    if (admitted.admitted === "released") await this.#release(releaseIn(session.items) === undefined);
    const result = await runTurn(session, admitted, {
      io: this.#host.io,
      chat,
      signal,
      ask,
      emit: recorder.before(onEvent),
      steered: () => this.#admission.steered(this.queue, scope, { isOver: () => this.#isModelStale }),
      maxTurns: this.#options.maxTurns,
      isSingle: this.#host.isSingleTurn === true,
      ...asked === null ? {} : { hooks: asked },
    });
    // A message that does not fit into the window by itself would make every later turn fail.
    const last = session.items.at(-1);
    const isLast = last === admitted.item || (last?.kind === "user" && last.origin === "steering");
    if (result.errorCode === "context_overflow" && isLast && this.#host.isSingleTurn !== true) {
      session.items.pop();
      await this.#host.notice("the message was taken out of the session again");
    }
    await recorder.settle();
    return result;
  }

  /**
   * Ends the permission, which was for this one prompt. Says once that the session is not stored while it holds the
   * prompt.
   */
  async #release(isFirst: boolean): Promise<void> {
    this.configure({ allowProtectedPrompt: false });
    if (!isFirst) return;
    await this.#host.notice(
      this.#host.isSingleTurn
        ? "the prompt held protected content: not stored"
        : "the prompt held protected content: this session is not stored from here on",
    );
  }

  #ownModel(): string | undefined {
    return this.#open === null ? this.#options.model : selectorOf(this.#open);
  }

  async #replace(options: SessionOptions): Promise<OpenSession> {
    const before = this.#open;
    this.#rewound = null;
    const stored = before?.recorder.hasStored === true ? before.session.id : undefined;
    const back: SessionOptions = {
      ...this.#options,
      ...NEW_SESSION,
      resume: stored,
      model: this.#ownModel(),
    };
    await this.close();
    this.#options = options;
    try {
      return await this.ready();
    } catch (error) {
      this.#options = back;
      // If even that fails, the next turn tries again and reports the reason.
      await this.ready().catch(() => {});
      throw error;
    }
  }

  async #reopen(
    options: SessionOptions,
    { previous, signal = new AbortController().signal }: { previous: OpenSession | null; signal?: AbortSignal },
  ): Promise<OpenSession> {
    const tools = await this.#host.tools?.(signal) ?? [];
    return await openSession(options, this.#host, { tools, previous });
  }
}

/** Returns the selector of a session's model, which keeps its meaning when the configuration changes. */
export function selectorOf({ session }: OpenSession): string {
  const { provider, entry } = session.model;
  if (entry.id === "") throw new AgentcliError("no_model", "the session has no model");
  return `${provider}:${entry.id}`;
}
