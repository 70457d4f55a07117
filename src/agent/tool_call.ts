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

/** Keeps the order in which calls that run together start. */
export interface StartOrder {
  /** Resolves when the previous call has started, or will not. */
  previous: Promise<void>;
  started(): void;
}

type BatchedCallOptions = ToolRunOptions & {
  guard: LoopGuard;
  order: StartOrder;
  /** The same call occurs earlier in the response. */
  isTwice: boolean;
};

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
export async function runCall(
  call: ToolCall,
  session: Session,
  options: BatchedCallOptions,
): Promise<CallOutcome> {
  const done = await callOutcome(call, session, options);
  const content = cutResult(done.item.content, options.resultBytes);
  return content === done.item.content ? done : { ...done, item: { ...done.item, content } };
}

async function callOutcome(
  call: ToolCall,
  session: Session,
  options: BatchedCallOptions,
): Promise<CallOutcome> {
  // The reason that a person or a hook gives can hold protected content too.
  const fail = (content: string, interrupt = false): Promise<CallOutcome> =>
    labeledByContent(outcome(call, refusal(content), { session, interrupt }), session);
  const meant = meantCall({ name: call.name, input: call.input ?? {} }, session.tools);
  if (meant === null) return fail(unknownTool(call.name, session.tools.map(({ name }) => name)));
  if (call.input === null) return fail(call.problem ?? "The arguments are not a JSON object. Call the tool again.");
  if ("problem" in meant) return fail(meant.problem);
  const given = checkCall(meant.tool, meant.input);
  if ("problem" in given) return fail(given.problem);
  const asked = { tool: meant.tool.name, value: given.value };
  const checked = meant.tool.check !== undefined
    ? { ...asked, note: null }
    : await placedCall(asked, { workspace: session.workspace, signal: options.signal });
  const tool = session.tools.find(({ name }) => name === checked.tool) ?? meant.tool;
  if (options.isTwice && tool.mayRepeat !== true) {
    const notice = "This call stands twice in your reply. It was made once; its result stands above.";
    const twice = outcome(call, { ...refusal(notice), isError: false }, { session, interrupt: false });
    return await labeledByContent(twice, session);
  }
  if (tool.mayRepeat !== true && !options.guard.mayRun(tool.name, checked.value)) {
    return fail("This is the same call as before, with the same result. Use what you have, or try something else.");
  }
  const facts = { toolName: tool.name, callId: call.id, input: checked.value, label: sessionLabel(session) };
  const hooked = await options.hooks?.before(facts, options.signal);
  const permitted = await permit(tool, { call, input: checked.value, hooked }, {
    ...options,
    session,
    context: () => contextOf(session, options),
  });
  if ("refused" in permitted) return fail(permitted.refused, permitted.interrupt);
  await options.order.previous;
  await options.emit({
    kind: "tool_start",
    callId: call.id,
    toolName: tool.name,
    subject: tool.subject(permitted.input),
  });
  options.order.started();
  const ran = permitted.result ?? await runTool(tool, { input: permitted.input, callId: call.id, session, options });
  const notes = [meant.note ?? "", checked.note ?? ""].filter((note) => note !== "");
  const result = notes.length === 0 ? ran : { ...ran, content: [...notes, ran.content].join("\n") };
  const done = await labeledByContent(outcome(call, result, { session, interrupt: hooked?.stop === true }), session);
  if (options.hooks === undefined) return done;
  const after = await options.hooks.after({ ...facts, input: permitted.input }, done.item, options.signal);
  const added = [hooked?.context ?? "", after.context].filter((text) => text !== "");
  const interrupt = done.interrupt || after.stop;
  if (added.length === 0) return { ...done, interrupt };
  const content = [done.item.content, ...added].join("\n\n");
  return await labeledByContent({ ...done, item: { ...done.item, content }, interrupt }, session);
}

function refusal(content: string): ToolResult {
  return { content, isError: true, label: "open" };
}

function outcome(
  call: ToolCall,
  result: ToolResult,
  { session, interrupt }: { session: Session; interrupt: boolean },
): CallOutcome {
  // A result can quote the arguments, and those can quote anything that the model has read.
  const label = sessionLabel(session) === "open" ? result.label : "no-cloud";
  const { details, change, label: _, ...shown } = result;
  const files = session.workspace.takeUsed();
  return {
    item: { kind: "tool_result", callId: call.id, name: call.name, ...shown, label, files },
    details,
    change,
    interrupt,
  };
}

/** Labels a result by what stands in it. */
async function labeledByContent(done: CallOutcome, session: Session): Promise<CallOutcome> {
  const { item } = done;
  if (item.label !== "open") return done;
  return { ...done, item: { ...item, label: await labelOfTexts(textsOfItem(item), item.name, session) } };
}

/** Runs a tool. */
export async function runTool(
  tool: Tool,
  { input, callId, session, options }: {
    input: Record<string, unknown>;
    /** Of the call that a search is for; absent where none can be. */
    callId?: string;
    session: Session;
    options: ToolRunOptions;
  },
): Promise<ToolResult> {
  await session.workspace.beforeCall();
  raiseLabels(session);
  if (tool.kind === "execute") session.commandWatch ??= await session.watchCommands?.();
  const watch = tool.kind === "execute" ? session.commandWatch : undefined;
  await watch?.begin(options.signal);
  try {
    const explore = exploring(session, { callId, options });
    const onOutput = callId === undefined
      ? undefined
      : (bytes: Uint8Array) => options.emit({ kind: "tool_output", callId, bytes });
    const result = await tool.run(input, { ...contextOf(session, options), explore, onOutput });
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

/** Loaded with the first search. */
function exploring(
  session: Session,
  { callId, options }: { callId: string | undefined; options: ToolRunOptions },
): ToolContext["explore"] {
  if (session.explorer === undefined || callId === undefined) return undefined;
  return async (task) => await (await import("./explore.ts")).explore(session, { task, callId }, options);
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
