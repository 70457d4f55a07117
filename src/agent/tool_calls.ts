/** The calls of one response: run in order, each with exactly one result. */
import type { ToolCall } from "../session/item.ts";
import { type CallOptions, type CallOutcome, runCall } from "./tool_call.ts";
import { LoopGuard } from "./loop_guard.ts";
import { resultRoom, type Session } from "./session.ts";
import { sessionLabel } from "./labels.ts";
import type { TurnResponse } from "./response.ts";

/**
 * Runs the calls of one response in order; consecutive reads run concurrently. Returns whether a person or a hook ends
 * the turn. Throws the abort reason, and `loop_detected` when calls only fail.
 */
export async function runCalls(
  { item: { calls }, droppedCalls }: Pick<TurnResponse, "item" | "droppedCalls">,
  session: Session,
  options: CallOptions,
): Promise<boolean> {
  let interrupt = false;
  const resultBytes = Math.min(resultRoom(session, calls.length), session.context.mostResult);
  const guard = session.guard ??= new LoopGuard();
  guard.countResponse();
  const twice = repeated(calls);
  for (const batch of batches(calls, session)) {
    options.signal.throwIfAborted();
    let last: Promise<void> = Promise.resolve();
    const outcomes = await Promise.all(batch.map(async (call) => {
      const { promise, resolve: started } = Promise.withResolvers<void>();
      const order = { previous: last, started };
      last = promise;
      try {
        return await runCall(call, session, { ...options, resultBytes, guard, ...order, isTwice: twice.has(call) });
      } finally {
        started();
      }
    }));
    options.signal.throwIfAborted();
    // One that ends late may have its files noted with one that ended before: a file is noted with the first, too.
    // Names of those of protected results may hold protected content.
    const open = outcomes.filter(({ item }, at) => at === 0 || item.label === "open");
    const files = [...new Set(open.flatMap(({ item }) => item.files ?? []))];
    for (const [at, outcome] of outcomes.entries()) {
      if (at === 0) outcome.item.files = files;
      const isLast = outcome.item.callId === calls.at(-1)?.id;
      const notices = [guard.countResult(outcome.item.isError), isLast ? droppedNotice(droppedCalls) : null];
      await keepResult(session, outcome, { emit: options.emit, notices });
      interrupt ||= outcome.interrupt;
    }
    if (interrupt) break;
  }
  if (!interrupt) guard.checkFailures();
  return interrupt;
}

/** Returns the calls that repeat an earlier call of the same response. */
function repeated(calls: readonly ToolCall[]): Set<ToolCall> {
  const seen = new Set<string>();
  return new Set(calls.filter((call) => {
    const key = JSON.stringify([call.name, call.input]);
    const isSeen = call.input !== null && seen.has(key);
    seen.add(key);
    return isSeen;
  }));
}

/**
 * Returns the note on dropped calls for the last result of the response, since those calls have no results of their
 * own.
 */
function droppedNotice(dropped: number): string | null {
  if (dropped === 0) return null;
  return `${dropped} more calls of your reply were left out: it held more than one reply may. ` +
    "Send those again that are still needed, fewer at once.";
}

async function keepResult(
  session: Session,
  { item, details, change }: CallOutcome,
  { emit, notices }: { emit: CallOptions["emit"]; notices: readonly (string | null)[] },
): Promise<void> {
  const content = [item.content, ...notices.filter((notice) => notice !== null)].join("\n\n");
  const kept = { ...item, content };
  session.items.push(kept);
  await emit({ kind: "tool_result", item: kept, details, change });
}

function* batches(calls: readonly ToolCall[], session: Session): Generator<ToolCall[]> {
  const reads = new Set(session.tools.filter((tool) => tool.kind === "read").map((tool) => tool.name));
  let batch: ToolCall[] = [];
  for (const call of calls) {
    if (reads.has(call.name)) {
      batch.push(call);
      continue;
    }
    if (batch.length > 0) yield batch;
    batch = [];
    yield [call];
  }
  if (batch.length > 0) yield batch;
}

/** Gives every call without a result one, so that the history is valid for any server. */
export function closeOpenCalls(session: Session, content: string): void {
  const answered = new Set<string>();
  let last = -1;
  session.items.forEach((item, index) => {
    if (item.kind === "tool_result") answered.add(item.callId);
    if (item.kind === "assistant" && item.calls.length > 0) last = index;
  });
  const item = session.items[last];
  if (item?.kind !== "assistant") return;
  for (const call of item.calls) {
    if (answered.has(call.id)) continue;
    const label = sessionLabel(session);
    session.items.push({ kind: "tool_result", callId: call.id, name: call.name, content, isError: true, label });
  }
}
