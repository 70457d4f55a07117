/** Runs `agentcli mcp list`, `show`, `test` and `approve`. */
import { approveServer } from "../../mcp/configured.ts";
import { serverClass } from "../../mcp/server_admission.ts";
import { isLiteralKey } from "../../config/endpoint.ts";
import { didYouMean } from "../../config/suggest.ts";
import { AgentcliError } from "../../errors.ts";
import { type ExposedTool, exposeTools } from "../../mcp/exposure.ts";
import type { McpHub } from "../../mcp/hub.ts";
import { logOf, type ServerState } from "../../mcp/session_server.ts";
import { failureOf } from "../../mcp/link.ts";
import { decidingFields, type McpServer, serverHash, shownServer } from "../../mcp/server.ts";
import { counted, grouped } from "../../platform/number.ts";
import { openProjectServers } from "../../runtime/mcp_servers.ts";
import { clean } from "../../terminal/clean.ts";
import type { Context, Invocation } from "../command.ts";
import { hostOf } from "../output.ts";
import { confirmed, during, notice, print, warn } from "../result.ts";

/** Tokens of a window in which exposures are shown: the direct tools of every usual one have the same budget. */
const WINDOW = 32_768;

interface Row {
  state: ServerState;
  tools: ExposedTool[];
}

/** Runs `work` with the servers of the directory; nothing is started. */
async function withServers<T>(
  context: Context,
  work: (hub: McpHub, rows: Row[]) => Promise<T>,
): Promise<T> {
  const { hub, problems, close } = await openProjectServers(hostOf(context));
  try {
    for (const problem of problems) await warn(context, problem);
    await hub.load({ isQuiet: true });
    const known = hub.states.flatMap(({ server, manifest }) => manifest === null ? [] : [{ server, manifest }]);
    const exposed = exposeTools(known, WINDOW).tools;
    const rows = hub.states.map((state) => ({
      state,
      tools: exposed.filter(({ server }) => server === state.server.name),
    }));
    return await work(hub, rows);
  } finally {
    await close();
  }
}

function named(rows: readonly Row[], name: string): Row {
  const found = rows.find(({ state }) => state.server.name === name);
  if (found !== undefined) return found;
  throw unknownServer(name, { names: rows.map(({ state }) => state.server.name), where: "here" });
}

/** The error for a name that no server has. */
export function unknownServer(name: string, { names, where }: { names: string[]; where: string }): AgentcliError {
  return new AgentcliError("usage", `there is no MCP server ${JSON.stringify(name.slice(0, 64))} ${where}`, {
    hint: didYouMean(name, names) ??
      (names.length === 0 ? "add one: agentcli mcp add" : `servers: ${names.join(", ")}`),
  });
}

function stateOf({ server, manifest, problem }: ServerState): string {
  if (!server.enabled) return "off";
  return problem ?? (manifest === null ? "not started yet" : "ready");
}

