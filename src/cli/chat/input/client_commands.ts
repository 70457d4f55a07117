/** The commands that clients of a protocol get: workflows and skills of the project, and prompts of MCP servers. */
import { openWorkspace } from "../../../boundary/workspace/disk.ts";
import type { OpenSession } from "../../../runtime/open_session.ts";
import { findProjectContext } from "../../../runtime/project_context.ts";
import type { SessionOptions } from "../../../runtime/session_options.ts";
import { policyOf } from "../../../runtime/tools_and_rules.ts";
import type { Context } from "../../command.ts";
import { briefOf, customCommands } from "./custom_commands.ts";
import { type CommandSource, commandSource, sourceOf } from "./typed_line.ts";

/** A command as a client shows it, without the slash. */
export interface ClientCommand {
  name: string;
  kind: "workflow" | "skill" | "prompt";
  brief: string;
  /** Describes what may be typed after the name. */
  hint: string;
}

/** Returns the commands of an open session. */
export async function sessionCommands(opened: OpenSession): Promise<ClientCommand[]> {
  return [...await ofProject(commandSource(opened)), ...await ofServers(opened)];
}

/** Returns the commands of the project before a session is open; protected ones have no description. */
export async function projectCommands(
  options: Pick<SessionOptions, "addDir" | "permissionMode" | "allowedTools" | "disallowedTools">,
  { io, globals: { cwd } }: Context,
): Promise<ClientCommand[]> {
  const project = await findProjectContext({ io, cwd }, options);
  const { home, user, projectRoot: root, localEndpoints, records } = project;
  const workspace = await openWorkspace({
    ...{ root, additional: [], cwd: root, home: home.path, user, localEndpoints, records },
    provider: { local: false, name: "a client" },
  });
  return await ofProject(sourceOf(workspace, await policyOf(options, project)));
}

async function ofProject(source: CommandSource): Promise<ClientCommand[]> {
  const customs = await customCommands(source);
  return customs.map((command) => ({
    name: command.name,
    kind: command.kind,
    /** Read only where it is shown: each turn of a client names the commands again. */
    get brief() {
      return briefOf(command, source);
    },
    hint: "what it is about",
  }));
}

/**
 * The prompts of MCP servers. Where something is protected, a server's own descriptions are not sent: they may quote
 * it.
 */
async function ofServers({ servers, session: { workspace } }: OpenSession): Promise<ClientCommand[]> {
  if (servers === null || workspace.protection.any) return [];
  const { serverCommands } = await import("../commands/mcp.ts");
  return serverCommands(servers).filter(({ server }) => server.label !== "no-cloud")
    .map(({ name, brief, hint }) => ({ name, kind: "prompt", brief, hint }));
}
