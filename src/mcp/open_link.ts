/** Opens the connection to a server, by program or by address. */
import type { Io } from "../platform/io.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { openHttp } from "./http.ts";
import type { Link, LinkHandlers } from "./link.ts";
import { programOf, type ProgramOptions } from "./program.ts";
import { type McpServer, resolveServer } from "./server.ts";
import { openStdio } from "./stdio.ts";

/** The options of a connection. */
export interface LinkOptions extends Omit<ProgramOptions, "server" | "resolved" | "io"> {
  client: HttpClient;
  io: ProgramOptions["io"] & Pick<Io, "clock">;
  /** Gets what a program writes to its standard error. */
  log(bytes: Uint8Array): void;
}

/** Returns what opens the connection, once there is who answers the server. Throws `config_invalid` and `key_missing`. */
export async function openLink(server: McpServer, options: LinkOptions): Promise<(handlers: LinkHandlers) => Link> {
  const { log, notify, scope, io, client } = options;
  const resolved = resolveServer(server, { env: io.env, secret: scope.secretVariables });
  if (resolved.url !== undefined) return await openHttp(server, resolved, { client, io });
  const run = programOf({ ...options, server, resolved });
  const junk = () => void notify(`the MCP server ${server.name} prints what is no message; those lines are skipped`);
  return (handlers) => openStdio(run, { handlers: { ...handlers, junk }, log });
}
