/** The few words of MCP (revision 2025-06-18) that it takes to count the tools of a server. */

/** What is said to a server, in order. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agentcli", version: "1" } },
} as const;
export const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
export const LIST_TOOLS = { jsonrpc: "2.0", id: 2, method: "tools/list" } as const;

/** The tools of a server. */
export interface Tools {
  names: readonly string[];
  /** There are more, on further pages. */
  more: boolean;
}

/** The message with this id in an output, line by line, also as server-sent events; null as long as it is not there. */
export function messageIn(output: string, id: number): Record<string, unknown> | null {
  for (const line of output.split("\n")) {
    try {
      const message: unknown = JSON.parse(line.replace(/^data:/, ""));
      if (typeof message !== "object" || message === null || (message as { id?: unknown }).id !== id) continue;
      if ("result" in message || "error" in message) return message as Record<string, unknown>;
    } catch {
      // A line that is not whole yet, or something else.
    }
  }
  return null;
}

/** The tools that an answer to {@link LIST_TOOLS} lists; null for one without a list. */
export function toolsIn(message: Record<string, unknown>): Tools | null {
  const { tools, nextCursor } = (message.result ?? {}) as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) return null;
  return { names: tools.map((tool) => String(tool?.name)), more: typeof nextCursor === "string" && nextCursor !== "" };
}

/** A configured value with `${env:NAME}` put in. */
export function expanded(value: unknown, env: (name: string) => string | undefined): string {
  return String(value).replace(/\$\{env:(\w+)\}/g, (_, name: string) => env(name) ?? "");
}
