/** Which provider a session would use, and where its key comes from; never the key. */
import { isLocalProvider, resolveEndpoint } from "../config/endpoint.ts";
import { usualSelection } from "../config/select.ts";
import { asAgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";
import { clean } from "../terminal/clean.ts";
import type { Invocation } from "./command.ts";
import { configured } from "./result.ts";

/** Runs the command: exit 0 when a session can be started, else 1. Asks no server. */
export async function run({ context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const status = await statusOf(io);
  const line = status.loggedIn
    ? `${status.apiProvider}:${status.model} (${status.local ? "local" : "remote"}), key: ${status.authMethod}`
    : `no session can start: ${status.error}`;
  await io.stdout.write((globals.json ? JSON.stringify(status) : clean(line)) + "\n");
  return status.loggedIn ? 0 : 1;
}

/** There are no accounts: `loggedIn` says that a session can be started, `error` why none can. */
async function statusOf(io: Io) {
  try {
    const { configuration } = await configured({ io });
    const { provider, model } = await usualSelection(configuration, io);
    const local = isLocalProvider(provider, io);
    const endpoint = await resolveEndpoint(provider, { env: io.env, local, stores: io });
    return {
      loggedIn: true,
      authMethod: endpoint.keySource,
      apiProvider: provider.name,
      model: model.id,
      local,
      error: null,
    };
  } catch (error) {
    const { message } = asAgentcliError(error);
    return { loggedIn: false, authMethod: "none", apiProvider: null, model: null, local: null, error: message };
  }
}
