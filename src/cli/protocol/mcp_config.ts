/** `--mcp-config` as clients give it: JSON text with servers by name, of which those of the client's process count. */
import { fieldsOf } from "./fields.ts";

/** The servers that are named. */
export interface NamedServers {
  /** Of the client's own process. */
  own: string[];
  /** Programs and addresses: not connected to yet. */
  others: string[];
}

/** Reads the values of the option. What is no JSON object is a file, which is not read yet. */
export function readMcpConfig(values: readonly string[]): NamedServers {
  const named: NamedServers = { own: [], others: [] };
  for (const value of values) {
    let config: unknown;
    try {
      config = JSON.parse(value);
    } catch {
      named.others.push(value.replace(/^.*[\\/]/, "").slice(0, 100));
      continue;
    }
    for (const [name, server] of Object.entries(fieldsOf(fieldsOf(config).mcpServers))) {
      (fieldsOf(server).type === "sdk" ? named.own : named.others).push(name);
    }
  }
  return named;
}
