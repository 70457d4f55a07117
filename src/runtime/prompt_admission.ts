/** Admits the prompts of one session: each with what is attached to it and what hooks add, looked through as a whole. */
import { admitPrompt, type AdmittedPrompt } from "../agent/admission.ts";
import type { Session } from "../agent/session.ts";
import type { SteeredMessage } from "../agent/turn_options.ts";
import { highestLabel } from "../boundary/policy/label.ts";
import { AgentcliError } from "../errors.ts";
import type { UserItem } from "../session/item.ts";
import type { Host, SessionOptions } from "./host.ts";
import { type MessageQueue, type PromptInput, userItem } from "./prompts.ts";
import type { PromptHooks } from "./turn_surface.ts";

/** The scope in which the prompts of one turn are admitted. */
export interface TurnScope {
  session: Session;
  hooks: PromptHooks | null;
  signal: AbortSignal;
}

/** The admission of one owner of sessions. */
export class PromptAdmission {
  readonly #host: Host;
  readonly #files: () => readonly string[];
  #filesAttached = false;

  /** `files` are attached to the first prompt that is admitted. */
  constructor(host: Host, files: () => readonly string[]) {
    this.#host = host;
    this.#files = files;
  }

  /** Admits a prompt; `allowed` lets a protected one through. Throws what refuses it. */
  async admit(
    { text, typed, label = "open", files = [], mentions = [], images = [] }: PromptInput,
    { session, hooks, signal }: TurnScope,
    allowed: SessionOptions["allowProtectedPrompt"] = false,
  ): Promise<AdmittedPrompt> {
    const named = { files: this.#filesAttached ? files : [...this.#files(), ...files], mentions };
    const item = await userItem(text, named, { session, io: this.#host.io, signal, notice: this.#host.notice });
    item.label = highestLabel([item.label, label]);
    if (typed !== undefined) item.typed = typed;
    if (images.length > 0) item.images = [...images, ...item.images ?? []];
    let admitted = await admitPrompt(session, item, { allowed });
    if (hooks !== null) {
      // What may not leave the session is not told to them.
      const told = admitted.admitted === "open" && item.label === "open" ? text : null;
      const { blocked, context } = await hooks.submit(told, signal);
      if (blocked !== null) throw new AgentcliError("permission_denied", `a hook refused the prompt: ${blocked}`);
      if (context !== "") {
        admitted = await admitPrompt(session, { ...item, text: `${item.text}\n\n${context}` }, { allowed });
      }
    }
    this.#filesAttached = true;
    return admitted;
  }

  /**
   * Yields queued messages that are admitted as prompts of the running turn; nobody may release a protected one here. From
   * the first that is a command or is refused on, the rest waits: it has its own turn, where the refusal is shown.
   */
  async *steered(
    queue: MessageQueue,
    scope: TurnScope,
    { isOver }: { isOver(): boolean },
  ): AsyncGenerator<SteeredMessage> {
    for (let next = queue.firstForTurn; next !== null && !isOver(); next = queue.firstForTurn) {
      let item: UserItem;
      try {
        const input = await next.toPrompt();
        if (input === null) return;
        ({ item } = await this.admit(input, scope));
      } catch (error) {
        scope.signal.throwIfAborted();
        if (error instanceof AgentcliError) return;
        throw error;
      }
      // Looking through it takes time, in which it may have been taken back.
      if (!queue.remove(next)) continue;
      yield { item: { ...item, origin: "steering" }, text: next.text, id: next.id };
    }
  }
}
