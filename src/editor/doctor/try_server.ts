/** Tries one MCP server, whichever way it is reached. */
import { isLocal } from "../../boundary/policy/locality.ts";
import type { Io } from "../../platform/io.ts";
import type { FoundArtifact } from "../resources/found.ts";
import { isAbsolute, resolve } from "../../platform/path.ts";
import { findProgram } from "../../boundary/programs.ts";
import { run } from "../../platform/process.ts";

/** The result of a trial; `tools` are those that are active, 0 where they are not known. */
export interface ServerTrial {
  finding: Finding;
  tools: number;
}

/** Returns the address of a server; null for one that is a program. */
function addressOf({ serverUrl, url }: Record<string, unknown>): string | null {
  const named = serverUrl ?? url;
  return typeof named === "string" ? named : null;
}

/** Returns whether trying it starts a program; a server that is switched off or at an address does not. */
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
  const trial = (level: Finding["level"], message: string, fix?: string): ServerTrial => ({
    finding: { level, subject, message, ...(fix === undefined ? {} : { fix }) },
    tools: 0,
  });
  if (entry.disabled === true) return trial("ok", "is switched off");
  const url = addressOf(entry);
  if (url !== null && !isLocal(url, [])) {
    return trial("skipped", "is at an address outside of this machine, which was not asked");
  }
  const found = url === null
    ? await toolsOfProgram({ command: String(entry.command), args: entry.args, env: entry.env }, root, io)
    : await import("./try_address.ts").then(({ toolsAtAddress }) =>
      toolsAtAddress(server.name, { url, headers: entry.headers }, io)
    );
  if ("problem" in found) return trial("failure", found.problem, found.fix);
  const active = activeTools(found, entry.disabledTools);
  const off = found.names.length - active;
  const more = found.more ? " and more" : "";
  const message = `answers, with ${active} tools${more}${off === 0 ? "" : `, and ${off} that are switched off`}`;
  return { ...trial("ok", message), tools: active };
}

function activeTools({ names }: Tools, disabledTools: unknown): number {
  const off = Array.isArray(disabledTools) ? disabledTools : [];
  return names.filter((name) => !off.includes(name)).length;
}

/** A server may take this long to answer, in milliseconds. */
const TIME_LIMIT_MS = 10_000;
const OUTPUT_LIMIT = 4 * 1024 * 1024;

/** A server as it stands in its file. */
export interface ServerProgram {
  command: string;
  args?: unknown;
  env?: unknown;
}

/** Returns the tools, or why there are none. */
export async function toolsOfProgram(
  { command, args, env }: ServerProgram,
  root: string,
  io: Io,
): Promise<Tools | { problem: string; fix: string }> {
  const environment = io.environment();
  const program = isAbsolute(command)
    ? command
    : /[/\\]/.test(command)
    ? resolve(root, command)
    : await findProgram(command, { path: environment.PATH ?? environment.Path ?? "", roots: [root], io });
  const fix = `install ${command}, or write its whole path`;
  if (program === null) return { problem: `its program "${command}" is not on PATH outside of your projects`, fix };
  const own = typeof env === "object" && env !== null ? Object.entries(env) : [];
  const words = Array.isArray(args) ? args.map((word) => expanded(word, io.env)) : [];
  const answers = new AbortController();
  const decoder = new TextDecoder();
  let [output, errors] = ["", ""];
  let tools: Tools | null = null;
  try {
    const { ended, code } = await run({
      argv: [program, ...words],
      cwd: root,
      env: { ...environment, ...Object.fromEntries(own.map(([name, value]) => [name, expanded(value, io.env)])) },
      timeoutMs: TIME_LIMIT_MS,
      signal: answers.signal,
      stdin: new TextEncoder().encode(
        [INITIALIZE, INITIALIZED, LIST_TOOLS].map((request) => JSON.stringify(request) + "\n").join(""),
      ),
      onOutput: (bytes, stream) => {
        if (stream === "stderr") {
          if (errors.length < 1024) errors += new TextDecoder().decode(bytes);
          return;
        }
        if (output.length > OUTPUT_LIMIT) return;
        output += decoder.decode(bytes, { stream: true });
        const message = messageIn(output, LIST_TOOLS.id);
        tools ??= message === null ? null : toolsIn(message);
        if (tools !== null) answers.abort();
      },
    });
    if (tools !== null) return tools;
    const firstLine = errors.trim().split("\n")[0]?.slice(0, 200) ?? "";
    return {
      problem:
        (ended === "timeout" ? "did not answer within 10 seconds" : `ended with exit ${code} before it answered`) +
        (firstLine === "" ? "" : `: ${firstLine}`),
      fix: "run its command line by hand and see what it says",
    };
  } catch {
    return { problem: "its program cannot be started", fix };
  }
}

/** The messages to a server, in order. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agentcli", version: "1" } },
} as const;
export const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
export const LIST_TOOLS = { jsonrpc: "2.0", id: 2, method: "tools/list" } as const;

/** The tools of a server. */
export interface Tools {
  names: readonly string[];
  /** There are more, on further pages. */
  more: boolean;
}

/** Returns the message with this id in an output, line by line, also as server-sent events; null as long as it is not there. */
export function messageIn(output: string, id: number): Record<string, unknown> | null {
  for (const line of output.split("\n")) {
    try {
      const message: unknown = JSON.parse(line.replace(/^data:/, ""));
      if (typeof message !== "object" || message === null || (message as { id?: unknown }).id !== id) continue;
      if ("result" in message || "error" in message) return message as Record<string, unknown>;
    } catch {
      // A line that is not whole yet, or something else.
    }
  }
  return null;
}

/** Returns the tools that an answer to {@link LIST_TOOLS} lists; null for one without a list. */
export function toolsIn(message: Record<string, unknown>): Tools | null {
  const { tools, nextCursor } = (message.result ?? {}) as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) return null;
  return { names: tools.map((tool) => String(tool?.name)), more: typeof nextCursor === "string" && nextCursor !== "" };
}

/** Returns a configured value with `${env:NAME}` put in. */
export function expanded(value: unknown, env: (name: string) => string | undefined): string {
  return String(value).replace(/\$\{env:(\w+)\}/g, (_, name: string) => env(name) ?? "");
}

/**
 * One thing that was looked at. `ok`: nothing to do; `note`: good to know; `warning`: it works, or cannot be known;
 * `failure`: it does not do its work; `skipped`: it was not tried.
 */
export interface Finding {
  level: "ok" | "note" | "warning" | "failure" | "skipped";
  /** `pre_read_code (project, no-cloud-guard)`, `server files`, … */
  subject: string;
  message: string;
  /** The remedy: a command line, or a few words. */
  fix?: string;
}
