/** One tool call from the model's words to its one result: known tool, valid arguments, guard, permission, run. */
import type { Refusal } from "../boundary/workspace/workspace.ts";
import type { Io } from "../platform/io.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import { imageUrl } from "../provider/chat/content.ts";
import { imagesOf, type ToolCall, type ToolResultItem } from "../session/item.ts";
import { checkCall, meantCall, placedCall, unknownTool } from "../tools/meant_call.ts";
import { decide, type Decision, onlyLooks, readDenials, ruleNames } from "../tools/permission.ts";
import type { FileChange, Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import type { LoopGuard } from "./loop_guard.ts";
import type { AskPermission, BeforeVerdict, PermissionAnswer, PermissionQuestion, TurnHooks } from "./turn_options.ts";
import { resultOf } from "./content_scanner.ts";
import { raiseLabels, type Session, sessionLabel } from "./session.ts";
import { cutResult } from "./context/shorten.ts";

export interface CallOptions {
  io: Pick<Io, "env" | "environment" | "os" | "clock">;
  signal: AbortSignal;
  ask: AskPermission;
  emit: TurnListener;
  /** Absent: nobody looks on. */
  hooks?: TurnHooks | undefined;
}

interface OneCallOptions extends CallOptions {
  resultBytes: number;
}

/** The place of a call among those that run together, which start in their order. */
export interface Place {
  /** Resolves when the call before has started, or will not. */
  before: Promise<void>;
  started(): void;
}

type BatchOptions = OneCallOptions & {
  guard: LoopGuard;
  place: Place;
  /** It stands in the response before. */
  isTwice: boolean;
};

/** A result with what clients of the protocol are told of it. */
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
  options: BatchOptions,
): Promise<CallOutcome> {
  const done = await callOutcome(call, session, options);
  const content = cutResult(done.item.content, options.resultBytes);
  return content === done.item.content ? done : { ...done, item: { ...done.item, content } };
}

async function callOutcome(
  call: ToolCall,
  session: Session,
  options: BatchOptions,
): Promise<CallOutcome> {
  // Who denies a call may say why in any words, protected ones too.
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
    const told = "This call stands twice in your reply. It was made once; its result stands above.";
    const twice = outcome(call, { ...refusal(told), isError: false }, { session, interrupt: false });
    return await labeledByContent(twice, session);
  }
  if (tool.mayRepeat !== true && !options.guard.mayRun(tool.name, checked.value)) {
    return fail("This is the same call as before, with the same result. Use what you have, or try something else.");
  }
  const told = { toolName: tool.name, callId: call.id, input: checked.value, label: sessionLabel(session) };
  const hooked = await options.hooks?.before(told, options.signal);
  const permitted = await permit(tool, { call, input: checked.value, hooked }, { ...options, session });
  if ("refused" in permitted) return fail(permitted.refused, permitted.interrupt);
  await options.place.before;
  await options.emit({
    kind: "tool_start",
    callId: call.id,
    toolName: tool.name,
    subject: tool.subject(permitted.input),
  });
  options.place.started();
  const ran = permitted.result ?? await runTool(tool, { input: permitted.input, callId: call.id, session, options });
  const notes = [meant.note ?? "", checked.note ?? ""].filter((note) => note !== "");
  const result = notes.length === 0 ? ran : { ...ran, content: [...notes, ran.content].join("\n") };
  const done = await labeledByContent(outcome(call, result, { session, interrupt: hooked?.stop === true }), session);
  if (options.hooks === undefined) return done;
  const after = await options.hooks.after({ ...told, input: permitted.input }, done.item, options.signal);
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
  // A result can quote arguments, and arguments can quote what the model read: no lower than the session itself.
  const label = sessionLabel(session) === "open" ? result.label : "no-cloud";
  const { details, change, label: _, ...told } = result;
  // Of calls that run together, one may tell what another read: they are of one turn, which is judged as a whole.
  const files = session.workspace.takeUsed();
  return {
    item: { kind: "tool_result", callId: call.id, name: call.name, ...told, label, files },
    details,
    change,
    interrupt,
  };
}

