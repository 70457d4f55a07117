/**
 * MCP servers given with a session: by `--mcp-config`, as files or JSON, and by clients of the Agent Client Protocol.
 */
import { readRegularFile } from "../boundary/reader.ts";
import { withOrigin } from "../mcp/configured.ts";
import { type McpServer, readServer, readServers } from "../mcp/server.ts";
import { resolve } from "../platform/path.ts";
import { fieldsOf, membersOf, parseJson, textOf } from "../platform/record.ts";

export interface GivenServers {
  /** Of the client's own process. */
  own: string[];
  /** Programs and addresses. */
  servers: McpServer[];
  /** Why others are left out, one sentence each. */
  problems: string[];
}

const FILE_LIMIT = 1024 * 1024;

/**
 * Reads the values of the option; a relative file is taken from `cwd`. Never throws: clients may name missing files.
 */
export function readMcpConfig(values: readonly string[], cwd: string): GivenServers {
  const given: GivenServers = { own: [], servers: [], problems: [] };
  for (const value of values) {
    const parsed = parseJson(/^\s*\{/.test(value) ? value : textOfFile(value, cwd));
    if (parsed === undefined) {
      given.problems.push(
        `--mcp-config ${value.slice(0, 200)} is ignored: it is neither JSON nor the name of a JSON file`,
      );
    }
    const config = fieldsOf(parsed);
    const entries = Object.entries(fieldsOf(config.mcpServers ?? config));
    const isOwn = ([, server]: [string, unknown]) => fieldsOf(server).type === "sdk";
    given.own.push(...entries.filter(isOwn).map(([name]) => name));
    const others = Object.fromEntries(entries.filter((entry) => !isOwn(entry)));
    const { servers, problems } = readServers({ mcpServers: others });
    given.servers.push(...withOrigin(servers, "command line"));
    given.problems.push(...problems.map(({ name, problem }) => `the MCP server ${name} is left out: ${problem}`));
  }
  return given;
}

function textOfFile(file: string, cwd: string): string {
  const read = readRegularFile(resolve(cwd, file), { display: file, limit: FILE_LIMIT });
  return "refused" in read ? "" : new TextDecoder().decode(read.bytes);
}

/** Reads the list of `session/new`: programs, and addresses with `type`. Variables are pairs of `name` and `value`. */
export function clientServers(list: readonly unknown[]): { servers: McpServer[]; problems: string[] } {
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
