/** Results of file tools, all in one form: short, labeled, and with what to do next. */
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import { describeRule, type ProtectionRule } from "../boundary/policy/protection_rule.ts";
import type { Refusal, ResolvedPath } from "../boundary/workspace/workspace.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/** Facts of a result besides its text. Without a label of its own a result has the workspace's. */
type More = Partial<Pick<ToolResult, "label" | "source" | "details" | "images" | "change">>;

/** Returns a success. */
export function success(content: string, context: Pick<ToolContext, "workspace">, more: More = {}): ToolResult {
  return { content, isError: false, ...more, label: highest(more.label, context) };
}

/** Returns a failure that the model can act on; `content` says how. */
export function failure(content: string, context: Pick<ToolContext, "workspace">, more: More = {}): ToolResult {
  return { content, isError: true, ...more, label: highest(more.label, context) };
}

/** Returns the source of protected content; empty for open content. */
export function sourceOf(
  path: ResolvedPath,
  rule: ProtectionRule | undefined,
  { workspace }: Pick<ToolContext, "workspace">,
): { source?: { path: string; rule: string } } {
  return rule === undefined ? {} : { source: { path: path.display, rule: describeRule(rule, workspace.root) } };
}

/** A refusal of the workspace, as a result. */
export function refused(refusal: Refusal, context: Pick<ToolContext, "workspace">): ToolResult {
  return failure(`${refusal.message}.`, context);
}

/** Returns whether the workspace refused. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refused" in value;
}

/** Names and messages of a workspace that became tainted meanwhile are protected as well. */
function highest(label: Label | undefined, context: Pick<ToolContext, "workspace">): Label {
  const ambient = context.workspace.ambientLabel;
  return label === undefined ? ambient : highestLabel([label, ambient]);
}