/** A copy of protected content in an open file is protected like the file it came from: no label has seen it come. */
async function labeledByContent(done: CallOutcome, { scanner, model, workspace }: Session): Promise<CallOutcome> {
  const { item } = done;
  if (item.label !== "open" && !workspace.hasEndpoints) return done;
  const parts = [item.content, ...imagesOf(item).map(imageUrl), ...item.files ?? []];
  const found = await scanner?.checkPart(parts, resultOf(item.name), model);
  return found === "protected" ? { ...done, item: { ...item, label: "no-cloud" } } : done;
}

/** Runs a tool. */
export async function runTool(
  tool: Tool,
  { input, callId, session, options }: {
    input: Record<string, unknown>;
    /** Of the call that a search is for; absent where none can be. */
    callId?: string;
    session: Session;
    options: OneCallOptions;
  },
): Promise<ToolResult> {
  await session.workspace.beforeCall({ changes: tool.kind === "write" || tool.kind === "execute" });
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

/** A command that failed ran all the same; one that was refused has nothing to tell of itself. What only looks is no work. */
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
  { callId, options }: { callId: string | undefined; options: OneCallOptions },
): ToolContext["explore"] {
  if (session.explorer === undefined || callId === undefined) return undefined;
  return async (task) => await (await import("./explore.ts")).explore(session, { task, callId }, options);
}

function contextOf(session: Session, options: OneCallOptions): ToolContext {
  return {
    resultBytes: options.resultBytes,
    workspace: session.workspace,
    memory: session.memory,
    readDenied: readDenials(session.workspace, session.policy.deny),
    signal: options.signal,
    sandbox: session.sandbox,
    sessionLabel: sessionLabel(session),
    checkWrite: session.scanner &&
      ((text, target) => session.scanner?.checkWrite(text, target) ?? Promise.resolve(null)),
    protectChanges: (since, exposed) => session.scanner?.protectChanges(since, exposed) ?? Promise.resolve(),
    notify: (text) => options.emit({ kind: "notice", text }),
    io: options.io,
    supportsImages: async () => await (await import("./context/vision.ts")).supportsImages(session),
    keepPrevious: session.keepPrevious,
    unsaved: session.unsaved,
    secretVariables: session.secretVariables,
  };
}

/** `result`: what came of the call without anybody being asked. */
type Permitted = { input: Record<string, unknown>; result?: ToolResult } | { refused: string; interrupt: boolean };

async function permit(
  tool: Tool,
  asked: { call: ToolCall; input: Record<string, unknown>; hooked: BeforeVerdict | undefined },
  options: OneCallOptions & { session: Session },
): Promise<Permitted> {
  const { session, ask, emit, signal } = options;
  const { call, hooked } = asked;
  const given = await changedInput(tool, { input: asked.input, changed: hooked?.input }, session);
  if ("refused" in given) return given;
  const { input } = given;
  const rule = ruled(tool, input);
  const subject = tool.subject(input);
  const place = await placeOf(tool, subject, session);
  if ("refused" in place) return { refused: place.message, interrupt: false };
  const forbidden = await tool.forbidden?.(input, contextOf(session, options)) ?? null;
  if (forbidden !== null) {
    session.deniedUnasked.set(rule.name, true);
    const denial = { toolName: tool.name, callId: call.id, input };
    await emit({ kind: "permission_denied", denial, subject, message: forbidden });
    return { refused: forbidden, interrupt: false };
  }
  const decision = withHook(decide({ tool: rule, subject, ...place }, session.policy), hooked);
  if (decision.behavior === "allow") {
    session.deniedUnasked.set(rule.name, false);
    return { input };
  }
  const precheck = decision.behavior === "ask"
    ? await tool.precheck?.(input, contextOf(session, options)) ?? null
    : null;
  if (precheck !== null) return { input, result: precheck };
  const ruleName = tool.ruleName?.(input);
  const question = {
    toolName: tool.name,
    ruleName,
    callId: call.id,
    input,
    subject,
    reason: decision.reason,
  };
  const answer = await answerTo(decision, { question, ask, hooked }, signal);
  if (answer?.behavior === "allow") {
    session.deniedUnasked.set(rule.name, false);
    return await changedInput(tool, { input, changed: answer.input }, session);
  }
  session.deniedUnasked.set(rule.name, answer === null);
  const message = answer === null
    ? `Permission denied: ${decision.reason} Do not call ${tool.name} for this again; go on without it or say what is needed.`
    : answer.message;
  await emit({
    kind: "permission_denied",
    denial: { toolName: tool.name, callId: call.id, input },
    subject,
    message: decision.reason,
    told: answer?.told,
  });
  return { refused: message, interrupt: answer?.interrupt === true };
}

