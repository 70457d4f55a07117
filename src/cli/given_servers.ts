/** The servers of `--mcp-config`, read where the option is given: nothing of MCP is loaded elsewhere. */
import type { Context } from "./command.ts";
import type { GivenServers } from "./mcp_config.ts";
import type { RunOptions } from "./run/command.ts";

/** Returns the servers that the option names; it costs nothing where it is not given. */
export async function givenServers(
  { mcpConfig }: Pick<RunOptions, "mcpConfig">,
  { globals }: Context,
): Promise<GivenServers> {
  if (mcpConfig.length === 0) return { own: [], servers: [], problems: [] };
  const { readMcpConfig } = await import("./mcp_config.ts");
  return readMcpConfig(mcpConfig, globals.cwd);
}
