/**
 * Hooks that live in the client: called over the protocol, their responses read into decisions. Protected content is
 * not sent to them (specification of the boundary §5), and a hook that cannot be called counts as a veto.
 */
import type { AfterVerdict, BeforeVerdict, HookedCall, TurnHooks } from "../../agent/turn_options.ts";
import type { Clock } from "../../platform/io.ts";
import { fieldsOf, isRecord, membersOf, textOf } from "../../platform/record.ts";
import { orLate } from "../../platform/time_limit.ts";
import { REDACTED_INPUT, REDACTED_TEXT } from "../../protocol/turn_event.ts";
import { type ClientRequests, textsOf } from "./client.ts";

/** Fields of every hook request. */
interface HookFacts {
  session_id: string;
  transcript_path: string;
  cwd: string;
  permission_mode: string;
}

interface PromptVerdict {
  /** The reason why the prompt is refused; null if it is not. */
  blocked: string | null;
  /** Added to the prompt; empty for nothing. */
  context: string;
}

export interface ClientHooks extends TurnHooks {
  /** `text` is null for a prompt that may not be sent. */
  submit(text: string | null, signal: AbortSignal): Promise<PromptVerdict>;
}

interface HookConnection {
  table: HookTable;
  requests: ClientRequests;
  clock: Pick<Clock, "sleep">;
  facts(): HookFacts;
}

/** An answer, or null for one that failed or came too late. */
type Answer = Record<string, unknown> | null;

const FAILED = "a client hook could not be called";

/** Calls the hooks of `table`. */
export function createClientHooks(line: HookConnection): ClientHooks {
  const call = async (
    event: HookEvent,
    about: { toolName?: string; callId?: string; fields: Record<string, unknown> },
    signal: AbortSignal,
  ): Promise<Answer[]> => {
    const { toolName, callId } = about;
    const entries = (line.table.get(event) ?? []).filter((entry) => toolName === undefined || entry.matches(toolName));
    if (entries.length === 0) return [];
    const input = { ...line.facts(), hook_event_name: event, ...about.fields };
    return await Promise.all(entries.map((entry) => ask(line, { entry, input, callId }, signal)));
  };
  return {
    async before(hooked, signal) {
      const { toolName, callId } = hooked;
      const fields = { tool_name: toolName, tool_input: shownInput(hooked), tool_use_id: callId };
      return beforeVerdict(await call("PreToolUse", { toolName, callId, fields }, signal), hooked);
    },
    async after(hooked, result, signal) {
      const { toolName, callId } = hooked;
      const response = result.label === "open" ? { content: result.content, is_error: result.isError } : REDACTED_TEXT;
      const fields = {
        tool_name: toolName,
        tool_input: shownInput(hooked),
        tool_response: response,
        tool_use_id: callId,
      };
      return afterVerdict(await call("PostToolUse", { toolName, callId, fields }, signal));
    },
    async end(again, signal) {
      const answers = await call("Stop", { fields: { stop_hook_active: again } }, signal);
      const block = answers.find((answer) => answer?.decision === "block" && answer.continue !== false);
      return block === undefined || block === null ? null : textOf(block.reason) ?? "Go on.";
    },
    async submit(text, signal) {
      const answers = await call("UserPromptSubmit", { fields: { prompt: text ?? REDACTED_TEXT } }, signal);
      const block = answers.find((answer) => answer === null || isBlock(answer) || answer.continue === false);
      const blocked = block === undefined
        ? null
        : block === null
        ? FAILED
        : textOf(block.reason) ?? textOf(block.stopReason) ?? "a client hook refused it";
      return { blocked, context: contextOf(answers) };
    },
  };
}

/** Arguments of a session that read protected content may quote it. */
function shownInput({ input, label }: HookedCall): Record<string, unknown> {
  return label === "open" ? input : REDACTED_INPUT;
}

async function ask(
  { requests, clock }: HookConnection,
  asked: { entry: HookEntry; input: Record<string, unknown>; callId: string | undefined },
  signal: AbortSignal,
): Promise<Answer> {
  const { entry, input, callId } = asked;
  const question = {
    subtype: "hook_callback" as const,
    callback_id: entry.callbackId,
    input,
    tool_use_id: callId,
  };
  const answer = await orLate(entry.timeoutMs, { clock, signal }, (asking) => requests.ask(question, asking));
  return answer !== null && "response" in answer ? answer.response : null;
}

