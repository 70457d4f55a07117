/** The tools of MCP servers: those that are functions of their own, and McpFind and McpCall for all others. */
import { shortened } from "../../platform/text.ts";
import type { ExposedTool } from "../../mcp/exposure.ts";
import { plainSchema } from "../../mcp/signature.ts";
import { toolLine } from "../../mcp/find.ts";
import { functionName } from "../../config/mcp_names.ts";
import type { McpOffer, MeantTool } from "../../mcp/offer.ts";
import { isRecord, parseJson } from "../../platform/record.ts";
import { success } from "../result.ts";
import { MCP_CALL, MCP_FIND, type Tool } from "../tool.ts";
import { callServer } from "./call.ts";
import callPrompt from "./call_prompt.md" with { type: "text" };
import findPrompt from "./find_prompt.md" with { type: "text" };

interface McpCallInput {
  /** `server.tool`, as McpFind names it. */
  tool: string;
  args: Record<string, unknown>;
}

/** Names of servers in the description of McpFind: a model looks for what it knows there is. */
const MOST_NAMES = 12;
/** Characters of the arguments that a person is shown in one line. */
const SHOWN = 300;

/** Returns the tools of the servers of a session: what is a function of its own first, in the order of the servers. */
export function mcpTools(offer: McpOffer): Tool[] {
  const direct = offer.exposed.tools.filter(({ exposure }) => exposure === "direct").map((one) =>
    directTool(offer, one)
  );
  return offer.hasSearch ? [...direct, mcpFindTool(offer), mcpCallTool(offer)] : direct;
}

function mcpFindTool(offer: McpOffer): Tool<{ query: string }> {
  const names = offer.serverNames;
  const servers = [...names.slice(0, MOST_NAMES), ...names.length > MOST_NAMES ? ["…"] : []].join(", ");
  return {
    name: MCP_FIND,
    description: `${findPrompt.trim()} Servers: ${servers}.`,
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    kind: "note",
    subject: ({ query }) => query,
    run: ({ query }, context) => {
      const text = offer.find(query);
      return Promise.resolve(success(text, context, { label: offer.labelOf(text) }));
    },
  };
}

function mcpCallTool(offer: McpOffer): Tool<McpCallInput> {
  const meant = ({ tool }: McpCallInput): MeantTool => {
    const found = offer.meant(tool);
    if ("problem" in found) throw new Error("a call that was not checked");
    return found;
  };
  return {
    name: MCP_CALL,
    description: callPrompt.trim(),
    parameters: {
      type: "object",
      properties: { tool: { type: "string", description: "server.tool" }, args: { type: "object" } },
      required: ["tool", "args"],
    },
    kind: "execute",
    check: (input) => checkCallInput(offer, input),
    ruleName: (input) => functionName(meant(input).server, meant(input).tool.name),
    subject: ({ tool, args }) => `${tool} ${shown(args)}`,
    forbidden: (input) => offer.hub.forbidden(meant(input).server, { arguments: input.args }),
    run: (input, context) => callServer(offer, { ...meant(input), args: input.args }, context),
  };
}

/** Small models put the arguments beside the name, or the name where the arguments are. */
function checkCallInput(offer: McpOffer, input: Record<string, unknown>): ReturnType<NonNullable<Tool["check"]>> {
  const { tool: named, name, args, arguments: other, ...rest } = input;
  const wanted = typeof named === "string" ? named : typeof name === "string" ? name : null;
  if (wanted === null) return { problem: 'The argument `tool` is missing. Send {"tool":"server.tool","args":{…}}.' };
  const found = offer.meant(wanted);
  if ("problem" in found) return found;
  const given = args ?? other;
  const parsed = typeof given === "string" ? parseJson(given.trim() || "{}") : given ?? rest;
  if (!isRecord(parsed)) {
    return { problem: `The argument \`args\` must be an object. Usage: ${toolLine(found.server, found.tool)}` };
  }
  const checked = offer.check(found, parsed);
  if ("problem" in checked) return checked;
  return { value: { tool: `${found.server}.${found.tool.name}`, args: checked.value } };
}

function directTool(offer: McpOffer, { server, tool }: ExposedTool): Tool<Record<string, unknown>> {
  const meant: MeantTool = { server, tool, isResource: false };
  return {
    name: functionName(server, tool.name),
    description: tool.description,
    parameters: plainSchema(tool.schema, tool.schema),
    kind: "execute",
    check: (input) => offer.check(meant, input),
    subject: shown,
    forbidden: (args) => offer.hub.forbidden(server, { arguments: args }),
    run: (args, context) => callServer(offer, { ...meant, args }, context),
  };
}

function shown(args: Record<string, unknown>): string {
  return shortened(JSON.stringify(args), SHOWN);
}
