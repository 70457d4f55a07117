/** An MCP server as its documentation gives it: one object of JSON. */
import * as z from "../../config/zod.ts";
import { dataOf, JsonProblem, parseJsonTree } from "../../editor/resources/json_tree.ts";
import type { McpServer } from "../../editor/resources/make_artifact.ts";
import { AgentcliError } from "../../errors.ts";

/** Reads the object. Throws `usage` for what is none; the message holds nothing of it. */
export function parseServer(text: string): McpServer {
  const texts = z.record(z.string(), z.string());
  const more = { disabled: z.boolean().optional(), disabledTools: z.array(z.string()).optional() };
  const schema = z.union([
    z.strictObject({ command: z.string(), args: z.array(z.string()).default([]), env: texts.default({}), ...more }),
    z.strictObject({ serverUrl: z.string(), headers: texts.default({}), ...more }),
  ]);
  try {
    const parsed = schema.safeParse(dataOf(parseJsonTree(text)));
    if (parsed.success) return parsed.data as McpServer;
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new AgentcliError("usage", `the server is no JSON: ${error.message}`);
  }
  throw new AgentcliError("usage", "a server is an object with command, args, env, or with serverUrl, headers", {
    hint: "further fields: disabled, disabledTools",
  });
}
