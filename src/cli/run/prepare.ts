/** From options to a session that can run: model chosen, server addressed, project opened, tools and rules selected. */
import { type AskModel, requestOf } from "../../agent/turn.ts";
import { ASSUMED_WINDOW, replyLimit } from "../../agent/limits.ts";
import { createSession, type Session, type SessionModel } from "../../agent/session.ts";
import { buildSystemPrompt } from "../../agent/system_prompt.ts";
import { findMarkers, type MarkerState } from "../../boundary/marker.ts";
import { isLocal } from "../../boundary/locality.ts";
import { findProjectRoot } from "../../boundary/project.ts";
import { openWorkspace } from "../../boundary/workspace_disk.ts";
import { effectiveBaseUrl, resolveEndpoint } from "../../config/endpoint.ts";
import { loadConfiguration } from "../../config/load.ts";
import { selectModel } from "../../config/select.ts";
import type { Configuration, ProviderEntry, Selection } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { resolve } from "../../platform/path.ts";
import { chat } from "../../provider/chat.ts";
import { type HttpDoor, openDoor } from "../../provider/http.ts";
import { listModels } from "../../provider/models.ts";
import type { Endpoint } from "../../provider/types.ts";
import { parseRules } from "../../tools/permission.ts";
import { builtinTools, selectTools } from "../../tools/registry.ts";
import type { Values } from "../option.ts";
import type { Context } from "../verb.ts";
import { splitRules } from "./rules.ts";
import type { RUN_OPTIONS } from "./verb.ts";

/** A session ready for its first turn. */
export interface Prepared {
  session: Session;
  model: AskModel;
  /** For stderr. */
  notices: string[];
  /** Ends what was opened for the session: connections, the demo server. */
  close(): Promise<void>;
}

/** How long the server's list of models is waited for when a model is not configured, in milliseconds. */
const LIST_TIMEOUT_MS = 5000;

/** Prepares a session. Throws configuration, usage and policy errors; leaves nothing open then. */
export async function prepare(options: Values<typeof RUN_OPTIONS>, context: Context): Promise<Prepared> {
  const { io, globals } = context;
  const home = await openHome(io);
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const [configuration, project] = await Promise.all([
    loadConfiguration(home),
    findProjectRoot(globals.cwd, userHome).then(async (root) => ({ root, markers: await findMarkers(root) })),
  ]);
  const door = openDoor(io);
  const opened: (() => Promise<void>)[] = [() => Promise.resolve(door.close())];
  const close = async () => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    const chosen = await choose(options, context, { configuration, door, markers: project.markers });
    if (chosen.selection.provider.name === "demo") {
      const { startDemo } = await import("../../demo/server.ts");
      const demo = await startDemo();
      opened.push(() => demo.close());
      chosen.selection.provider.baseUrl = demo.baseUrl;
    }
    const { provider, model: entry } = chosen.selection;
    const endpoint = await endpointOf(provider, context, project.markers);
    const workspace = await openWorkspace({
      root: project.root,
      additional: options.addDir.map((directory) => resolve(globals.cwd, directory)),
      cwd: globals.cwd,
      home: home.path,
      userHome,
      markers: project.markers,
      provider: { local: endpoint.local, name: provider.name },
    });
    const window = entry.contextWindow ?? ASSUMED_WINDOW;
    const model: SessionModel = {
      provider: provider.name,
      local: endpoint.local,
      keySource: endpoint.keySource,
      entry,
      contextWindow: window,
      windowSource: entry.contextWindow === undefined ? "assumed" : "configured",
      maxTokens: replyLimit(window, entry, options.maxTokens),
      askedMaxTokens: options.maxTokens,
      temperature: options.temperature,
    };
    const session = createSession({
      id: options.sessionId ?? crypto.randomUUID(),
      system: await buildSystemPrompt(workspace, {
        replace: options.systemPrompt,
        append: options.appendSystemPrompt,
        os: io.os,
      }),
      workspace,
      tools: offeredTools(options),
      model,
      policy: policyOf(options, configuration),
      secretVariables: secretVariables(configuration),
    });
    const ask: AskModel = (request, asked) => chat(door, { endpoint, request }, { ...asked, clock: io.clock });
    const notices = [...configuration.warnings, ...project.markers.warnings, ...chosen.notices];
    if (globals.verbose) notices.push(breakdown(session));
    return { session, model: ask, notices, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function choose(
  options: Values<typeof RUN_OPTIONS>,
  { io }: Context,
  found: { configuration: Configuration; door: HttpDoor; markers: MarkerState },
): Promise<{ selection: Selection; notices: string[] }> {
  const served = async (provider: ProviderEntry) => {
    try {
      const endpoint = await endpointOf(provider, { io }, found.markers);
      const list = await listModels(found.door, endpoint, { timeoutMs: LIST_TIMEOUT_MS });
      return list.models.map((model) => model.id);
    } catch {
      // Whatever is wrong with the server, the turn itself says it better than its list would.
      return null;
    }
  };
  const environment = io.env("AGENTCLI_MODEL");
  const { selection, warning } = await selectModel(found.configuration, {
    ...(options.model === undefined ? {} : { option: options.model }),
    ...(environment === undefined || environment === "" ? {} : { environment }),
  }, served);
  const notices = warning === undefined ? [] : [warning];
  return { selection: { ...selection, provider: { ...selection.provider } }, notices };
}

async function endpointOf(
  provider: ProviderEntry,
  { io }: Pick<Context, "io">,
  markers: MarkerState,
): Promise<Endpoint> {
  const local = isLocal(effectiveBaseUrl(provider, io.env), markers.localEndpoints);
  return await resolveEndpoint(provider, { env: io.env, local });
}

function offeredTools(options: Values<typeof RUN_OPTIONS>) {
  const bare = splitRules(options.disallowedTools).filter((rule) => /^\w+$/.test(rule));
  return selectTools(builtinTools(), {
    ...(options.tools.length === 0 ? {} : { only: splitRules(options.tools).filter((name) => name !== "none") }),
    without: bare,
  });
}

function policyOf(options: Values<typeof RUN_OPTIONS>, configuration: Configuration): Session["policy"] {
  return {
    mode: options.permissionMode ?? "default",
    allow: parseRules([...configuration.permissions.allow, ...splitRules(options.allowedTools)]),
    deny: parseRules([...configuration.permissions.deny, ...splitRules(options.disallowedTools)]),
  };
}

/** Variables that providers take their keys from. */
function secretVariables(configuration: Configuration): string[] {
  return configuration.providers.flatMap((provider) => {
    const name = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(provider.apiKey ?? "")?.[1];
    return name === undefined ? [] : [name];
  });
}

/** What the first request holds before the user's words, by part, in bytes and roughly in tokens. */
function breakdown(session: Session): string {
  const tools = new TextEncoder().encode(JSON.stringify(requestOf(session).tools)).length;
  const parts = [...session.system.parts, { name: `${session.schemas.length} tools`, bytes: tools }];
  const total = parts.reduce((sum, part) => sum + part.bytes, 0);
  const listed = parts.map((part) => `${part.name} ${part.bytes}`).join(", ");
  return `prompt before your words: ${total} bytes, about ${Math.ceil(total / 4)} tokens (${listed})`;
}
