/** Whether one tool call may run: what the rules decide, what a hook says, and what the person who is asked answers. */
import type { Refusal } from "../boundary/workspace/workspace.ts";
import type { ToolCall } from "../session/item.ts";
import { checkCall } from "../tools/meant_call.ts";
import { decide, type Decision, ruleNames } from "../tools/permission.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import { applyMarkers } from "./admission.ts";
import type { Session } from "./session.ts";
import type { CallOptions } from "./tool_call.ts";
import type { AskPermission, BeforeVerdict, PermissionAnswer, PermissionQuestion } from "./turn_options.ts";

/** `result`: the call has failed before anybody was asked. */
type Permitted = { input: Record<string, unknown>; result?: ToolResult } | { refused: string; interrupt: boolean };

/** Decides about a call with valid arguments, and returns the arguments that it may run with, or why it may not. */
export async function permit(
  tool: Tool,
  asked: { call: ToolCall; input: Record<string, unknown>; hooked: BeforeVerdict | undefined },
  { session, context, ask, emit, signal }: Pick<CallOptions, "ask" | "emit" | "signal"> & {
    session: Session;
    context(): ToolContext;
  },
): Promise<Permitted> {
  const { call, hooked } = asked;
  const given = await changedInput(tool, { input: asked.input, changed: hooked?.input }, session);
  if ("refused" in given) return given;
  const { input } = given;
  const rule = ruled(tool, input);
  const subject = tool.subject(input);
  const target = await targetOf(tool, subject, session);
  if ("refused" in target) return { refused: target.message, interrupt: false };
  const denial = { toolName: tool.name, callId: call.id, input };
  const forbidden = await tool.forbidden?.(input, context()) ?? null;
  if (forbidden !== null) {
    session.deniedUnasked.set(rule.name, true);
    await emit({ kind: "permission_denied", denial, subject, message: forbidden });
    return { refused: forbidden, interrupt: false };
  }
  const decision = withHook(decide({ tool: rule, subject, ...target }, session.policy), hooked);
  if (decision.behavior === "allow") {
    session.deniedUnasked.set(rule.name, false);
    return { input };
  }
  const { behavior, reason } = decision;
  const precheck = behavior === "ask" ? await tool.precheck?.(input, context()) ?? null : null;
  if (precheck !== null) return { input, result: precheck };
  const question = { ...denial, ruleName: tool.ruleName?.(input), subject, reason };
  const answer = await answerTo(decision, { question, ask, hooked }, signal);
  if (answer !== null) await applyMarkers(session, signal);
  session.deniedUnasked.set(rule.name, answer === null);
  if (answer?.behavior === "allow") return await changedInput(tool, { input, changed: answer.input }, session);
  const message = answer === null
    ? `Permission denied: ${reason} Do not call ${tool.name} for this again; go on without it or say what is needed.`
    : answer.message;
  await emit({ kind: "permission_denied", denial, subject, message: reason, shown: answer?.shown });
  return { refused: message, interrupt: answer?.interrupt === true };
}

/** Returns the tool as permission rules know this call of it. */
function ruled({ name, kind, ruleName }: Tool, input: Record<string, unknown>): Pick<Tool, "name" | "kind"> {
  return { name: ruleName?.(input) ?? name, kind };
}

/** Combines the decision of the rules with that of a hook, which may deny, ask, or answer instead of a person. */
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

/** Checks arguments that a hook or a person put in place of the model's. */
async function changedInput(
  tool: Tool,
  asked: { input: Record<string, unknown>; changed: Record<string, unknown> | undefined },
  session: Session,
): Promise<Permitted> {
  if (asked.changed === undefined) return { input: asked.input };
  const checked = checkCall(tool, asked.changed);
  if ("problem" in checked) return { refused: checked.problem, interrupt: false };
  const subject = tool.subject(checked.value);
  const target = await targetOf(tool, subject, session);
  if ("refused" in target) return { refused: target.message, interrupt: false };
  // Deny rules hold for changed arguments too.
  const decision = decide({ tool: ruled(tool, checked.value), subject, ...target }, session.policy);
  return decision.behavior === "deny" ? { refused: decision.reason, interrupt: false } : { input: checked.value };
}

/** Returns the file of a call as rules name it, or why it can never be written: then nobody needs to be asked. */
async function targetOf(
  tool: Tool,
  subject: string,
  session: Session,
): Promise<Refusal | { paths?: string[]; root?: string }> {
  if (tool.kind !== "write" && tool.kind !== "read") return {};
  const resolved = await session.workspace.resolve(subject);
  // The tool itself refuses such a read, with a better message.
  if ("refused" in resolved) return tool.kind === "write" ? resolved : { paths: [subject] };
  if (tool.kind === "write") {
    const refused = await session.workspace.writable(resolved);
    if (refused !== null) return refused;
  }
  return ruleNames(resolved, session.workspace);
}
