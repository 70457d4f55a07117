/**
 * Runs one tool call: finds the tool, checks the arguments, the loop guard and the permission, and makes the result.
 */
import type { Io } from "../platform/io.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import type { ToolCall, ToolResultItem } from "../session/item.ts";
import { checkCall, meantCall, placedCall, unknownTool } from "../tools/meant_call.ts";
import { onlyLooks, readDenials } from "../tools/permission.ts";
import type { FileChange, Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import type { LoopGuard } from "./loop_guard.ts";
import type { AskPermission, TurnHooks } from "./turn_options.ts";
import { permit } from "./call_permission.ts";
import { type Session } from "./session.ts";
import { labelOfTexts, raiseLabels, sessionLabel, textsOfItem } from "./labels.ts";
import { cutResult } from "./context/shorten.ts";

export interface CallOptions {
  io: Pick<Io, "env" | "environment" | "os" | "clock">;
  signal: AbortSignal;
  ask: AskPermission;
  emit: TurnListener;
  /** Absent for none. */
  hooks?: TurnHooks | undefined;
}

interface ToolRunOptions extends CallOptions {
  resultBytes: number;
}

interface BatchedCallOptions extends ToolRunOptions {
  guard: LoopGuard;
  /** The same call occurs earlier in the response. */
  isTwice: boolean;
  /** Resolves when the previous call has started, or will not: calls that run together start in their order. */
  previous: Promise<void>;
  started(): void;
}

/** A result with what clients of the protocol get of it. */
export interface CallOutcome {
  item: ToolResultItem;
  details: Record<string, unknown> | undefined;
  change?: FileChange | undefined;
  interrupt: boolean;
}

/**
 * Runs one call. Every failure the model can act on is a result; throws the abort reason, `loop_detected`, and bugs.
 * A result that is longer than its room, from whatever tool or hook, is cut in the middle.
 */
export async function runCall(call: ToolCall, session: Session, options: BatchedCallOptions): Promise<CallOutcome> {
  const done = await callOutcome(call, session, options);
  const content = cutResult(done.item.content, options.resultBytes);
  return content === done.item.content ? done : { ...done, item: { ...done.item, content } };
}

async function callOutcome(call: ToolCall, session: Session, options: BatchedCallOptions): Promise<CallOutcome> {
  // The reason that a person or a hook gives can hold protected content too.
  const end = (result: ToolResult, interrupt = false) => outcome(call, { result, interrupt }, session);
  const meant = await meaningOf(call, session, options);
  if ("content" in meant) return await end(meant);
  const { tool, input, notes } = meant;
  const facts = { toolName: tool.name, callId: call.id, input, label: sessionLabel(session) };
  const hooked = await options.hooks?.before(facts, options.signal);
  const context = () => contextOf(session, options);
  const permitted = await permit(tool, { call, input, hooked }, { ...options, session, context });
  if ("refused" in permitted) return await end(refusal(permitted.refused), permitted.interrupt);
  await options.previous;
  const subject = tool.subject(permitted.input);
  await options.emit({ kind: "tool_start", callId: call.id, toolName: tool.name, subject });
  options.started();
  const ran = permitted.result ?? await runTool(tool, { input: permitted.input, callId: call.id, session }, options);
  const done = await end({ ...ran, content: [...notes, ran.content].join("\n") }, hooked?.stop);
  if (options.hooks === undefined) return done;
  const after = await options.hooks.after({ ...facts, input: permitted.input }, done.item, options.signal);
  const added = [hooked?.context ?? "", after.context].filter((text) => text !== "");
  const interrupt = done.interrupt || after.stop;
  if (added.length === 0) return { ...done, interrupt };
  const content = [done.item.content, ...added].join("\n\n");
  return await labeledByContent({ ...done, item: { ...done.item, content }, interrupt }, session);
}

/** Returns the tool and the arguments that a call means, with notes for the model; its result where it cannot run. */
async function meaningOf(
  call: ToolCall,
  { tools, workspace }: Session,
  { guard, isTwice, signal }: BatchedCallOptions,
): Promise<{ tool: Tool; input: Record<string, unknown>; notes: string[] } | ToolResult> {
  const meant = meantCall({ name: call.name, input: call.input ?? {} }, tools);
  if (meant === null) return refusal(unknownTool(call.name, tools.map(({ name }) => name)));
  if (call.input === null) {
    return refusal(call.problem ?? "The arguments are not a JSON object. Call the tool again.");
  }
  if ("problem" in meant) return refusal(meant.problem);
  const given = checkCall(meant.tool, meant.input);
  if ("problem" in given) return refusal(given.problem);
  const asked = { tool: meant.tool.name, value: given.value };
  const checked = meant.tool.check !== undefined
    ? { ...asked, note: null }
    : await placedCall(asked, { workspace, signal });
  const tool = tools.find(({ name }) => name === checked.tool) ?? meant.tool;
  if (isTwice && tool.mayRepeat !== true) {
    const notice = "This call stands twice in your reply. It was made once; its result stands above.";
    return { ...refusal(notice), isError: false };
  }
  if (tool.mayRepeat !== true && !guard.mayRun(tool.name, checked.value)) {
    return refusal("This is the same call as before, with the same result. Use what you have, or try something else.");
  }
  const notes = [meant.note ?? "", checked.note ?? ""].filter((note) => note !== "");
  return { tool, input: checked.value, notes };
}

function refusal(content: string): ToolResult {
  return { content, isError: true, label: "open" };
}

async function outcome(
  call: ToolCall,
  { result, interrupt }: { result: ToolResult; interrupt: boolean },
  session: Session,
): Promise<CallOutcome> {
  // A result can quote the arguments, and those can quote anything that the model has read.
  const label = sessionLabel(session) === "open" ? result.label : "no-cloud";
  const { details, change, label: _, ...shown } = result;
  const files = session.workspace.takeUsed();
  const item = { kind: "tool_result", callId: call.id, name: call.name, ...shown, label, files } as const;
  return await labeledByContent({ item, details, change, interrupt }, session);
}

/** Labels a result by what stands in it. */
async function labeledByContent(done: CallOutcome, session: Session): Promise<CallOutcome> {
  const { item } = done;
  if (item.label !== "open") return done;
  return { ...done, item: { ...item, label: await labelOfTexts(textsOfItem(item), item.name, session) } };
}

/** Runs a tool; `callId` names the call that a search or the output is for, absent where there can be none. */
export async function runTool(
  tool: Tool,
  { input, callId, session }: { input: Record<string, unknown>; callId?: string; session: Session },
  options: ToolRunOptions,
): Promise<ToolResult> {
  await session.workspace.beforeCall();
  raiseLabels(session);
  if (tool.kind === "execute") session.commandWatch ??= await session.watchCommands?.();
  const watch = tool.kind === "execute" ? session.commandWatch : undefined;
  await watch?.begin(options.signal);
  try {
    const ofCall = callId === undefined ? {} : contextOfCall(callId, session, options);
    const result = await tool.run(input, { ...contextOf(session, options), ...ofCall });
    countWork(tool, { result, subject: tool.subject(input) }, session);
    return result;
  } finally {
    await watch?.end();
  }
}

/** Counts changes and commands. A failed command has run, a refused one has not; one that only reads does not count. */
function countWork(
  { kind, name }: Tool,
  { result, subject }: { result: ToolResult; subject: string },
  { work }: Session,
): void {
  const { isError, details } = result;
  if (kind === "write" && !isError) work.changes++;
  if (kind !== "execute" || (isError && details === undefined)) return;
  if (name === "Bash" && onlyLooks(subject)) return;
  work.commands++;
  work.failed = isError;
}

/** Returns the part of the context that a tool has for a call alone. A search is loaded with the first. */
function contextOfCall(callId: string, session: Session, options: ToolRunOptions): Partial<ToolContext> {
  return {
    explore: session.explorer &&
      (async (task) => await (await import("./explore.ts")).explore(session, { task, callId }, options)),
    onOutput: (bytes) => options.emit({ kind: "tool_output", callId, bytes }),
  };
}

function contextOf(session: Session, options: ToolRunOptions): ToolContext {
  return {
    resultBytes: options.resultBytes,
    workspace: session.workspace,
    memory: session.memory,
    readDenied: readDenials(session.workspace, session.policy.deny),
    signal: options.signal,
    sandbox: session.sandbox,
    sessionLabel: sessionLabel(session),
    checkWrite: session.scanner &&
      ((text, display) => session.scanner?.checkWrite(text, display) ?? Promise.resolve(null)),
    protectChanges: async (...changes) => await session.scanner?.protectChanges(...changes),
    notify: (text) => options.emit({ kind: "notice", text }),
    io: options.io,
    supportsImages: async () => await (await import("./context/vision.ts")).supportsImages(session),
    keepPrevious: session.keepPrevious,
    unsaved: session.unsaved,
    secretVariables: session.secretVariables,
  };
}
