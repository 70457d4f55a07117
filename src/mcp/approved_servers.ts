/**
 * Which MCP servers of projects a person approved: `mcp.json` of the home. A repository can name any program, so what it
 * names runs only after a yes to exactly that; another command line, or other tools, are asked about again.
 */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { isRecord, parseJson } from "../platform/record.ts";

/** The file, relative to the home. */
const FILE = "mcp.json";

/** A server as it was approved. */
export interface ApprovedServer {
  /** Digest of all that decides what is started or asked. */
  hash: string;
  /** Digest of names and descriptions of the tools as they were first seen; null until then. */
  tools: string | null;
}

type Projects = Record<string, Record<string, ApprovedServer>>;

/** Returns the approved servers of a project by name. Throws `config_invalid` for a file that is none of ours. */
export async function approvedServers(home: Home, root: string): Promise<Map<string, ApprovedServer>> {
  return new Map(Object.entries(serversOf(await readProjects(home), root)));
}

/** Approves a server, or with null takes the approval back. Throws `home_unusable` and `config_invalid`. */
export async function approveServer(
  home: Home,
  { root, name }: { root: string; name: string },
  approved: ApprovedServer | null,
): Promise<void> {
  await home.locked(FILE, async () => {
    const projects = await readProjects(home);
    const own = Object.entries(serversOf(projects, root)).filter(([one]) => one !== name);
    const kept = [...own, ...approved === null ? [] : [[name, approved] as const]];
    const others = Object.entries(projects).filter(([one]) => one !== root);
    const all = [...others, ...kept.length === 0 ? [] : [[root, Object.fromEntries(kept)] as const]];
    await home.write(FILE, JSON.stringify({ projects: Object.fromEntries(all) }, null, 2) + "\n");
  });
}

function serversOf(projects: Projects, root: string): Projects[string] {
  return Object.hasOwn(projects, root) ? projects[root] ?? {} : {};
}

async function readProjects(home: Home): Promise<Projects> {
  const text = await home.read(FILE);
  if (text === null) return {};
  const file = parseJson(text);
  const projects = isRecord(file) ? file["projects"] : undefined;
  if (isRecord(projects) && Object.values(projects).every(isProject)) return projects as Projects;
  throw new AgentcliError("config_invalid", `${home.file(FILE)} does not hold approved MCP servers`, {
    hint: "remove the file, and approve the servers again: agentcli mcp approve NAME",
  });
}

function isProject(value: unknown): boolean {
  return isRecord(value) &&
    Object.values(value).every((one) =>
      isRecord(one) && typeof one.hash === "string" && (one.tools === null || typeof one.tools === "string")
    );
}
