/**
 * Turns the events of a turn, or a stored history, into updates for the client. Holds open calls, so that each of them
 * ends.
 */
import { fenced } from "../../platform/text.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import { type LabelTrace, traceLabel, type TurnEvent } from "../../protocol/turn_event.ts";
import type { SessionMemory } from "../../tools/tool.ts";
import type { ClientCapabilities } from "./server.ts";
import { type CallPlace, endedCall, openedCall, textContent, titleOf } from "./tool_calls.ts";
import { type ContentBlock, type PlanEntry, type SendUpdate, shownText, textBlock } from "./wire.ts";
import { writtenTodos } from "../../agent/todos.ts";
import { type AssistantItem, isUsersWords, type SessionItem, type UserItem } from "../../session/item.ts";

/** Characters at the end of a command's output that are shown while it runs. */
const TAIL = 4000;
/** Milliseconds between two updates of it. */
const TAIL_PAUSE_MS = 250;

/** Where updates go, and what they are made with. */
interface UpdateOptions {
  send: SendUpdate;
  client: ClientCapabilities;
  /** Whether words of the model are shown once the session holds protected content. */
  showProtected: boolean;
  /** Milliseconds that only grow. */
  now(): number;
  /** The session as it is now. */
  place(): CallPlace & { workspace: Workspace; contextWindow: number };
}

interface OpenCall {
  toolName: string;
  /** The end of its output so far, and when it was shown last. */
  tail?: { text: string; shown: number };
  /** The calls of its search so far, and the label of what they have read. */
  steps: string[];
  search?: LabelTrace;
}

/** The updates of one session. */
export class TurnUpdates {
  readonly #options: UpdateOptions;
  readonly #trace = traceLabel();
  readonly #calls = new Map<string, OpenCall>();
  /** Messages whose words were sent piece by piece, or as a placeholder. */
  readonly #sent = new Set<string>();
  #checks = 0;
  #compactions = 0;
  #isCompacting = false;

  constructor(options: UpdateOptions) {
    this.#options = options;
  }

  /** Whether nothing protected is in the session, as far as its events have shown. */
  get isOpen(): boolean {
    return this.#trace.label === "open";
  }

  /** Takes an event; resolves when the client's pipe took what it became. */
  async take(event: TurnEvent): Promise<void> {
    this.#trace.follow(event);
    const { send, client } = this.#options;
    switch (event.kind) {
      case "delta":
        return await this.#words(event);
      case "response":
        return await this.#response(event);
      case "tool_start":
        return await this.#started(event);
      case "tool_output":
        return await this.#output(event);
      case "tool_result":
        return await this.#ended(event);
      case "nested":
        return await this.#nested(event);
      case "check":
        return await this.#check(event);
      case "status":
        if (event.status === "compacting") await this.#compaction("in_progress");
        return;
      case "compacted":
        return await this.#compaction("completed", shownText(event.summary.text, event.summary.label));
      case "truncated":
        return await this.notice(`The server dropped a part of the prompt: ${event.hint}`, "warning");
      case "retry":
        return await this.notice(`${event.notice.reason}; trying again`, "warning");
      case "notice":
        if (client.notices) await send({ sessionUpdate: "notice", severity: "info", title: event.text });
        return;
    }
  }

  /** Sends a stored history, in its order; every call in it ends. */
  async replay(items: readonly SessionItem[]): Promise<void> {
    const { send } = this.#options;
    for (const [at, item] of items.entries()) {
      if (item.kind === "assistant") await this.#message(item);
      else if (item.kind === "tool_result") {
        this.#calls.delete(item.callId);
        await send({ sessionUpdate: "tool_call_update", ...endedCall(item, {}) });
      } else if (isUsersWords(item)) {
        for (const content of userBlocks(item)) {
          await send({ sessionUpdate: "user_message_chunk", content, messageId: `user${at}` });
        }
      }
    }
    for (const toolCallId of this.#calls.keys()) {
      await send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    }
    this.#calls.clear();
    const todos = writtenTodos(items.filter(({ label }) => label === "open"));
    if (todos.length > 0) await send({ sessionUpdate: "plan", entries: planOf(todos) });
  }

