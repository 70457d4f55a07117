/** Items of a session: the conversation, labeled, before any of it becomes a request. */
import type { Label } from "../boundary/policy/label.ts";
import { relativeTo } from "../platform/path.ts";
import type { ShownImage } from "../provider/chat/content.ts";

/**
 * A tool call of the model. `input` is null when the arguments could not be read; `problem` then says why, for the
 * model.
 */
export interface ToolCall {
  /** Unique in the session. */
  id: string;
  name: string;
  input: Record<string, unknown> | null;
  problem?: string;
}

/**
 * The id of a call: nine letters and digits (what the strictest server wants), made from the place of its response in
 * the session and its place in the response. Ids are ours, since servers repeat theirs or give none.
 */
export function callId(position: number, index: number): string {
  return `call${(position * 64 + index).toString(36).padStart(5, "0")}`;
}

/** The source of protected content, which the placeholder in a transcript names; neither field is protected itself. */
export interface ProtectedSource {
  path: string;
  /** The line of a marker that covers it. */
  rule: string;
}

/** Returns the source of what was read of a file, given by its absolute path, before it was protected. */
export function sourceOfFormer(path: string, root: string): ProtectedSource {
  return { path: relativeTo(root, path), rule: "protected by now" };
}

/** The files that an item may hold content of, as the workspace names them; absent where that was not noted. */
export type UsedFiles = readonly string[];

/** The place of its response in an id that {@link callId} made. */
export function positionOfCall(id: string): number {
  return Math.floor(parseInt(id.slice("call".length), 36) / 64);
}

/** A message of the user, or of the engine in the role of the user. */
export interface UserItem {
  kind: "user";
  text: string;
  /** Shown with the text; absent for none. */
  images?: readonly ShownImage[];
  label: Label;
  /**
   * The remote provider, with its address, to which the user let it go though it holds protected content; of a summary,
   * that it was made from such an item. A session that holds one is not stored ({@link releaseIn}).
   */
  releasedTo?: string;
  /**
   * Absent: the user. `engine`: a continue prompt. `summary`: stands for everything before it that was compacted.
   * `note`: what the user did between two prompts; it goes out with the next one. `steering`: said by the user while
   * the turn ran.
   */
  origin?: "engine" | "summary" | "note" | "steering";
  /** The line that a person typed, from which the text was made; never stored. */
  typed?: string;
  /**
   * Of a prompt: when it was said, milliseconds since 1970 and later than any before it. What its turn changes in files
   * is kept under that number.
   */
  said?: number;
  /** Of a `no-cloud` item, where it is known. */
  source?: ProtectedSource;
  files?: UsedFiles;
}

/** One response of the model. */
export interface AssistantItem {
  kind: "assistant";
  /** Unique in the session. */
  id: string;
  text: string;
  reasoning: string;
  calls: ToolCall[];
  label: Label;
}

/** The one result of one call. */
export interface ToolResultItem {
  kind: "tool_result";
  callId: string;
  name: string;
  content: string;
  /** Shown after the results of the response; absent for none. */
  images?: readonly ShownImage[];
  isError: boolean;
  label: Label;
  /** Of a `no-cloud` item, where it is known. */
  source?: ProtectedSource;
  files?: UsedFiles;
}

/** An item of a session; the system prompt is not one, it is built. */
export type SessionItem = UserItem | AssistantItem | ToolResultItem;

/**
 * Returns where some item was released to; undefined if none was. No store takes a session with such an
 * item.
 */
export function releaseIn(items: readonly SessionItem[]): string | undefined {
  return items.filter((item) => item.kind === "user").find(({ releasedTo }) => releasedTo !== undefined)?.releasedTo;
}

/** Returns whether an item is the prompt that began a turn. */
export function isPrompt(item: SessionItem): item is UserItem {
  return item.kind === "user" && item.origin === undefined;
}

/**
 * Returns the number of the current turn, under which undo keeps changes: that of the last prompt, 0 before the first.
 */
export function currentTurn(items: readonly SessionItem[]): number {
  return items.findLast(isPrompt)?.said ?? 0;
}

/** Returns whether an item is the user's words: a prompt, or a message sent while a turn ran. */
export function isUsersWords(item: SessionItem): boolean {
  return item.kind === "user" && (item.origin === undefined || item.origin === "steering");
}

/** The images that an item shows. */
export function imagesOf(item: SessionItem): readonly ShownImage[] {
  return item.kind === "assistant" ? [] : item.images ?? [];
}

/** Whether an item shows images. */
export function showsImages(item: SessionItem): boolean {
  return imagesOf(item).length > 0;
}

/**
 * Returns how many items come before the turn that first met protected content: what a fork for a remote model may
 * hold.
 */
export function itemsBeforeProtected(items: readonly SessionItem[]): number {
  const first = items.findIndex((item) => item.label !== "open");
  if (first < 0) return items.length;
  return Math.max(0, items.slice(0, first + 1).findLastIndex(isPrompt));
}

/** Returns what a person typed in a prompt: without its attachments, as far as those are known. */
export function typedText({ text, typed }: Pick<UserItem, "text" | "typed">): string {
  if (typed !== undefined) return typed;
  const attached = text.search(/^File [^\n]+:\n|\n\n(?:(?:File|Image|Directory) [^\n]+:(?:\n| )|\[Plan mode)/);
  return attached < 0 ? text : text.slice(0, attached);
}
