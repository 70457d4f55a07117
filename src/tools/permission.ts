/** Whether a call may run: deny rules first, then the mode, then allow rules, else somebody is asked. */
import type { PermissionMode } from "../config/types.ts";
import { parseCommand } from "../shell/command.ts";
import { allows, denies } from "./permission_cover.ts";
import type { Rule } from "./permission_rule.ts";
import type { Tool } from "./tool.ts";

export type { PermissionMode } from "../config/types.ts";
export { parseRules, type Rule } from "./permission_rule.ts";

/** What is to be decided: the tool, what it is called with, and for tools of paths the place in the project. */
export interface PermissionRequest {
  tool: Pick<Tool, "name" | "kind">;
  /** The command, or the path as given. */
  subject: string;
  /** The names of the file: as addressed and with links resolved, relative to the project or absolute outside of it. */
  paths?: readonly string[];
  /** Of the project, as an absolute real path. */
  root?: string;
}

/** What the user laid down. */
export interface PermissionPolicy {
  mode: PermissionMode;
  allow: readonly Rule[];
  deny: readonly Rule[];
}

/** A decision; the reason is a sentence for the model and for the person who is asked. */
export type Decision = { behaviour: "allow" } | { behaviour: "deny"; reason: string } | {
  behaviour: "ask";
  reason: string;
};

const ALLOW: Decision = { behaviour: "allow" };

/**
 * Decides one call. Deny rules win over everything; `plan` runs only what reads (and notes); `bypassPermissions` runs the
 * rest; reading in the project is always allowed; `acceptEdits` writes files; everything else needs a rule or is asked.
 * Never throws. Source: specification of the command line (permissions) and of the boundary §7.
 */
export function decide(request: PermissionRequest, policy: PermissionPolicy): Decision {
  const { tool } = request;
  const asked = { tool: tool.name, subject: request.subject, paths: request.paths ?? [], root: request.root };
  const command = tool.name === "Bash" ? parseCommand(request.subject) : null;
  const denying = policy.deny.find((rule) => denies(rule, asked, command));
  if (denying !== undefined) return { behaviour: "deny", reason: `The rule ${denying.text} denies it.` };
  if (tool.kind === "read" || tool.kind === "note") return ALLOW;
  if (policy.mode === "plan") {
    return { behaviour: "deny", reason: `In plan mode only tools that read may run; ${tool.name} does not.` };
  }
  if (policy.mode === "bypassPermissions") return ALLOW;
  if (policy.mode === "acceptEdits" && tool.kind === "write") return ALLOW;
  if (policy.allow.some((rule) => allows(rule, asked, command))) return ALLOW;
  return { behaviour: "ask", reason: askReason(request, command?.kind === "complex" ? command.reason : null) };
}

/**
 * The deny rule of Read that covers a file, or null: no tool may then show what is in it. `Read` without a pattern covers
 * every file.
 */
export function readDenied(file: Pick<PermissionRequest, "paths" | "root">, deny: readonly Rule[]): Rule | null {
  const asked = { tool: "Read", subject: "", paths: file.paths ?? [], root: file.root };
  return deny.find((rule) => denies(rule, asked, null)) ?? null;
}

function askReason({ tool }: PermissionRequest, complexity: string | null): string {
  if (tool.kind === "write") return `${tool.name} changes a file, and no rule allows it.`;
  if (tool.name !== "Bash") return `${tool.name} acts outside of the session, and no rule allows it.`;
  return complexity === null
    ? "No rule allows this command."
    : `The command ${complexity}, so rules for command prefixes do not cover it.`;
}
