/** Servers of `--mcp-config` where no client of the protocol brings them: none of them is started so far. */

/** Their names, a file's for one that is named. Costs nothing where the option is not given. */
export async function unusedServers(values: readonly string[]): Promise<string[]> {
  if (values.length === 0) return [];
  const { readMcpConfig } = await import("../protocol/mcp_config.ts");
  const { own, others } = readMcpConfig(values);
  return [...own, ...others];
}
