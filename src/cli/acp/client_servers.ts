/** MCP servers that a client brings with a session. Loaded where there are any. */
import { withOrigin } from "../../mcp/configured.ts";
import { type McpServer, readServer } from "../../mcp/server.ts";
import { fieldsOf, membersOf, textOf } from "../../platform/record.ts";

/** The servers, and what is wrong with those that cannot be used; one sentence each. */
export interface ClientServers {
  servers: McpServer[];
  problems: string[];
}

/** Reads the list of `session/new`: programs, and addresses with `type`. Variables are pairs of `name` and `value`. */
export function clientServers(list: readonly unknown[]): ClientServers {
  const problems: string[] = [];
  const servers = list.map(fieldsOf).flatMap((fields) => {
    const env = pairs(fields.env);
    const headers = pairs(fields.headers);
    const read = readServer(textOf(fields.name) ?? "", { ...fields, env, headers });
    if ("problem" in read) {
      problems.push(`the MCP server ${read.name} of the client is left out: ${read.problem}`);
      return [];
    }
    return [{ ...read.entry, env, headers }];
  });
  return { servers: withOrigin(servers, "client"), problems };
}

function pairs(list: unknown): Record<string, string> {
  return Object.fromEntries(
    membersOf(list).map(fieldsOf).flatMap(({ name, value }) =>
      typeof name === "string" && typeof value === "string" ? [[name, value]] : []
    ),
  );
}
