/**
 * Which MCP servers of projects a person approved: `mcp.json` of the home. A repository can name any program, so what it
 * names runs only after a yes to exactly that; another command line, or other tools, are asked about again.
 */
import { changeForProject, type ProjectFile, readForProject } from "../config/project_file.ts";
import type { Home } from "../platform/home.ts";
import { isRecord } from "../platform/record.ts";

interface ApprovedServer {
  /** Digest of all that decides what is started or asked. */
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

/** Returns the approved servers of a project by name. Throws `config_invalid` for a file that is none of ours. */
export async function approvedServers(home: Home, root: string): Promise<Map<string, ApprovedServer>> {
  return new Map(Object.entries(await readForProject(home, FILE, { root }) ?? {}));
}

/** Approves a server, or with null takes the approval back. Throws `home_unusable` and `config_invalid`. */
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
