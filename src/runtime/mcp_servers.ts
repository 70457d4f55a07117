/**
 * The MCP servers of a session, from their configuration to the tools that its model gets. Loaded where there are any.
 */
import { ContentScanner } from "../agent/content_scanner.ts";
import type { Label } from "../boundary/policy/label.ts";
import type { SessionSandbox } from "../boundary/sandbox/sandbox.ts";
import { openWorkspace } from "../boundary/workspace/disk.ts";
import { keyVariables } from "../config/endpoint.ts";
import { configuredServers } from "../mcp/configured.ts";
import { McpHub } from "../mcp/hub.ts";
import { McpOffer } from "../mcp/offer.ts";
import type { McpServer } from "../mcp/server.ts";
import { HttpClient } from "../provider/http/client.ts";
import { mcpTools } from "../tools/mcp/tool.ts";
import { isOfServer } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import type { Host } from "./host.ts";
import type { SessionOptions } from "./session_options.ts";
import { type OpenedParts, sandboxOf } from "./make_session.ts";
import { protectedProjects } from "../boundary/policy/project.ts";
import { findProjectContext } from "./project_context.ts";
import { splitRules } from "./tools_and_rules.ts";

/** The parts of a session that its servers are used in. */
interface HubParts extends Pick<OpenedParts, "host" | "project" | "workspace"> {
  client: HttpClient;
  sandbox: SessionSandbox;
  scanner: ContentScanner;
  provider: string;
  /** The highest label of what the session holds, once there is one. */
  label(): Label;
}

export interface SessionServers {
  offer: McpOffer;
  tools: Tool[];
}

/**
 * Makes the servers of a session ready: those of providers.yaml, the approved ones of the project's `.mcp.json`, and
 * `options.mcpServers`, which are those that a command line (`--mcp-config`) or a client (ACP's `mcpServers`) brings:
 * `withOrigin(readServers(json).servers, "client")`. Afterwards only those run whose tools were not known.
 */
export async function openServers(
  options: Pick<SessionOptions, "mcpServers" | "tools" | "disallowedTools">,
  parts: HubParts & Pick<OpenedParts, "opened"> & { window: number },
): Promise<SessionServers> {
  const { host, project: { projectRoot, configuration } } = parts;
  const { servers, problems } = configuredServers(configuration, {
    root: projectRoot,
    given: options.mcpServers ?? [],
  });
  for (const problem of problems) await host.notice(problem);
  const hub = hubOf(servers, parts);
  parts.opened.defer(() => hub.close());
  await hub.prepare(new AbortController().signal);
  const offer = new McpOffer(hub, parts.window);
  for (const { server, tool, tokens } of offer.exposed.over) {
    await host.notice(
      `${server}.${tool.name} takes ${tokens} tokens and does not fit among the direct tools ` +
        `(${offer.exposed.budget} tokens): it is found by McpFind`,
    );
  }
  return { offer, tools: namedTools(mcpTools(offer), options) };
}

/** The servers, connected to the session that they are used in. */
function hubOf(servers: readonly McpServer[], parts: HubParts): McpHub {
  const { host, project, client, workspace, sandbox, scanner, provider, label } = parts;
  const { home, projectRoot, configuration } = project;
  return new McpHub({
    servers,
    home,
    io: host.io,
    client,
    info: { name: "agentcli", version: host.version },
    root: projectRoot,
    elicit: host.elicit,
    notify: host.notice,
    scope: () => ({
      workspace,
      sandbox,
      label,
      provider,
      secretVariables: keyVariables([...configuration.providers, ...configuration.mcpServers ?? []]),
      found: async (texts, options) => await scanner.holds([...texts], options),
      protectChanges: (...changes) => scanner.protectChanges(...changes),
    }),
  });
}

/** Opens the servers of a directory under the same rules as in a session; none is started. */
export async function openProjectServers(host: Host) {
  const project = await findProjectContext(host);
  const { home, user, projectRoot: root, configuration, localEndpoints, records } = project;
  const { io } = host;
  const workspace = await openWorkspace({
    ...{ root, additional: [], cwd: root, home: home.path, user, localEndpoints, records },
    provider: { local: true, name: "agentcli" },
  });
  const projects = protectedProjects(home);
  const sandbox = sandboxOf(project, workspace, { io, projects });
  const client = new HttpClient(io);
  const { servers, problems } = configuredServers(configuration, { root, given: [] });
  const scanner = new ContentScanner(workspace, { notify: host.notice });
  const label = () => "open" as const;
  const hub = hubOf(servers, { host, project, client, workspace, sandbox, scanner, provider: "agentcli", label });
  const close = async () => {
    await hub.close();
    client.close();
  };
  return { hub, problems, root, home, close };
}

/** The tools that the options leave: with names given, those that are named. */
function namedTools(
  all: readonly Tool[],
  { tools, disallowedTools }: Pick<SessionOptions, "tools" | "disallowedTools">,
): Tool[] {
  const named = splitRules(tools).filter((name) => name !== "none").map((name) => name.toLowerCase());
  const without = splitRules(disallowedTools).filter(isOfServer).map((name) => name.toLowerCase());
  return all.filter(({ name }) =>
    (tools.length === 0 || named.includes(name.toLowerCase())) && !without.includes(name.toLowerCase())
  );
}
