/** MCP servers for tests: a scripted one as a program of its own, and its entry in a configuration. */
import { resolve } from "../../src/platform/path.ts";

/**
 * One tool of the scripted server; `does` names one of the deeds of `mcp_server.mjs`, default: its arguments come back.
 */
export interface PlannedTool {
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  does?: string;
  [more: string]: unknown;
}

/** What the scripted server is and does. */
export interface ServerPlan {
  era?: "modern" | "legacy";
  tools: PlannedTool[];
  [more: string]: unknown;
}

/** A scripted server that is ready to be started. */
export interface PlannedServer {
  /** For `mcp_servers:` or `mcpServers`. */
  entry: { command: string; args: string[] };
  /** Changes what it will do from its next start on. */
  change(plan: ServerPlan): Promise<void>;
  /** What it heard in all its lives; `started` entries are its starts. */
  heard(): Promise<Record<string, unknown>[]>;
}

const PROGRAM = decodeURIComponent(new URL("./mcp_server.mjs", import.meta.url).pathname);

/** A schema of text arguments; those that end in `?` can be left out. */
export function textArguments(...names: string[]): Record<string, unknown> {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), { type: "string" }])),
    required: names.filter((name) => !name.endsWith("?")),
  };
}

/** Puts a scripted server into a directory, which has to be one that the sandbox shows where there is one. */
export async function planServer(directory: string, name: string, plan: ServerPlan): Promise<PlannedServer> {
  await Deno.mkdir(directory, { recursive: true });
  const [program, file] = [resolve(directory, `${name}.mjs`), resolve(directory, `${name}.json`)];
  await Deno.copyFile(PROGRAM, program);
  const change = (next: ServerPlan) => Deno.writeTextFile(file, JSON.stringify(next));
  await change(plan);
  return {
    entry: { command: Deno.execPath(), args: ["run", "-A", "--no-config", "--no-lock", "--quiet", program, file] },
    change,
    async heard() {
      const text = await Deno.readTextFile(`${file}.log`).catch(() => "");
      return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    },
  };
}
