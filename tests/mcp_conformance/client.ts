/**
 * The client of the conformance suite: it is given an address, and does with the client of a session what the scenario
 * wants, which is to list the tools and call each. The suite tells the scenario by `MCP_CONFORMANCE_SCENARIO`.
 */
import { VERSION } from "../../src/cli/version.ts";
import { McpClient } from "../../src/mcp/client.ts";
import { answerRecord, type FormAnswer, readForm, type ServerForm } from "../../src/mcp/elicit.ts";
import { headerParameters } from "../../src/mcp/header_parameters.ts";
import { openHttp } from "../../src/mcp/http.ts";
import { withOrigin } from "../../src/mcp/configured.ts";
import { readServers } from "../../src/mcp/server.ts";
import type { McpTool } from "../../src/mcp/tool_info.ts";
import { denoIo } from "../../src/platform/deno_io.ts";
import { HttpClient } from "../../src/provider/http/client.ts";
import { fieldsOf, membersOf } from "../../src/platform/record.ts";

/** Returns the answer that leaves every field as it is. */
function acceptedDefaults({ fields }: ServerForm): FormAnswer {
  const filled = fields.filter(({ initial }) => initial !== undefined).map(({ name, initial }) => [name, initial]);
  return { action: "accept", content: Object.fromEntries(filled) };
}

const url = Deno.args.at(-1) ?? "";
const scenario = Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? "";
const context = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}");
const io = denoIo();
const http = new HttpClient(io);
const [server] = withOrigin(readServers({ mcpServers: { suite: { url } } }).servers, "command line");
if (server === undefined) throw new Error("no address");
const { signal } = new AbortController();

const resolved = { url, command: undefined, args: [], env: {}, cwd: undefined, headers: {}, apiKey: undefined };
const client = new McpClient(await openHttp(server, resolved, { client: http, io }), {
  info: { name: "agentcli", version: VERSION },
  timeoutMs: 20_000,
  elicits: true,
});

/** A value for each argument that must be there. */
function argumentsFor({ schema }: McpTool): Record<string, unknown> {
  const properties = fieldsOf(schema.properties);
  const values: Record<string, unknown> = { string: "x", integer: 1, number: 1, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    membersOf(schema.required).map((name) => [name, values[String(fieldsOf(properties[String(name)]).type)] ?? "x"]),
  );
}

async function call(tool: McpTool, args: Record<string, unknown>): Promise<void> {
  await client.request("tools/call", { name: tool.name, arguments: args }, {
    signal,
    headers: headerParameters(tool.schema, args),
    asks: {
      elicit(params) {
        const form = readForm("suite", params);
        return Promise.resolve("problem" in form ? { action: "decline" } : answerRecord(acceptedDefaults(form)));
      },
      progress: () => {},
    },
  });
}

try {
  await client.connect({ signal, revision: null });
  const { tools, resources, prompts } = await client.manifest(signal, Date.now());
  const planned: { name: string; arguments: Record<string, unknown> }[] = membersOf(context.toolCalls).map((one) => {
    const { name, arguments: args } = fieldsOf(one);
    return { name: String(name), arguments: fieldsOf(args) };
  });
  for (const { name, arguments: args } of planned) {
    const tool = tools.find((one) => one.name === name);
    if (tool !== undefined) await call(tool, args);
  }
  if (planned.length === 0) {
    const echo = scenario === "json-schema-2020-12-preservation"
      ? tools.find(({ schema }) => fieldsOf(schema.properties).schema !== undefined)
      : undefined;
    const focal = tools.find((tool) => tool !== echo);
    if (echo !== undefined && focal !== undefined) await call(echo, { schema: focal.schema });
    else await Promise.all(tools.map((tool) => call(tool, argumentsFor(tool)).catch(() => {})));
  }
  for (const { uri } of resources) await client.request("resources/read", { uri }, { signal });
  for (const { name } of prompts) await client.request("prompts/get", { name }, { signal });
} finally {
  await client.close();
  http.close();
}
