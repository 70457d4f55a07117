/** Prompts of a session: the item of one with its attachments, its admission, and the queue of messages that wait. */
import { admitPrompt, type AdmittedPrompt, applyMarkers } from "../agent/admission.ts";
import type { Session } from "../agent/session.ts";
import type { SteeredMessage } from "../agent/turn_options.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import { AgentcliError } from "../errors.ts";
import type { ShownImage } from "../provider/chat/content.ts";
import { currentTurn, isPrompt, type UserItem } from "../session/item.ts";
import type { Host, PromptHooks } from "./host.ts";
import type { SessionOptions } from "./session_options.ts";

export interface PromptInput {
  text: string;
  /** The line that the text was made from; absent where nobody typed one. */
  typed?: string;
  /** Of what the text was made from; absent: `open`. */
  label?: Label;
  /** Paths of files and images that are attached, besides those of the options. */
  files?: readonly string[];
  /** Paths of files and directories that its words name: as much of them is attached as there is room for. */
  mentions?: readonly string[];
  /** Shown before the images of files. */
  images?: readonly ShownImage[];
}

export interface ReadingOptions {
  session: Session;
  io: Host["io"];
  signal: AbortSignal;
  /** Called with what is left out. */
  notice: Host["notice"];
}

export interface Attached {
  text: string;
  label: Label;
  image?: ShownImage;
}

/**
 * Makes the item of a prompt with its files and images, labeled by all that is in it. Throws `usage` for a file that
 * cannot be attached, `policy_refused` for a protected one, and `permission_denied` for one that a deny rule of Read
 * covers.
 */
async function userItem(
  prompt: string,
  { files, mentions }: { files: readonly string[]; mentions: readonly string[] },
  { session, ...reading }: ReadingOptions,
): Promise<UserItem> {
  const attached = [
    ...files.length === 0 ? [] : await (await import("./attachments.ts")).attachFiles(files, session),
    ...mentions.length === 0
      ? []
      : await (await import("./mentions.ts")).readMentions(mentions, { session, ...reading }),
  ];
  const label = highestLabel([session.workspace.ambientLabel, ...attached.map((file) => file.label)]);
  const text = [prompt, ...attached.map((file) => file.text), ...planNotes(session)].join("\n\n");
  const item: UserItem = { kind: "user", text, label };
  const images = attached.flatMap(({ image }) => image === undefined ? [] : [image]);
  // With what the prompt of a command was read from.
  const used = session.workspace.takeUsed();
  return { ...item, ...images.length === 0 ? {} : { images }, files: used };
}

/** Sent with each prompt of plan mode: system prompt and tools stay the same, so that the prompt cache holds. */
const PLAN_NOTE =
  "[Plan mode: change nothing. Read what you need. End with a plan under the heading `## Plan`: what to " +
  "change in which files, and how to check it.]";
const PLAN_OVER = "[Plan mode is over: changes are possible again.]";

function planNotes({ policy, items }: Pick<Session, "policy" | "items">): string[] {
  if (policy.mode === "plan") return [PLAN_NOTE];
  const last = items.findLast(isPrompt);
  return last?.text.endsWith(PLAN_NOTE) ? [PLAN_OVER] : [];
}

/**
 * Returns the paths that a person's words name (`@src/a.ts`, or an image that was dragged into the terminal), to be
 * attached. Gives notice of them, and of those that cannot be attached.
 */
export async function mentionedPaths(
  text: string,
  workspace: Session["workspace"],
  notice: (text: string) => unknown,
): Promise<string[]> {
  if (!/@|\.(?:png|jpe?g|webp|gif)/i.test(text)) return [];
  const { findMentions } = await import("./mentions.ts");
  const { paths, problems } = await findMentions(text, workspace);
  for (const problem of problems) await notice(problem);
  if (paths.length > 0) await notice(`attached: ${paths.join(", ")}`);
  return paths;
}

/** A message that waits for the next tool result of the running turn, or for a turn of its own. */
export interface QueuedMessage {
  text: string;
  /** The client's name for it. */
  id?: string | undefined;
  /** It waits for a turn of its own. */
  isForLater?: boolean;
  /** Makes the prompt; null for a command, which waits until the turn is over. Throws where no prompt can be made. */
  toPrompt(): Promise<PromptInput | null>;
}

