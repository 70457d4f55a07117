/** Names of MCP servers and of their tools, as configuration, permission rules and models write them. */

/** The name of an MCP server is part of the names of its tools, so it has no dot, and is short. */
export const MCP_SERVER_NAME = /^(?!.*__)[a-zA-Z0-9](?:[a-zA-Z0-9_-]{0,30}[a-zA-Z0-9])?$/;
/** The same in words. */
export const MCP_SERVER_NAME_RULE = "at most 32 letters, digits, single _ and -";

/**
 * Returns the name under which a model calls a tool: letters, digits, `_` and `-`, at most 64. What is changed or cut
 * is distinguished by a digest of the whole.
 */
export function functionName(server: string, tool: string): string {
  const whole = `mcp__${server}__${tool}`;
  const plain = whole.replace(/[^A-Za-z0-9_-]/g, "_");
  return plain === whole && plain.length <= 64 ? plain : `${plain.slice(0, 55)}_${digest(whole)}`;
}

/** FNV-1a over UTF-16 units, as eight hexadecimal digits: it distinguishes names, and guards nothing. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
