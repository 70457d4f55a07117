/** The artifact of an assistant that asks about protected files: its MCP server, its guard, and a rule. */
import { relativeTo } from "../../platform/path.ts";
import { SERVER_NAME } from "../../mcp/own_server.ts";
import type { Assistant, AssistantPlaces } from "../assistants.ts";
import type { Scripts } from "../hooks/scaffold.ts";
import { powershellQuoted, shellQuoted } from "../../shell/quote.ts";
import { eventsOf } from "../guard/payloads.ts";
import { type Artifact, hookItem, type Resource, textFile } from "./artifact.ts";
import { artifact, powershellLine, scriptResources } from "./make_artifact.ts";
import { tableText } from "./toml_table.ts";
import RULE from "../starting_set/private_rule.md" with { type: "text" };

export const RULE_NAME = "agentcli-private";

export const RULE_TEXT = RULE;

export const GUARD_NAME = "no-cloud-guard";

interface Destination {
  dialect: Assistant;
  places: AssistantPlaces;
}

/** Returns the entry of the server. */
export function makeOwnServer(
  { command, args }: { command: string; args: readonly string[] },
  to: Destination,
): Artifact {
  const { servers } = to.dialect;
  const path = to.places.servers;
  const resource: Resource = servers.form === "toml"
    ? {
      kind: "table",
      path,
      at: ["mcp_servers", SERVER_NAME],
      content: tableText(["mcp_servers", SERVER_NAME], { command, args }),
    }
    : { kind: "member", path, at: ["mcpServers", SERVER_NAME], value: { ...servers.entry, command, args } };
  return artifact("mcp", SERVER_NAME, { to, resources: [resource] });
}

/**
 * Returns the guard: its scripts, and an entry for each event that it answers. `os`: of one line, the shell that runs
 * it.
 */
export function makeAssistantGuard(
  scripts: Scripts,
  { os, ...to }: Destination & { os: "linux" | "darwin" | "windows" },
): Artifact {
  const { dialect: { id, hooks }, places } = to;
  const header = Object.entries(hooks.header);
  const resources = [
    ...scriptResources(GUARD_NAME, scripts, { directory: places.scripts }),
    ...header.map(([name, value]): Resource => ({
      kind: "member",
      path: places.hooks,
      at: [name],
      value,
      header: true,
    })),
    ...eventsOf(id).map((event) => hookItem(places.hooks, event, entryOf(event, { os, ...to }))),
  ];
  return artifact("hook", GUARD_NAME, { to, resources });
}

function entryOf(event: string, { os, ...to }: Destination & { os: string }): Record<string, unknown> {
  const { hooks } = to.dialect;
  const { bash, powershell } = linesOf(event, to);
  const isWindows = os === "windows" && hooks.powershell === null;
  const handler = {
    ...hooks.form === "grouped" ? { type: "command" } : {},
    command: isWindows ? powershell : bash,
    ...hooks.powershell === null ? {} : { [hooks.powershell]: powershell },
    ...isWindows && hooks.form === "grouped" ? { shell: "powershell" } : {},
    ...hooks.handler,
  };
  return hooks.form === "grouped" ? { hooks: [handler] } : handler;
}

/**
 * Returns the lines that run the guard; those of a project name it from the project's directory as the assistant gives
 * it.
 */
function linesOf(event: string, { dialect: { id, root }, places: { scope, base, scripts } }: Destination): Scripts {
  const [bash, powershell] = ["sh", "ps1"].map((ending) => {
    const path = `${scripts}/${GUARD_NAME}.${ending}`;
    return scope === "project" ? relativeTo(base, path) : path;
  }) as [string, string];
  const words = `${event} ${id}`;
  const from = scope === "project" ? root ?? "" : "";
  return {
    bash: `bash ${from}${shellQuoted(bash)} ${words} || exit 2`,
    powershell: powershellLine(powershellPath(powershell, { scope, from }), words, { guard: true, tells: true }),
  };
}

function powershellPath(path: string, { scope, from }: { scope: string; from: string }): string {
  const quoted = powershellQuoted(path);
  if (scope !== "project" || !from.includes("CLAUDE_PROJECT_DIR")) return quoted;
  return `([IO.Path]::Combine([string]$env:CLAUDE_PROJECT_DIR, ${quoted}))`;
}

/** Returns the rule that says when to ask; null where the assistant has no file for it. */
export function makePrivateRule(to: Destination): Artifact | null {
  const { dialect: { rule }, places } = to;
  if (places.rule === null) return null;
  const resource: Resource = rule.form === "section"
    ? { kind: "section", path: places.rule, name: RULE_NAME, content: RULE.trim(), limit: null }
    : textFile(places.rule, rule.frontmatter + RULE);
  return artifact("rule", RULE_NAME, { to, resources: [resource] });
}
