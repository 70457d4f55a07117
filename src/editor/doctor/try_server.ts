/** Tries one MCP server, however it is reached. */
import { isLocal } from "../../boundary/policy/locality.ts";
import type { Io } from "../../platform/io.ts";
import type { FoundArtifact } from "../resources/found.ts";
import { membersOf } from "../../platform/record.ts";
import { programNamed } from "../../boundary/programs.ts";
import { run } from "../../platform/process.ts";
import { AgentcliError } from "../../errors.ts";
import { McpClient } from "../../mcp/client.ts";
import { withOrigin } from "../../mcp/configured.ts";
import { failureOf } from "../../mcp/link.ts";
import type { Link, LinkHandlers } from "../../mcp/link.ts";
import { startsOwnServer } from "../../mcp/own_server.ts";
import { readServers } from "../../mcp/server.ts";
import { StdioLink } from "../../mcp/stdio.ts";
import { HttpClient } from "../../provider/http/client.ts";

/** The result of a trial; `tools` are those that are active, 0 where they are not known. */
interface ServerTrial {
  finding: Finding;
  tools: number;
}

/** Returns whether trying it starts a program; a server that is turned off or at an address does not. */
export function startsProgram({ entry }: FoundArtifact): boolean {
  const { disabled, command, args } = (entry ?? {}) as Record<string, unknown>;
  return disabled !== true && typeof command === "string" && !startsOwnServer({ command, args });
}

/**
 * Tries one server. A program is started and ended again; only addresses on this machine are requested: elsewhere the
 * doctor sends nothing, least of all the keys of its headers.
 */
export async function tryServer(server: FoundArtifact, root: string, io: Io): Promise<ServerTrial> {
  const subject = `server ${server.name}`;
  const entry = (server.entry ?? {}) as Record<string, unknown>;
  const trial = (level: Finding["level"], message: string, fix?: string): ServerTrial => ({
    finding: { level, subject, message, fix },
    tools: 0,
  });
  if (entry.disabled === true) return trial("ok", "is switched off");
  if (startsOwnServer(entry)) return trial("ok", "is the server of agentcli itself, which was not started");
  const named = entry.serverUrl ?? entry.url;
  const url = typeof named === "string" ? named : null;
  if (url !== null && !isLocal(url, [])) {
    return trial("skipped", "is at an address outside of this machine, which was not asked");
  }
  const disabled = membersOf(entry.disabledTools);
  try {
    const names = url === null
      ? await toolsOfProgram({ command: String(entry.command), args: entry.args, env: entry.env }, root, io)
      : await toolsAtAddress(server.name, { url, headers: entry.headers }, io);
    const active = names.filter((name) => !disabled.includes(name)).length;
    const off = names.length - active;
    const message = `answers, with ${active} tools${off === 0 ? "" : `, and ${off} that are switched off`}`;
    return { ...trial("ok", message), tools: active };
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    if (url !== null) return trial("failure", error.message, "start it, or check its address and its headers");
    return trial("failure", error.message, error.hint ?? "run its command line by hand and see what it says");
  }
}

/** A server may take this long to answer, in milliseconds. */
const TIME_LIMIT_MS = 10_000;
/** The protocol that editors' assistants speak: a handshake is tried first. */
const HANDSHAKE = "";

async function toolsOfProgram(
  { command, args, env }: { command: string; args?: unknown; env?: unknown },
  root: string,
  io: Io,
): Promise<string[]> {
  const environment = io.environment();
  const search = { path: environment.PATH ?? environment.Path ?? "", roots: [root], io };
  const program = await programNamed(command, root, search);
  if (program === null) {
    throw new AgentcliError("usage", `its program "${command}" is not on PATH outside of your projects`, {
      hint: `install ${command}, or write its whole path`,
    });
  }
  const words = Array.isArray(args) ? args.map((word) => expanded(word, io.env)) : [];
  const options = {
    argv: [program, ...words] as [string, ...string[]],
    cwd: root,
    env: { ...environment, ...valuesOf(env, io) },
  };
  return await toolsBy((handlers) =>
    new StdioLink((streams) => run({ ...streams, ...options }), { handlers, log: () => {} })
  );
}

/** Returns the tools of a server at an address of this machine. */
async function toolsAtAddress(
  name: string,
  { url, headers }: { url: string; headers: unknown },
  io: Io,
): Promise<string[]> {
  const client = new HttpClient(io);
  try {
    const { openHttp } = await import("../../mcp/http.ts");
    const [server] = withOrigin(readServers({ mcpServers: { tried: { url } } }).servers, "client");
    if (server === undefined) throw new AgentcliError("usage", "its address is none of streamable HTTP");
    const resolved = {
      ...{ url, command: undefined, args: [], env: {}, cwd: undefined, apiKey: undefined },
      headers: valuesOf(headers, io),
    };
    return await toolsBy(await openHttp({ ...server, name }, resolved, { client, io }));
  } finally {
    client.close();
  }
}

/** Asks a server by the client that sessions use. Throws what a person can act on. */
async function toolsBy(open: (handlers: LinkHandlers) => Link): Promise<string[]> {
  const info = { name: "agentcli", version: "1" };
  const client = new McpClient(open, { info, timeoutMs: TIME_LIMIT_MS, elicits: false });
  const { signal } = new AbortController();
  try {
    await client.connect({ signal, revision: HANDSHAKE });
    const { tools } = await client.manifest(signal, 0);
    return tools.map(({ name }) => name);
  } catch (error) {
    throw new AgentcliError("provider_error", failureOf(error), { cause: error });
  } finally {
    await client.close();
  }
}

function valuesOf(values: unknown, io: Io): Record<string, string> {
  const own = typeof values === "object" && values !== null ? Object.entries(values) : [];
  return Object.fromEntries(own.map(([name, value]) => [name, expanded(value, io.env)]));
}

/** Returns a configured value with `${env:NAME}` replaced. */
function expanded(value: unknown, env: (name: string) => string | undefined): string {
  return String(value).replace(/\$\{env:(\w+)\}/g, (_, name: string) => env(name) ?? "");
}

/**
 * One finding. `ok`: nothing to do; `note`: good to know; `warning`: it works, or that cannot be known;
 * `failure`: it does not work; `skipped`: it was not tried.
 */
export interface Finding {
  level: "ok" | "note" | "warning" | "failure" | "skipped";
  /** `pre_read_code (project, no-cloud-guard)`, `server files`, … */
  subject: string;
  message: string;
  /** The remedy: a command line, or a few words. */
  fix?: string;
}
