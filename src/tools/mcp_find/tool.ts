/** McpFind: which tools of the MCP servers do what is wanted, in five lines. */
import type { McpOffer } from "../../mcp/offer.ts";
import { success } from "../result.ts";
import { MCP_FIND, type Tool } from "../tool.ts";
import prompt from "./prompt.md" with { type: "text" };

/** Arguments of a call. */
interface McpFindInput {
  query: string;
}

/** Names of servers in the description: a model looks for what it knows there is. */
const MOST_NAMES = 12;

/** Returns the tool for what a session offers. */
export function mcpFindTool(offer: McpOffer): Tool<McpFindInput> {
  const names = offer.serverNames;
  const servers = [...names.slice(0, MOST_NAMES), ...names.length > MOST_NAMES ? ["…"] : []].join(", ");
  return {
    name: MCP_FIND,
    description: `${prompt.trim()} Servers: ${servers}.`,
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    kind: "note",
    subject: ({ query }) => query,
    run: ({ query }, context) => {
      const text = offer.find(query);
      return Promise.resolve(success(text, context, { label: offer.labelOf(text) }));
    },
  };
}