/** Characters that may be queued before input is no longer read. */
const LIMIT = 32 * 1024 * 1024;

/** A bounded queue of messages. Its owner takes from it between turns, the session during a turn. */
export class MessageQueue {
  readonly #messages: { message: QueuedMessage; size: number }[] = [];
  #size = 0;
  #ended = false;
  #changed = Promise.withResolvers<void>();

  /** Adds a message; resolves when there is room for more, so that input is read no faster than it is used. */
  async push(message: QueuedMessage, size: number = message.text.length): Promise<void> {
    this.#messages.push({ message, size });
    this.#size += size;
    this.#wake();
    while (this.#size > LIMIT && !this.#ended) await this.#changed.promise;
  }

  async next(): Promise<QueuedMessage | null> {
    while (this.#messages.length === 0 && !this.#ended) await this.#changed.promise;
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  get first(): QueuedMessage | null {
    return this.#messages[0]?.message ?? null;
  }

  /** The oldest message that a running turn may take; null for none. */
  get firstForTurn(): QueuedMessage | null {
    return this.#messages.find(({ message }) => message.isForLater !== true)?.message ?? null;
  }

  get waiting(): QueuedMessage[] {
    return this.#messages.map(({ message }) => message);
  }

  /** Removes a message; false when it has been taken already. */
  remove(message: QueuedMessage): boolean {
    const at = this.#messages.findIndex((queued) => queued.message === message);
    const [removed] = at < 0 ? [] : this.#messages.splice(at, 1);
    if (removed === undefined) return false;
    this.#size -= removed.size;
    this.#wake();
    return true;
  }

  drain(): QueuedMessage[] {
    this.#size = 0;
    const all = this.#messages.splice(0).map(({ message }) => message);
    this.#wake();
    return all;
  }

  /** No more will come. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

interface TurnScope {
  session: Session;
  hooks: PromptHooks | null;
  signal: AbortSignal;
}

/** Admits the prompts of an {@link AgentSession}, each as a whole: with its attachments and what hooks add. */
export class PromptAdmission {
  readonly #host: Host;
  readonly #files: () => readonly string[];
  #filesAttached = false;
  /** The time of the last prompt, whether it was admitted or not. */
  #said = 0;

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
    item.said = this.#said = Math.max(this.#host.io.clock.now(), this.#said + 1, currentTurn(session.items) + 1);
    if (typed !== undefined) item.typed = typed;
    if (images.length > 0) item.images = [...images, ...item.images ?? []];
    let admitted = await admitPrompt(session, item, { allowed });
    if (hooks !== null) {
      // Hooks do not see a prompt that may not leave the session.
      const shown = admitted.admitted === "open" && item.label === "open" ? text : null;
      const { blocked, context } = await hooks.submit(shown, signal);
      if (blocked !== null) throw new AgentcliError("permission_denied", `a hook refused the prompt: ${blocked}`);
      if (context !== "") {
        admitted = await admitPrompt(session, { ...item, text: `${item.text}\n\n${context}` }, { allowed });
      }
    }
    this.#filesAttached = true;
    return admitted;
  }

  /**
   * Yields queued messages that are admitted as prompts of the running turn; a protected one cannot be released here.
   * Stops at the first that is a command or is refused: it gets a turn of its own, where the refusal is shown.
   */
  async *steered(
    queue: MessageQueue,
    scope: TurnScope,
    { isOver }: { isOver(): boolean },
  ): AsyncGenerator<SteeredMessage> {
    for (let next = queue.firstForTurn; next !== null && !isOver(); next = queue.firstForTurn) {
      let item: UserItem;
      try {
        await applyMarkers(scope.session, scope.signal);
        const input = await next.toPrompt();
        if (input === null) return;
        ({ item } = await this.admit(input, scope));
      } catch (error) {
        scope.signal.throwIfAborted();
        if (error instanceof AgentcliError) return;
        throw error;
      }
      // It may have been withdrawn while it was scanned.
      if (!queue.remove(next)) continue;
      yield { item: { ...item, origin: "steering" }, text: next.text, id: next.id };
    }
  }
}
