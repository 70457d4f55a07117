/** A project in a temporary directory with the context that tools are run in: for the tests of tools. */
import { findMarkers } from "../../src/boundary/policy/path_rules.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";
import type { Tool, ToolContext, ToolResult } from "../../src/tools/tool.ts";

/** The project and ways to look at it. */
export interface ToolProject {
  root: string;
  context: ToolContext;
  run<Input>(tool: Tool<Input>, input: Input): Promise<ToolResult>;
  write(name: string, content: string | Uint8Array): Promise<void>;
  text(name: string): Promise<string>;
  bytes(name: string): Promise<Uint8Array>;
}

/**
 * Runs `work` in a fresh project with a local provider, unless `local` says otherwise; `marker` is the text of its
 * marker, if it has one.
 */
export async function inToolProject(
  work: (project: ToolProject) => Promise<void>,
  options: { marker?: string; local?: boolean } = {},
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    if (options.marker !== undefined) await Deno.writeTextFile(`${root}/.agentclisecret`, options.marker);
    const context = await contextOf(root, options.local ?? true);
    await work({
      root,
      context,
      run: (tool, input) => tool.run(input, context),
      async write(name, content) {
        const path = `${root}/${name}`;
        await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
        if (typeof content === "string") await Deno.writeTextFile(path, content);
        else await Deno.writeFile(path, content);
      },
      text: (name) => Deno.readTextFile(`${root}/${name}`),
      bytes: (name) => Deno.readFile(`${root}/${name}`),
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function contextOf(root: string, local: boolean): Promise<ToolContext> {
  const workspace = await openWorkspace({
    root,
    additional: [],
    cwd: root,
    home: `${root}/../never-made-home`,
    localEndpoints: findMarkers(root).standingEndpoints,
    provider: { local, name: "test" },
  });
  return {
    workspace,
    memory: { files: new Map(), warned: new Set(), failedEdits: new Map(), todos: [] },
    signal: new AbortController().signal,
    resultBytes: 100_000,
    io: {
      env: () => undefined,
      environment: () => ({}),
      os: "linux",
      clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
    },
    secretVariables: [],
  };
}

/** Bytes of a tool as a request carries it: what every session pays for it. */
export function promptBytes(tool: Tool): number {
  const { name, description, parameters } = tool;
  return new TextEncoder().encode(JSON.stringify({ name, description, parameters })).length;
}
