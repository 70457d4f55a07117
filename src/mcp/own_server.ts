/** The MCP server of this program, as assistants know it: its name, its tools, and what starts it. */
import { basename } from "../platform/path.ts";

export const SERVER_NAME = "agentcli";

export const SERVER_WORDS = ["mcp", "serve"] as const;

const TOOLS = ["private_status", "ask_private", "do_private", "ask_local", "answer_of"] as const;

export type OwnTool = typeof TOOLS[number];

/** Returns whether a call is one of its tools. `server` is undefined where the assistant does not name it. */
export function isOwnTool({ server, name }: { server: unknown; name: unknown }): boolean {
  return (server === undefined || server === SERVER_NAME) && TOOLS.some((tool) => tool === name);
}

/**
 * Returns whether a command line starts it: started from a session of this program, or by its doctor, it would be its
 * own client.
 */
export function startsOwnServer({ command, args }: { command?: unknown; args?: unknown }): boolean {
  if (typeof command !== "string" || !Array.isArray(args)) return false;
  const at = args.findIndex((word, index) => word === "mcp" && args[index + 1] === "serve");
  const names = [command, ...args.slice(0, Math.max(at, 0))].map((word) =>
    basename(String(word).replaceAll("\\", "/"))
  );
  return at >= 0 && names.some((name) => /^(?:agentcli(?:\.(?:js|exe|cmd|ts))?|main\.ts)$/i.test(name));
}
