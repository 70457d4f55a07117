/**
 * Decides how the tools of the servers are offered to the model, before the session's first request and for all of it.
 */
import { byteLength } from "../platform/text.ts";
import type { Exposure } from "../config/types.ts";
import { plainSchema } from "./signature.ts";
import { functionName } from "../config/mcp_names.ts";
import type { Manifest, McpTool } from "./tool_info.ts";
import type { McpServer } from "./server.ts";

/** Bytes for one token: schemas are words and quotes, like prompts. */
const BYTES_PER_TOKEN = 4;
/** If all tools together fit in this many tokens, each is a function of its own: that is easier for a small model. */
const ALL_DIRECT = 600;
/** Tokens of the tools that are `direct` by name, and their share of the window. */
const DIRECT_TOKENS = 1_000;
const DIRECT_SHARE = 0.1;

export interface ExposedTool {
  server: string;
  tool: McpTool;
  exposure: Exposure;
  /** Of its declaration, were it a function of its own. */
  tokens: number;
}

/** All tools in the order of the servers, and which of the requested functions could not be offered. */
export interface ExposedTools {
  tools: ExposedTool[];
  /** Tools that were to be `direct` and did not fit. */
  over: ExposedTool[];
  /** Tokens that `direct` tools may take. */
  budget: number;
}

function toolTokens(server: string, { name, description, schema }: McpTool): number {
  const declared = { name: functionName(server, name), description, parameters: plainSchema(schema, schema) };
  return Math.ceil(byteLength(JSON.stringify({ type: "function", function: declared })) / BYTES_PER_TOKEN);
}

/** Returns how each tool is offered, for a window in tokens. */
export function exposeTools(
  servers: readonly { server: Pick<McpServer, "name" | "tools">; manifest: Pick<Manifest, "tools"> }[],
  window: number,
): ExposedTools {
  const budget = Math.floor(Math.min(DIRECT_TOKENS, window * DIRECT_SHARE));
  const all = servers.flatMap(({ server, manifest }) =>
    manifest.tools.map((tool) => ({
      server: server.name,
      tool,
      wanted: server.tools[tool.name] ?? server.tools["*"] ?? null,
      tokens: toolTokens(server.name, tool),
    }))
  );
  const offered = all.filter(({ wanted }) => wanted !== "off");
  const fits = offered.reduce((sum, { tokens }) => sum + tokens, 0) <= Math.min(ALL_DIRECT, Math.max(budget, 1));
  const over: ExposedTool[] = [];
  let room = budget;
  const tools = all.map(({ wanted, ...one }): ExposedTool => {
    const exposure = wanted ?? (fits ? "direct" : "search");
    if (exposure !== "direct") return { ...one, exposure };
    if (one.tokens <= room) {
      room -= one.tokens;
      return { ...one, exposure };
    }
    const left: ExposedTool = { ...one, exposure: "search" };
    over.push(left);
    return left;
  });
  return { tools, over, budget };
}