  /** Sends the client a notice, where it can show it. */
  async notice(title: string, severity: "info" | "warning"): Promise<void> {
    if (this.#options.client.notices) await this.#options.send({ sessionUpdate: "notice", severity, title });
  }

  /** Ends what a turn left open: a call that never ends freezes some clients. */
  async endTurn(): Promise<void> {
    for (const toolCallId of this.#calls.keys()) {
      await this.#options.send({
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: "failed",
        content: [textContent("Interrupted.")],
      });
    }
    await this.#compaction("failed");
    this.#calls.clear();
    this.#sent.clear();
  }

  async #words({ messageId, delta }: TurnEvent & { kind: "delta" }): Promise<void> {
    const { send, showProtected } = this.#options;
    if (delta.kind !== "text" && delta.kind !== "reasoning") return;
    const sessionUpdate = delta.kind === "text" ? "agent_message_chunk" as const : "agent_thought_chunk" as const;
    if (this.isOpen || showProtected) {
      this.#sent.add(`${sessionUpdate} ${messageId}`);
      await send({ sessionUpdate, content: textBlock(delta.text), messageId });
    }
  }

  async #response({ item, usage }: TurnEvent & { kind: "response" }): Promise<void> {
    await this.#message(item);
    if (usage === null) return;
    const { send, place } = this.#options;
    const used = usage.promptTokens + usage.completionTokens;
    await send({ sessionUpdate: "usage_update", used, size: place().contextWindow });
  }

  /** Sends what was not sent piece by piece, and the calls. */
  async #message(item: AssistantItem): Promise<void> {
    const { send, showProtected, place } = this.#options;
    const words = [["agent_thought_chunk", item.reasoning], ["agent_message_chunk", item.text]] as const;
    for (const [sessionUpdate, text] of words) {
      if (text.trim() === "" || this.#sent.has(`${sessionUpdate} ${item.id}`)) continue;
      const shown = showProtected ? text : shownText(text, item.label);
      await send({ sessionUpdate, content: textBlock(shown), messageId: item.id });
    }
    for (const call of item.calls) {
      this.#calls.set(call.id, { toolName: call.name, steps: [] });
      await send({ sessionUpdate: "tool_call", ...openedCall(call, place(), { isOpen: item.label === "open" }) });
    }
  }

  async #started({ callId, toolName, subject }: TurnEvent & { kind: "tool_start" }): Promise<void> {
    const call = this.#calls.get(callId) ?? { toolName, steps: [] };
    this.#calls.set(callId, { ...call, toolName });
    const title = this.isOpen ? { title: titleOf(toolName, subject) } : {};
    const update = { toolCallId: callId, status: "in_progress" as const, ...title };
    await this.#options.send({ sessionUpdate: "tool_call_update", ...update });
  }

  /** Shows the output of a running command; where something is protected it is scanned first, once it is whole. */
  async #output({ callId, bytes }: TurnEvent & { kind: "tool_output" }): Promise<void> {
    const { send, place, now } = this.#options;
    const call = this.#calls.get(callId);
    if (call === undefined || !this.isOpen || place().workspace.protection.any) return;
    const { text, shown } = call.tail ?? { text: "", shown: -Infinity };
    const tail = (text + new TextDecoder().decode(bytes)).slice(-TAIL);
    const isDue = now() - shown >= TAIL_PAUSE_MS;
    call.tail = { text: tail, shown: isDue ? now() : shown };
    if (!isDue) return;
    await send({ sessionUpdate: "tool_call_update", toolCallId: callId, content: [textContent(fenced(tail))] });
  }

  async #ended({ item, details, change }: TurnEvent & { kind: "tool_result" }): Promise<void> {
    const { send } = this.#options;
    this.#calls.delete(item.callId);
    await send({ sessionUpdate: "tool_call_update", ...endedCall(item, { details, change }) });
    if (item.name === "TodoWrite" && !item.isError && item.label === "open") {
      await send({ sessionUpdate: "plan", entries: planOf(details?.newTodos as SessionMemory["todos"] ?? []) });
    }
  }

  /** Shows a search as the content of the call that asked for it. */
  async #nested({ callId, event }: TurnEvent & { kind: "nested" }): Promise<void> {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    const search = call.search ??= traceLabel();
    search.follow(event);
    if (event.kind !== "tool_start") return;
    const isOpen = this.isOpen && search.label === "open";
    call.steps.push(isOpen ? titleOf(event.toolName, event.subject) : search.toolName(event.toolName));
    await this.#options.send({
      sessionUpdate: "tool_call_update",
      toolCallId: callId,
      content: [textContent(call.steps.join("\n"))],
    });
  }

  /** The check of a turn is shown as a call of its own. */
  async #check(event: TurnEvent & { kind: "check" }): Promise<void> {
    const { send } = this.#options;
    if (event.state === "running") {
      const toolCallId = `check${this.#checks += 1}`;
      this.#calls.set(toolCallId, { toolName: "check", steps: [] });
      const call = { toolCallId, title: `check: ${event.command}`, kind: "execute" as const };
      return await send({ sessionUpdate: "tool_call", ...call, status: "in_progress" });
    }
    const toolCallId = `check${this.#checks}`;
    if (!this.#calls.delete(toolCallId)) return;
    const ended = event.exitCode === null ? event.reason ?? "not run" : `exit code ${event.exitCode}`;
    const status = event.state === "passed" ? "completed" : "failed";
    await send({ sessionUpdate: "tool_call_update", toolCallId, status, content: [textContent(ended)] });
  }

  /** One at a time; one that made no summary has failed. */
  async #compaction(status: "in_progress" | "completed" | "failed", summary?: string): Promise<void> {
    if (!this.#options.client.compaction || (status !== "in_progress" && !this.#isCompacting)) return;
    if (status === "in_progress") await this.#compaction("failed");
    this.#isCompacting = status === "in_progress";
    if (this.#isCompacting) this.#compactions += 1;
    await this.#options.send({
      sessionUpdate: "compaction_update",
      compactionId: `compaction${this.#compactions}`,
      status,
      summary: summary === undefined ? undefined : [textBlock(summary)],
    });
  }
}

/** The plan of a list of todos. */
function planOf(todos: SessionMemory["todos"]): PlanEntry[] {
  return todos.map(({ content, status }) => ({ content, status, priority: "medium" }));
}

/** A protected message is a placeholder here too: it may hold what was attached to it. */
function userBlocks({ text, label, images = [] }: UserItem): ContentBlock[] {
  const shown = label === "open" ? images : [];
  return [
    textBlock(shownText(text, label)),
    ...shown.map(({ mediaType, data }): ContentBlock => ({ type: "image", mimeType: mediaType, data })),
  ];
}
