/** Starts an MCP server of standard input and output as the editor does, asks it for its tools, and ends it. */
import type { Io } from "../../platform/io.ts";
import { isAbsolute, resolve } from "../../platform/path.ts";
import { findExecutable, run } from "../../platform/process.ts";
import { expanded, INITIALIZE, INITIALIZED, LIST_TOOLS, messageIn, type Tools, toolsIn } from "./mcp.ts";

/** A server may take this long to answer, in milliseconds. */
const TIME_LIMIT_MS = 10_000;
const OUTPUT_LIMIT = 4 * 1024 * 1024;

/** A server as it stands in its file. */
export interface ServerProgram {
  command: string;
  args?: unknown;
  env?: unknown;
}

/** The tools, or why there are none. */
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
    : await findExecutable(command, environment.PATH ?? environment.Path ?? "", { notBelow: [] });
  const fix = `install ${command}, or write its whole path`;
  if (program === null) return { problem: `its program "${command}" is not on PATH`, fix };
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
    const said = errors.trim().split("\n")[0]?.slice(0, 200) ?? "";
    return {
      problem:
        (ended === "timeout" ? "did not answer within 10 seconds" : `ended with exit ${code} before it answered`) +
        (said === "" ? "" : `: ${said}`),
      fix: "run its command line by hand and see what it says",
    };
  } catch {
    return { problem: "its program cannot be started", fix };
  }
}