function tokensOf(tools: readonly ExposedTool[]): number {
  return tools.filter(({ exposure }) => exposure !== "off").reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Runs the command. */
export async function listServers({ context }: Invocation): Promise<void> {
  await withServers(context, async (_hub, rows) => {
    const lines = rows.map(({ state, tools }) => [
      state.server.name,
      state.server.origin,
      serverClass(state.server),
      clean(stateOf(state)),
      state.manifest === null ? "-" : String(tools.length),
      state.manifest === null ? "-" : grouped(tokensOf(tools)),
      clean(shownServer(state.server)),
    ]);
    const heading = ["NAME", "FROM", "CLASS", "STATE", "TOOLS", "TOKENS", "RUNS"];
    const none = "no MCP server is configured; agentcli mcp add, or import";
    await print(context, { json: { servers: rows.map(rowJson) }, table: [heading, ...lines], none });
  });
}

/** Runs the command. */
export async function showServer({ arguments: [name = ""], context }: Invocation): Promise<void> {
  await withServers(context, async (_hub, rows) => {
    const row = named(rows, name);
    await print(context, { json: rowJson(row), text: shownRow(row) });
  });
}

function shownRow({ state, tools }: Row): string {
  const { server, manifest } = state;
  const facts = [
    ["from", server.origin],
    ["class", serverClass(server)],
    [server.url === undefined ? "runs" : "address", shownServer(server)],
    ...Object.keys(server.env).length === 0 ? [] : [["variables", Object.keys(server.env).join(", ")]],
    ...Object.keys(server.headers).length === 0 ? [] : [["headers", Object.keys(server.headers).join(", ")]],
    ...server.label === undefined ? [] : [["label", "no-cloud: for local models only"]],
    ["state", stateOf(state)],
    ...manifest === null ? [] : [["revision", manifest.revision]],
  ];
  const lines = facts.map(([key = "", value = ""]) => `${key}: ${clean(value)}`);
  if (manifest === null) return `${clean(server.name)}\n${lines.map((line) => `  ${line}\n`).join("")}`;
  const shown = tools.map(({ tool, exposure, tokens }) =>
    `  ${exposure.padEnd(6)} ${String(tokens).padStart(5)}  ${clean(tool.name)}${
      tool.description === "" ? "" : ` – ${clean(tool.description)}`
    }`
  );
  const others = [
    ...manifest.prompts.map(({ name }) => `  prompt  ${clean(name)}`),
    ...manifest.resources.slice(0, 20).map(({ uri }) => `  resource ${clean(uri)}`),
  ];
  const total = `tools: ${tools.length}, ${grouped(tokensOf(tools))} tokens if each were declared as a function`;
  return [clean(server.name), ...lines.map((line) => `  ${line}`), `  ${total}`, ...shown, ...others, ""].join("\n");
}

function rowJson({ state, tools }: Row): Record<string, unknown> {
  const { server, manifest } = state;
  return {
    name: server.name,
    from: server.origin,
    class: serverClass(server),
    state: stateOf(state),
    ...server.url === undefined ? { command: [server.command, ...server.args] } : { url: server.url },
    env: Object.keys(server.env),
    headers: Object.keys(server.headers),
    label: server.label ?? null,
    revision: manifest?.revision ?? null,
    tokens: manifest === null ? null : tokensOf(tools),
    tools: tools.map(({ tool, exposure, tokens }) => ({
      name: tool.name,
      description: tool.description,
      exposure,
      tokens,
    })),
    prompts: manifest?.prompts.map(({ name }) => name) ?? [],
    resources: manifest?.resources.map(({ uri }) => uri) ?? [],
  };
}

/** Runs the command. Returns 1 where the server does not answer. */
export async function testServer({ arguments: [name = ""], context }: Invocation): Promise<number> {
  const { io } = context;
  return await withServers(context, async (hub, rows) => {
    const { state } = named(rows, name);
    const started = io.clock.monotonic();
    let problem: string | null = null;
    await notice(context, `starting ${clean(name)}: ${clean(shownServer(state.server))}`);
    try {
      // What npx and others load at their first start takes a while.
      await during(context, `waiting for ${clean(name)}`, () => hub.start(name, new AbortController().signal));
    } catch (error) {
      problem = failureOf(error);
    }
    const ms = Math.round(io.clock.monotonic() - started);
    const { manifest, server } = state;
    const tools = manifest?.tools.map((tool) => tool.name) ?? [];
    const { prompts = [], resources = [] } = manifest ?? {};
    const offers = [
      counted(tools.length, "tool"),
      counted(prompts.length, "prompt"),
      counted(resources.length, "resource"),
    ].join(", ");
    await print(context, {
      json: { name, ok: problem === null, problem, ms, revision: manifest?.revision ?? null, tools },
      text: problem === null
        ? `[OK ] ${clean(name)}: revision ${manifest?.revision}, ${offers}, after ${ms} ms\n`
        : `[ERR] ${clean(name)}: it ${clean(problem)}\n`,
      notes: problem !== null && server.url === undefined ? [`what it printed: ${logOf(name)} in the home`] : [],
    });
    return problem === null ? 0 : 1;
  });
}

/** Those of the fields that the first line and the class show. */
const SHOWN = ["command", "args", "url", "network"];

/** Everything else that is approved, one line each; a key by its source. */
function shownFields(server: McpServer): string[] {
  const { env, headers, ...others } = decidingFields(server);
  const shown = Object.entries(others).filter(([name, value]) => value !== undefined && !SHOWN.includes(name));
  return [...env, ...headers, ...shown].map(([name, value]) =>
    `  ${name}=${name === "apiKey" && isLiteralKey(String(value)) ? "(as it stands in the file)" : value}`
  );
}

/** Runs the command. Returns 1 where the person said no. */
export async function approve({ arguments: [name = ""], context }: Invocation): Promise<number> {
  const { hub, root, home, close } = await openProjectServers(hostOf(context));
  try {
    await hub.load({ isQuiet: true });
    const { state } = named(hub.states.map((one) => ({ state: one, tools: [] })), name);
    const { server } = state;
    if (server.origin !== "project") {
      await notice(context, `${name} is your own: it needs no approval`);
      return 0;
    }
    await context.io.stderr.write(
      [shownServer(server), ...shownFields(server), `  ${serverClass(server)}, of ${root}/.mcp.json`]
        .map((line) => `${clean(line)}\n`).join(""),
    );
    if (!await confirmed(context, `Let ${name} run with that, whenever a session starts here?`)) return 1;
    await approveServer(home, { root, name }, { hash: await serverHash(server), tools: null });
    await hub.forget(name);
    await print(context, { json: { name, root, change: "approved" }, text: `approved ${name}\n` });
    return 0;
  } finally {
    await close();
  }
}
