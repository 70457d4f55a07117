/** The session of a chat: prepared with the first turn, carried over to other models, left for another session. */
import { admitPrompt } from "../../agent/admit_prompt.ts";
import { compactSession } from "../../agent/compact.ts";
import type { AskPermission } from "../../agent/permission_question.ts";
import { startCount } from "../../agent/result.ts";
import type { Session } from "../../agent/session.ts";
import { runTurn } from "../../agent/turn.ts";
import { highestLabel } from "../../boundary/policy/label.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import type { PermissionMode } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { TurnListener, TurnResult } from "../../protocol/turn_event.ts";
import { itemsBeforeProtected } from "../../session/fork.ts";
import type { UserItem } from "../../session/item.ts";
import { readRules } from "../../tools/registry.ts";
import { startDeadline } from "../run/deadline.ts";
import { prepare, type Prepared } from "../run/prepare.ts";
import { userItem } from "../run/user_item.ts";
import type { RunOptions } from "../run/verb.ts";
import type { Context } from "../verb.ts";
import type { TypedPrompt } from "./typed_line.ts";

/** What one turn needs. */
export interface ChatTurn {
  signal: AbortSignal;
  emit: TurnListener;
  ask: AskPermission;
}

/** Takes up nothing that is stored. */
const NEW_SESSION = { resume: undefined, continue: false, forkSession: false, sessionId: undefined } as const;

/** The modes that a key goes through; what asks for nothing is chosen by name alone. */
const CYCLED_MODES = ["default", "acceptEdits", "plan"] as const;

/** One chat. One thing at a time: a turn, a command that changes the session, or nothing. */
export class ChatSession {
  readonly #context: Context;
  readonly #notice: (text: string) => void;
  #options: RunOptions;
  #prepared: Prepared | null = null;
  #filesAttached = false;
  /** A protected prompt was let through to a model elsewhere: nothing is stored from then on. */
  #stored = true;

  constructor(options: RunOptions, context: Context, given: { notice(text: string): void }) {
    this.#options = options;
    this.#context = context;
    this.#notice = given.notice;
  }

  /** Null until the first turn, or {@link ChatSession.ready}. */
  get prepared(): Prepared | null {
    return this.#prepared;
  }

  /** Whether the model is of an option or of this chat, so that the configuration does not lead to it. */
  get isModelChosen(): boolean {
    return this.#options.model !== undefined;
  }

  get mode(): PermissionMode {
    return this.#prepared?.session.policy.mode ?? this.#options.permissionMode ?? "default";
  }

  /** Prepares the session where it is not. Throws what `prepare` throws. */
  async ready(): Promise<Prepared> {
    return this.#prepared ??= await this.#prepare(this.#options, null);
  }

