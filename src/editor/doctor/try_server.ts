/** Starts an MCP server of standard input and output, and asks it for its tools. Servers at an address are not asked. */
import type { Io } from "../../platform/io.ts";
import { isAbsolute, resolve } from "../../platform/path.ts";
import { findExecutable, run } from "../../platform/process.ts";
import type { FoundArtifact } from "../inspect.ts";
import type { Finding } from "./try_hook.ts";

/** A server may take this long to answer, in milliseconds. */
const TIME_LIMIT_MS = 10_000;
const OUTPUT_LIMIT = 4 * 1024 * 1024;

/** What came of it; `tools` is null where it is not known. */
export interface ServerTrial {
  finding: Finding;
  tools: number | null;
}

const REQUESTS = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agentcli", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" },
];

function expanded(value: unknown, env: Io["env"]): string {
  return String(value).replace(/\$\{env:(\w+)\}/g, (_, name: string) => env(name) ?? "");
}

/** Tries one server. Its program is started as the editor starts it, and ended after its answer. */
export async function tryServer(server: FoundArtifact, root: string, io: Io): Promise<ServerTrial> {
  const subject = `server ${server.name}`;
  const told = (level: Finding["level"], message: string, tools: number | null = null): ServerTrial => ({
    finding: { level, subject, message },
    tools,
  });
  const { command, args, env, disabled } = server.entry as Record<string, unknown>;
  if (disabled === true) return told("ok", "is switched off", 0);
  if (typeof command !== "string") return told("warning", "is at an address, which was not asked");
  const environment = io.environment();
  const program = isAbsolute(command)
    ? command
    : /[/\\]/.test(command)
    ? resolve(root, command)
    : await findExecutable(command, environment.PATH ?? environment.Path ?? "", { notBelow: [] });
  if (program === null) return told("failure", `its program "${command}" is not on PATH`);
  const own = typeof env === "object" && env !== null ? Object.entries(env) : [];
  const words = Array.isArray(args) ? args.map((word) => expanded(word, io.env)) : [];
  const answers = new AbortController();
  const decoder = new TextDecoder();
  let output = "";
  let tools: number | null = null;
  try {
    const { ended, code } = await run({
      argv: [program, ...words],
      cwd: root,
      env: { ...environment, ...Object.fromEntries(own.map(([name, value]) => [name, expanded(value, io.env)])) },
      timeoutMs: TIME_LIMIT_MS,
      signal: answers.signal,
      stdin: new TextEncoder().encode(REQUESTS.map((request) => JSON.stringify(request) + "\n").join("")),
      onOutput: (bytes, stream) => {
        if (stream !== "stdout" || output.length > OUTPUT_LIMIT) return;
        output += decoder.decode(bytes, { stream: true });
        tools ??= toolCount(output);
        if (tools !== null) answers.abort();
      },
    });
    if (tools !== null) return told("ok", `answers, with ${tools} tools`, tools);
    return told(
      "failure",
      ended === "timeout" ? "did not answer within 10 seconds" : `ended with exit ${code} before it answered`,
    );
  } catch {
    return told("failure", "its program cannot be started");
  }
}

/** The number of tools, once the answer is there. */
function toolCount(output: string): number | null {
  for (const line of output.split("\n")) {
    try {
      const message: unknown = JSON.parse(line);
      const { id, result } = message as { id?: unknown; result?: { tools?: unknown } };
      if (id === 2 && Array.isArray(result?.tools)) return result.tools.length;
    } catch {
      // A line that is not whole yet, or a server that writes other things.
    }
  }
  return null;
}
