/**
 * Which servers a session has: those of the user, of the project, and what the command line or a client brings; and
 * which of the project a person approved.
 */
import { readRegularFile } from "../boundary/reader.ts";
import type { Configuration, McpServerEntry } from "../config/types.ts";
import { join } from "../platform/path.ts";
import { isRecord, parseJson } from "../platform/record.ts";
import { startsOwnServer } from "./own_server.ts";
import { type McpServer, readServers, type ServerOrigin, type ServerProblem } from "./server.ts";
import { changeForProject, type ProjectFile, readForProject } from "../config/project_file.ts";
import type { Home } from "../platform/home.ts";

/** The file of a project that names servers, as most programs share it. */
const PROJECT_FILE = ".mcp.json";
const FILE_LIMIT = 1024 * 1024;

/** Marks servers with their origin. What only the user's own file may say of a server does not count elsewhere. */
export function withOrigin(servers: readonly McpServerEntry[], origin: ServerOrigin): McpServer[] {
  return servers.map((server) => ({ ...server, local: server.local && origin === "user", origin }));
}

/**
 * Returns the servers in the order of precedence: those given for this session, the user's, the project's; only the
 * first of a name. `problems` say what is wrong with others.
 */
export function configuredServers(
  { mcpServers = [] }: Pick<Configuration, "mcpServers">,
  { root, given = [] }: { root: string; given?: readonly McpServer[] },
): { servers: McpServer[]; problems: string[] } {
  // Our own is for other programs: a session that started it would be its own client.
  const isOther = (server: McpServerEntry) => !startsOwnServer(server);
  const read = projectServers(root);
  const project = { ...read, servers: read.servers.filter(isOther) };
  const own = mcpServers.filter(isOther);
  const all = [...given.filter(isOther), ...withOrigin(own, "user"), ...withOrigin(project.servers, "project")];
  const named = new Map<string, McpServer>();
  for (const server of all) if (!named.has(server.name)) named.set(server.name, server);
  const hidden = project.servers.filter(({ name }) => named.get(name)?.origin !== "project").map(({ name }) => name);
  return {
    servers: [...named.values()],
    problems: [
      ...project.problems.map(({ name, problem }) =>
        `the MCP server ${name} of ${PROJECT_FILE} is left out: ${problem}`
      ),
      ...hidden.map((name) => `the MCP server ${name} of ${PROJECT_FILE} is left out: you have one of that name`),
    ],
  };
}

function projectServers(root: string): { servers: McpServerEntry[]; problems: ServerProblem[] } {
  const read = readRegularFile(join(root, PROJECT_FILE), { display: PROJECT_FILE, limit: FILE_LIMIT });
  const unusable = (problem: string) => ({ servers: [], problems: [{ name: "(all)", problem }] });
  if ("refused" in read) {
    return read.refused === "absent" ? { servers: [], problems: [] } : unusable("it cannot be read");
  }
  const value = parseJson(new TextDecoder().decode(read.bytes));
  return value === undefined ? unusable("the file is not JSON") : readServers(value);
}

interface ApprovedServer {
  /** Digest of everything that decides what is started or reached. */
  hash: string;
  /** Digest of names and descriptions of the tools as they were first seen; null until then. */
  tools: string | null;
}

type Servers = Record<string, ApprovedServer>;

const FILE: ProjectFile<Servers> = {
  name: "mcp.json",
  holds: (value): value is Servers =>
    isRecord(value) &&
    Object.values(value).every((one) =>
      isRecord(one) && typeof one.hash === "string" && (one.tools === null || typeof one.tools === "string")
    ),
  problem: "does not hold approved MCP servers",
  hint: "remove the file, and approve the servers again: agentcli mcp approve NAME",
};

/** Returns the approved servers of a project by name. Throws `config_invalid` for a file of another form. */
export async function approvedServers(home: Home, root: string): Promise<Map<string, ApprovedServer>> {
  return new Map(Object.entries(await readForProject(home, FILE, { root }) ?? {}));
}

/** Approves a server, or with null revokes the approval. Throws `home_unusable` and `config_invalid`. */
export async function approveServer(
  home: Home,
  { root, name }: { root: string; name: string },
  approved: ApprovedServer | null,
): Promise<void> {
  const change = (before: Servers = {}) => {
    const others = Object.entries(before).filter(([one]) => one !== name);
    const kept = [...others, ...approved === null ? [] : [[name, approved] as const]];
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  };
  await changeForProject(home, FILE, { root, change });
}
