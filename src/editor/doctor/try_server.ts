/** Tries one MCP server, whichever way it is reached. */
import { isLocal } from "../../boundary/policy/locality.ts";
import type { Io } from "../../platform/io.ts";
import type { FoundArtifact } from "../found.ts";
import type { Finding } from "./finding.ts";
import type { Tools } from "./mcp.ts";
import { toolsOfProgram } from "./try_program.ts";

/** What came of it; `tools` are those that are active, 0 where they are not known. */
export interface ServerTrial {
  finding: Finding;
  tools: number;
}

/** The address of a server; null for one that is a program. */
function addressOf({ serverUrl, url }: Record<string, unknown>): string | null {
  const named = serverUrl ?? url;
  return typeof named === "string" ? named : null;
}

/** Whether trying it starts a program; a server that is switched off or at an address does not. */
export function startsProgram({ entry }: FoundArtifact): boolean {
  const { disabled, command } = (entry ?? {}) as Record<string, unknown>;
  return disabled !== true && typeof command === "string";
}

/**
 * Tries one server. A program is started and ended again; at an address only this machine is asked: elsewhere the doctor
 * sends nothing, least of all the keys of its headers.
 */
export async function tryServer(server: FoundArtifact, root: string, io: Io): Promise<ServerTrial> {
  const subject = `server ${server.name}`;
  const entry = (server.entry ?? {}) as Record<string, unknown>;
  const told = (level: Finding["level"], message: string, fix?: string): ServerTrial => ({
    finding: { level, subject, message, ...(fix === undefined ? {} : { fix }) },
    tools: 0,
  });
  if (entry.disabled === true) return told("ok", "is switched off");
  const url = addressOf(entry);
  if (url !== null && !isLocal(url, [])) {
    return told("skipped", "is at an address outside of this machine, which was not asked");
  }
  const found = url === null
    ? await toolsOfProgram({ command: String(entry.command), args: entry.args, env: entry.env }, root, io)
    : await import("./try_address.ts").then(({ toolsAtAddress }) =>
      toolsAtAddress(server.name, { url, headers: entry.headers }, io)
    );
  if ("problem" in found) return told("failure", found.problem, found.fix);
  const active = activeTools(found, entry.disabledTools);
  const off = found.names.length - active;
  const more = found.more ? " and more" : "";
  const message = `answers, with ${active} tools${more}${off === 0 ? "" : `, and ${off} that are switched off`}`;
  return { ...told("ok", message), tools: active };
}

function activeTools({ names }: Tools, disabledTools: unknown): number {
  const off = Array.isArray(disabledTools) ? disabledTools : [];
  return names.filter((name) => !off.includes(name)).length;
}
