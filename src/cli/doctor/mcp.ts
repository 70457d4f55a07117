/** Checks the MCP servers of the directory by what is known of them; starts none. */
import { exposeTools } from "../../mcp/exposure.ts";
import { grouped } from "../../platform/number.ts";
import { openProjectServers } from "../../runtime/mcp_servers.ts";
import type { Context } from "../command.ts";
import { hostOf } from "../output.ts";
import type { Check } from "./checks.ts";

/** Tokens of the window that is assumed: the smallest in which the direct tools of all sessions have the same room. */
const WINDOW = 10_000;
/** Tools that are named as the ones to drop. */
const MOST_NAMED = 5;

/** Returns one check; none where no server is configured. */
export async function checkServers(context: Context): Promise<Check[]> {
  const { hub, problems, close } = await openProjectServers(hostOf(context));
  try {
    await hub.load({ isQuiet: true });
    const states = hub.states.filter(({ server }) => server.enabled);
    if (states.length === 0 && problems.length === 0) return [];
    const known = states.flatMap(({ server, manifest }) => manifest === null ? [] : [{ server, manifest }]);
    const { tools, over, budget } = exposeTools(known, WINDOW);
    const direct = tools.filter(({ exposure }) => exposure === "direct");
    const tokens = direct.reduce((sum, one) => sum + one.tokens, 0);
    const names = states.map(({ server, problem, manifest }) =>
      `${server.name} (${problem ?? (manifest === null ? "not started yet" : `${manifest.tools.length} tools`)})`
    );
    const cost = direct.length === 0 ? "found by McpFind" : `${direct.length} direct with ${grouped(tokens)} tokens`;
    const message = [`${names.join(", ")}; ${cost}`, ...problems].join("; ");
    const facts = {
      servers: states.map(({ server, problem }) => ({ name: server.name, problem })),
      direct_tokens: tokens,
    };
    const unapproved = states.find(({ problem }) => problem !== null);
    if (over.length > 0) {
      const dropped = over.slice(0, MOST_NAMED).map((one) => `${one.server}.${one.tool.name} ${grouped(one.tokens)}`);
      const hint = `direct tools have ${budget} tokens: take direct from ${dropped.join(", ")}`;
      return [{ id: "mcp", state: "warn", message, hint, facts }];
    }
    if (unapproved !== undefined) {
      return [{ id: "mcp", state: "warn", message, hint: `agentcli mcp approve ${unapproved.server.name}`, facts }];
    }
    if (problems.length > 0) return [{ id: "mcp", state: "warn", message, hint: "agentcli mcp list", facts }];
    return [{ id: "mcp", state: "ok", message, facts }];
  } finally {
    await close();
  }
}