  /** One turn. Throws what keeps it from beginning; how it ended otherwise is in the result. */
  async turn({ text, label, from }: TypedPrompt, { signal, emit, ask }: ChatTurn): Promise<TurnResult> {
    const { session, model, recorder } = await this.ready();
    signal.throwIfAborted();
    const named = from === null ? await this.#mentioned(text, session.workspace) : [];
    const files = this.#filesAttached ? named : [...this.#options.file, ...named];
    const item = await userItem(text, files, session);
    item.label = highestLabel([item.label, label]);
    await this.#admit(session, item);
    this.#filesAttached = true;
    const { io } = this.#context;
    const late = new AbortController();
    const endDeadline = startDeadline(this.#options.timeout, { clock: io.clock, controller: late });
    try {
      const result = await runTurn(session, item, {
        io,
        model,
        signal: AbortSignal.any([signal, late.signal]),
        ask,
        emit: this.#stored ? recorder.before(emit) : emit,
        maxTurns: this.#options.maxTurns,
      });
      // What is too long for the window by itself would make every later turn fail too.
      if (result.errorCode === "context_overflow" && session.items.at(-1) === item) {
        session.items.pop();
        this.#notice("the message was taken out of the session again");
      }
      if (this.#stored) await recorder.settle();
      return result;
    } finally {
      endDeadline();
    }
  }

  /** Tells the model something with the next prompt, in this chat or a later one. */
  async note(text: string): Promise<void> {
    const { session, recorder } = await this.ready();
    session.items.push({ kind: "user", origin: "note", text, label: "open" });
    if (this.#stored) await recorder.settle();
  }

  /** Summarises the older part now; false when there is nothing worth it. */
  async compact({ signal, emit }: Pick<ChatTurn, "signal" | "emit">): Promise<boolean> {
    const { session, model, recorder } = await this.ready();
    const { clock } = this.#context.io;
    const done = await compactSession(session, {
      signal,
      emit: this.#stored ? recorder.before(emit) : emit,
      model,
      trigger: "manual",
      io: { clock },
      count: startCount(clock),
    });
    if (this.#stored) await recorder.settle();
    return done;
  }

  /** From the next call on. */
  setMode(mode: PermissionMode): void {
    this.#options = { ...this.#options, permissionMode: mode };
    if (this.#prepared !== null) this.#prepared.session.policy.mode = mode;
  }

  /** The next of the modes that one key goes through. */
  nextMode(): void {
    const at = CYCLED_MODES.findIndex((mode) => mode === this.mode);
    this.setMode(CYCLED_MODES[(at + 1) % CYCLED_MODES.length] ?? "default");
  }

  /** Allows what a rule covers for as long as the chat lasts. Throws `usage` for a malformed one. */
  allow(rule: string): void {
    const rules = readRules([rule]);
    this.#options = { ...this.#options, allowedTools: [...this.#options.allowedTools, rule] };
    const policy = this.#prepared?.session.policy;
    if (policy !== undefined) policy.allow = [...policy.allow, ...rules];
  }

  /** The same session with another model. When that cannot be, the session stays with its own. */
  async setModel(selector: string): Promise<Prepared> {
    const previous = this.#prepared;
    const before = this.#options;
    this.#options = { ...before, model: selector };
    if (previous === null) return await this.ready();
    try {
      return this.#prepared = await this.#prepare(this.#options, previous);
    } catch (error) {
      this.#options = before;
      // Its connections are closed already: opened again for the model that it had.
      this.#prepared = await this.#prepare({ ...before, model: selectorOf(previous) }, previous);
      throw error;
    }
  }

  /** A new session with what there was before anything protected was met, for a model that may not see that. */
  async forkOpen(selector: string): Promise<Prepared> {
    const { session } = await this.ready();
    const kept = session.items.slice(0, itemsBeforeProtected(session.items));
    const { removed } = session.context;
    const prepared = await this.#leave({ ...this.#options, ...NEW_SESSION, model: selector });
    prepared.session.items.push(...kept);
    prepared.session.context.removed = removed;
    await prepared.recorder.settle();
    return prepared;
  }

  /** An empty session. */
  async clear(): Promise<Prepared> {
    const model = this.#prepared === null ? this.#options.model : selectorOf(this.#prepared);
    return await this.#leave({ ...this.#options, ...NEW_SESSION, model });
  }

  /** Goes on with a stored session, with the model of this one. */
  async resume(id: string): Promise<Prepared> {
    const model = this.#prepared === null ? this.#options.model : selectorOf(this.#prepared);
    return await this.#leave({ ...this.#options, ...NEW_SESSION, resume: id, model });
  }

  async close(): Promise<void> {
    await this.#prepared?.close();
    this.#prepared = null;
  }

  /** Images that a person's words name, told what becomes of them. */
  async #mentioned(text: string, workspace: Workspace): Promise<string[]> {
    if (!/\.(?:png|jpe?g|webp|gif)/i.test(text)) return [];
    const { mentionedImages } = await import("./mentioned_images.ts");
    const { files, problems } = await mentionedImages(text, workspace);
    for (const problem of problems) this.#notice(problem);
    if (files.length > 0) this.#notice(`attached: ${files.join(", ")}`);
    return files;
  }

  /** Another session. When that cannot be opened, the chat goes on with the one that was left. */
  async #leave(options: RunOptions): Promise<Prepared> {
    const left = this.#prepared;
    const isStored = left !== null && left.transcriptFile !== null && left.session.items.length > 0;
    const back: RunOptions = {
      ...this.#options,
      ...NEW_SESSION,
      resume: isStored ? left.session.id : undefined,
      model: left === null ? this.#options.model : selectorOf(left),
    };
    await this.close();
    this.#options = options;
    this.#stored = true;
    try {
      return await this.ready();
    } catch (error) {
      this.#options = back;
      // Where even that fails, the next turn tries again and tells why.
      await this.ready().catch(() => {});
      throw error;
    }
  }

  async #prepare(options: RunOptions, previous: Prepared | null): Promise<Prepared> {
    // What prepares writes its own progress, and would write over what is shown.
    const quiet = { ...this.#context, globals: { ...this.#context.globals, quiet: true } };
    const prepared = await prepare(options, quiet, previous === null ? {} : { previous });
    for (const text of prepared.notices) this.#notice(text);
    return prepared;
  }

  /** The permission to let a protected prompt through was for one prompt, and nothing is stored from there on. */
  async #admit(session: Session, item: UserItem): Promise<void> {
    const found = await admitPrompt(session, item, { allowed: this.#options.allowProtectedPrompt });
    if (found === "open" || session.model.local) return;
    this.#stored = false;
    this.#options = { ...this.#options, allowProtectedPrompt: false };
    this.#notice("the prompt held protected content: this session is not stored from here on");
  }
}

/** The selector of a session's model, so that it stays the same whatever the configuration becomes. */
export function selectorOf({ session }: Prepared): string {
  const { provider, entry } = session.model;
  if (entry.id === "") throw new AgentcliError("no_model", "the session has no model");
  return `${provider}:${entry.id}`;
}
