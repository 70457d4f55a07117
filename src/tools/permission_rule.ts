/** Permission rules as people write them: `Bash`, `Bash(git log:*)`, `Bash(git status)`, `Write(migrations/**)`. */
import { AgentcliError } from "../errors.ts";
import { isAbsolute, normalize } from "../platform/path.ts";
import { functionName } from "../config/mcp_names.ts";
import { parseCommand } from "../shell/command.ts";
import { compilePattern, type PathPattern } from "./path_pattern.ts";
import { MCP_CALL } from "./tool.ts";

/** A compiled rule. `text` is what was written, for messages. */
export type Rule =
  | { kind: "tool"; text: string; tool: string }
  | { kind: "command"; text: string; tool: string; words: readonly [string, ...string[]]; prefix: boolean }
  | PathRule;

export interface PathRule {
  kind: "path";
  text: string;
  tool: string;
  absolute: boolean;
  exact: PathPattern[];
  /** Ignores letter case: for denying, on disks that ignore it too. */
  caseFolded: PathPattern[];
}

const PATH_TOOLS: readonly string[] = ["read", "write", "edit"];
const FORMS = "forms: Bash, Bash(git status), Bash(git log:*), Write(migrations/**)";

function malformed(text: string, why: string): AgentcliError {
  return new AgentcliError("usage", `the permission rule ${JSON.stringify(text.slice(0, 200))} ${why}`, {
    hint: FORMS,
  });
}

/** Reads rules. Throws `usage` that names the first malformed one. */
export function parseRules(texts: readonly string[]): Rule[] {
  return texts.map(parseRule);
}

function parseRule(text: string): Rule {
  const match = /^([A-Za-z][\w-]*(?:__\*)?)(?:\(([^]*)\))?$/.exec(text.trim());
  if (match === null) throw malformed(text, "is not the name of a tool with an optional pattern in parentheses");
  const tool = match[1] ?? "";
  const inner = match[2]?.trim();
  if (inner === undefined || inner === "*") return { kind: "tool", text, tool };
  if (inner === "") throw malformed(text, "has nothing between the parentheses");
  if (tool.toLowerCase() === "bash") return commandRule(text, inner);
  if (tool.toLowerCase() === MCP_CALL.toLowerCase()) return serverRule(text, inner);
  if (PATH_TOOLS.includes(tool.toLowerCase())) return pathRule(text, { tool, inner });
  throw malformed(text, "has a pattern, which only Bash, Read, Write, Edit and McpCall take");
}

/**
 * `McpCall(server.tool:*)` is the rule of that tool, however it is called; `McpCall(server.*)` that of all of a server.
 */
function serverRule(text: string, inner: string): Rule {
  const [, server, name] = /^([A-Za-z0-9_-]+)(?:\.(.+?))?(?::\*)?$/.exec(inner) ?? [];
  if (server === undefined) throw malformed(text, "names no tool of a server: McpCall(server.tool:*)");
  return {
    kind: "tool",
    text,
    tool: name === undefined || name === "*" ? `mcp__${server}` : functionName(server, name),
  };
}

function commandRule(text: string, inner: string): Rule {
  const prefix = /(:|\s)\*$/.test(inner);
  const parsed = parseCommand(prefix ? inner.slice(0, -2) : inner);
  if (parsed.kind === "complex") {
    throw malformed(text, `${parsed.reason}; a rule names one simple command`);
  }
  return { kind: "command", text, tool: "Bash", words: parsed.argv, prefix };
}

function pathRule(text: string, { tool, inner }: { tool: string; inner: string }): Rule {
  const pattern = normalize(inner);
  if (pattern === ".." || pattern.startsWith("../")) throw malformed(text, "leads out of the project");
  // A directory covers what is below it.
  const forms = pattern === "." ? ["**"] : [pattern, `${pattern}/**`];
  const exact = forms.flatMap((form) => compilePattern(form) ?? []);
  const caseFolded = forms.flatMap((form) => compilePattern(form, { ignoreCase: true }) ?? []);
  if (exact.length < forms.length || caseFolded.length < forms.length) {
    throw malformed(text, "is too long or has too many alternatives");
  }
  return { kind: "path", text, tool, absolute: isAbsolute(pattern), exact, caseFolded };
}