/** The tool as permission rules know this call of it. */
function ruled({ name, kind, ruleName }: Tool, input: Record<string, unknown>): Pick<Tool, "name" | "kind"> {
  return { name: ruleName?.(input) ?? name, kind };
}

/** The rules' decision where a hook spoke too: it may deny, ask, or answer what would have been asked. */
function withHook(decision: Decision, hooked: BeforeVerdict | undefined): Decision {
  if (hooked === undefined || decision.behavior === "deny") return decision;
  switch (hooked.behavior) {
    case "deny":
      return { behavior: "deny", reason: hooked.message };
    case "ask":
      return { behavior: "ask", reason: decision.behavior === "ask" ? decision.reason : hooked.message };
    case "allow":
      return { behavior: "allow" };
    case "pass":
      return decision;
  }
}

async function answerTo(
  decision: Exclude<Decision, { behavior: "allow" }>,
  { question, ask, hooked }: { question: PermissionQuestion; ask: AskPermission; hooked: BeforeVerdict | undefined },
  signal: AbortSignal,
): Promise<PermissionAnswer | null> {
  if (hooked?.behavior === "deny") {
    return { behavior: "deny", message: `Denied by a hook: ${hooked.message}`, interrupt: hooked.stop };
  }
  return decision.behavior === "ask" ? await ask(question, signal) : null;
}

/** Arguments that whoever answered put in place of the model's pass the same checks; what they allowed they saw. */
async function changedInput(
  tool: Tool,
  asked: { input: Record<string, unknown>; changed: Record<string, unknown> | undefined },
  session: Session,
): Promise<Permitted> {
  if (asked.changed === undefined) return { input: asked.input };
  const checked = checkCall(tool, asked.changed);
  if ("problem" in checked) return { refused: checked.problem, interrupt: false };
  const subject = tool.subject(checked.value);
  const place = await placeOf(tool, subject, session);
  if ("refused" in place) return { refused: place.message, interrupt: false };
  // Nobody's change leads around a deny rule.
  const decision = decide({ tool: ruled(tool, checked.value), subject, ...place }, session.policy);
  return decision.behavior === "deny" ? { refused: decision.reason, interrupt: false } : { input: checked.value };
}

/** For tools of files: the file as rules see it, or why it can never be written, so that nobody is asked in vain. */
async function placeOf(
  tool: Tool,
  subject: string,
  session: Session,
): Promise<Refusal | { paths?: string[]; root?: string }> {
  if (tool.kind !== "write" && tool.kind !== "read") return {};
  const resolved = await session.workspace.resolve(subject);
  // A read that cannot be is refused by the tool itself, with a message that helps.
  if ("refused" in resolved) return tool.kind === "write" ? resolved : { paths: [subject] };
  if (tool.kind === "write") {
    const refused = await session.workspace.writable(resolved);
    if (refused !== null) return refused;
  }
  return ruleNames(resolved, session.workspace);
}