function isBlock(answer: Record<string, unknown>): boolean {
  return answer.decision === "block";
}

function contextOf(answers: readonly Answer[]): string {
  const texts = answers.map((answer) => textOf(fieldsOf(answer?.hookSpecificOutput).additionalContext) ?? "");
  return texts.filter((text) => text !== "").join("\n\n");
}

const STRICTNESS = { pass: 0, allow: 1, ask: 2, deny: 3 } as const;

function beforeVerdict(answers: readonly Answer[], hooked: HookedCall): BeforeVerdict {
  const verdict: BeforeVerdict = { behavior: "pass", message: "", context: contextOf(answers), stop: false };
  for (const answer of answers) {
    const one = oneVerdict(answer);
    if (STRICTNESS[one.behavior] > STRICTNESS[verdict.behavior]) {
      verdict.behavior = one.behavior;
      verdict.message = one.message;
    }
    // A client that saw a placeholder in place of the arguments cannot have meant to change them.
    if (hooked.label === "open" && one.input !== undefined) verdict.input = one.input;
    verdict.stop ||= answer?.continue === false;
  }
  if (verdict.stop && verdict.behavior !== "deny") {
    const reason = answers.map((answer) => textOf(answer?.stopReason)).find((text) => text !== null);
    return { ...verdict, behavior: "deny", message: reason ?? "the client ended the turn" };
  }
  return verdict;
}

function oneVerdict(answer: Answer): Pick<BeforeVerdict, "behavior" | "message" | "input"> {
  if (answer === null) return { behavior: "deny", message: FAILED };
  const specific = fieldsOf(answer.hookSpecificOutput);
  const message = textOf(specific.permissionDecisionReason) ?? textOf(answer.reason) ?? "no reason was given";
  const input = isRecord(specific.updatedInput) ? { input: specific.updatedInput } : {};
  const decision = specific.permissionDecision ?? answer.decision;
  switch (decision) {
    case "deny":
    case "block":
      return { behavior: "deny", message };
    case "allow":
    case "approve":
      return { behavior: "allow", message, ...input };
    case "ask":
      return { behavior: "ask", message, ...input };
    default:
      return { behavior: "pass", message: "", ...input };
  }
}

function afterVerdict(answers: readonly Answer[]): AfterVerdict {
  const reasons = answers.flatMap((answer) =>
    answer !== null && isBlock(answer) ? [textOf(answer.reason) ?? "A hook objects to this result."] : []
  );
  const context = [...reasons, contextOf(answers)].filter((text) => text !== "").join("\n\n");
  return { context, stop: answers.some((answer) => answer?.continue === false) };
}

/** The supported hook events; others are never called. */
type HookEvent = "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "Stop";

interface HookEntry {
  callbackId: string;
  /** Returns whether the hook wants calls of this tool. */
  matches(toolName: string): boolean;
  timeoutMs: number;
}

export type HookTable = ReadonlyMap<HookEvent, readonly HookEntry[]>;

const EVENTS: readonly HookEvent[] = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"];

const TIMEOUT_MS = 60_000;

/** A matcher is a name, names joined by `|`, or an expression for the whole name; nothing and `*` match all. */
function matcherOf(text: string | null): (toolName: string) => boolean {
  if (text === null || text === "*") return () => true;
  try {
    const expression = new RegExp(`^(?:${text})$`);
    return (toolName) => expression.test(toolName);
  } catch {
    return (toolName) => toolName === text;
  }
}

/** Reads the field `hooks` of `initialize`: `{event: [{matcher?, hookCallbackIds, timeout? (seconds)}]}`. */
export function readHooks(value: unknown): HookTable {
  const given = fieldsOf(value);
  const table = new Map<HookEvent, HookEntry[]>();
  for (const event of EVENTS) {
    const entries = membersOf(given[event]).map(fieldsOf).flatMap((group) => {
      const matches = matcherOf(textOf(group.matcher));
      const seconds = typeof group.timeout === "number" && group.timeout > 0 ? group.timeout : null;
      const timeoutMs = seconds === null ? TIMEOUT_MS : seconds * 1000;
      return textsOf(group.hookCallbackIds).map((callbackId) => ({ callbackId, matches, timeoutMs }));
    });
    if (entries.length > 0) table.set(event, entries);
  }
  return table;
}
