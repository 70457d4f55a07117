/** Prompts of a session: the item of one with its attachments, and the queue of messages that wait. */
import type { Session } from "../agent/session.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import type { ShownImage } from "../provider/chat/content.ts";
import { isPrompt, type UserItem } from "../session/item.ts";
import type { Host } from "./host.ts";

/** The input of one turn. */
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

/** The dependencies for reading what a prompt mentions. */
export interface ReadingOptions {
  session: Session;
  io: Host["io"];
  signal: AbortSignal;
  /** Told what is left out. */
  notice: Host["notice"];
}

/** A file as a part of the prompt. */
export interface Attached {
  text: string;
  label: Label;
  image?: ShownImage;
}

/**
 * The prompt and the attached files and images, with the highest label of what is in it. A file that cannot be attached
 * is `usage`, a protected one `policy_refused`, one that a deny rule of Read covers `permission_denied`.
 */
export async function userItem(
  prompt: string,
  { files, mentions }: { files: readonly string[]; mentions: readonly string[] },
  { session, ...reading }: ReadingOptions,
): Promise<UserItem> {
  const attached = [
    ...files.length === 0 ? [] : await attachedFiles(files, session),
    ...mentions.length === 0 ? [] : await attachedMentions(mentions, { session, ...reading }),
  ];
  const label = highestLabel([session.workspace.ambientLabel, ...attached.map((file) => file.label)]);
  const text = [prompt, ...attached.map((file) => file.text), ...planNotes(session)].join("\n\n");
  const item: UserItem = { kind: "user", text, label };
  const images = attached.flatMap(({ image }) => image === undefined ? [] : [image]);
  // With what instructions and the prompt of a command were read from.
  const used = session.workspace.takeUsed();
  return { ...item, ...images.length === 0 ? {} : { images }, files: used };
}

/** Told with each prompt of plan mode: the system prompt and the tools stay as they are, and so does the server's cache. */
const PLAN_NOTE =
  "[Plan mode: change nothing. Read what you need. End with a plan under the heading `## Plan`: what to " +
  "change in which files, and how to check it.]";
const PLAN_OVER = "[Plan mode is over: changes are possible again.]";

function planNotes({ policy, items }: Pick<Session, "policy" | "items">): string[] {
  if (policy.mode === "plan") return [PLAN_NOTE];
  const last = items.findLast(isPrompt);
  return last?.kind === "user" && last.text.endsWith(PLAN_NOTE) ? [PLAN_OVER] : [];
}

async function attachedFiles(
  files: readonly string[],
  session: Pick<Session, "workspace" | "policy">,
): Promise<Attached[]> {
  const { attachFiles } = await import("./attachments.ts");
  return await attachFiles(files, session);
}

async function attachedMentions(mentions: readonly string[], options: ReadingOptions): Promise<Attached[]> {
  const { readMentions } = await import("./mentions.ts");
  return await readMentions(mentions, options);
}

/** A message that waits for the next tool result of the running turn, or for a turn of its own. */
export interface QueuedMessage {
  /** As it was typed or sent. */
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

/** A bounded queue. Between turns its owner takes from it, during a turn the session does. */
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

  /** Takes the oldest message once there is one; null when none will come. */
  async next(): Promise<QueuedMessage | null> {
    while (this.#messages.length === 0 && !this.#ended) await this.#changed.promise;
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  get first(): QueuedMessage | null {
    return this.#messages[0]?.message ?? null;
  }

  /** The oldest that a running turn may have; null for none. */
  get firstForTurn(): QueuedMessage | null {
    return this.#messages.find(({ message }) => message.isForLater !== true)?.message ?? null;
  }

  get waiting(): QueuedMessage[] {
    return this.#messages.map(({ message }) => message);
  }

  /** Removes a message; false when it is not there any more. */
  remove(message: QueuedMessage): boolean {
    const at = this.#messages.findIndex((queued) => queued.message === message);
    const [removed] = at < 0 ? [] : this.#messages.splice(at, 1);
    if (removed === undefined) return false;
    this.#size -= removed.size;
    this.#wake();
    return true;
  }

  /** Removes and returns all messages. */
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
