/** The models of roles: of searches (`subagent`) and of summaries (`compact`). Loaded with the first. */
import { admitted } from "../agent/admission.ts";
import { assumedWindow } from "../agent/context/tokens.ts";
import { type SideModel, UNKNOWN_SERVER } from "../agent/server.ts";
import type { Explorer } from "../agent/explore.ts";
import type { Session } from "../agent/session.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { selectForRole } from "../config/select.ts";
import { chat, chatWithinLimit } from "../provider/chat/chat.ts";
import { createChatCache } from "../provider/chat/request_body.ts";
import type { ModelLocality } from "../provider/backends/backend.ts";
import type { Chat } from "../provider/types.ts";
import type { OpenedParts } from "./make_session.ts";
import { findModelMetadata, locatedModel, profileOf, sessionModel, toolProtocolOf } from "./model.ts";

/** Returns the model of role `compact`, ready to be asked; null when the session's own model does the work. */
export async function findCompactModel(session: Session, parts: OpenedParts): Promise<SideModel | null> {
  const found = await findModel("compact", parts);
  if (found === null) return null;
  const { endpoint, entry, place } = found.model;
  const local = place.kind === "here";
  const findWindow = async () => {
    const { findServerWindow } = await import("../agent/context/window.ts");
    const search = { model: entry.id, signal: new AbortController().signal };
    return (await findServerWindow(parts.models.client, endpoint, search)).window;
  };
  return {
    chat: admitted(found.chat, found.target, () => session),
    provider: endpoint.provider,
    local,
    id: entry.id,
    contextWindow: entry.contextWindow ?? await findWindow() ?? assumedWindow({ local }),
    maxTokens: entry.maxTokens,
    params: entry.params,
  };
}

/** Finds the model that is configured for a role, and connects it; null for the session's own. */
async function findModel(
  role: "compact" | "subagent",
  { host, project, models, chosen, workspace }: OpenedParts,
) {
  const { client, servedModels, localities } = models;
  const found = await selectForRole(project.configuration, role, { session: chosen.provider, servedModels });
  if (found === null) return null;
  const { provider, model: entry } = found;
  const endpoint = await models.endpointOf(provider);
  const cache = createChatCache();
  const located = locatedModel({ provider, entry, endpoint });
  const place: ModelLocality = workspace.countsAsLocal(endpoint.baseUrl)
    ? await models.placeOf(located)
    : { kind: "remote", reason: "no address of it counts as local in this session" };
  const cached: Chat = (request, options) =>
    chat(client, { endpoint, request }, { ...options, cache, clock: host.io.clock });
  return {
    model: { provider, entry, endpoint, place, demo: null, notices: [] },
    target: { located, localities, isLocal: place.kind === "here" },
    chat: cached,
  };
}

/** How another session asks the session's own model, and how what it sends is scanned. */
interface OwnWays {
  ownChat(asker: () => Session): Chat;
  scan(workspace: Workspace, before: Session["scanner"]): Session["scanner"];
}

/**
 * Finds the model of searches: that of role `subagent`, otherwise the session's own. A remote model sees what a remote
 * session would, even if the session is local; a local one sees no more than the session does. With `ownOnly`, returns
 * null unless the session's own model is used and counts as local. Throws what {@link selectForRole} and the key of the
 * provider throw.
 */
export async function findExplorer(
  session: Session,
  parts: OpenedParts,
  { ownOnly, ownChat, scan }: OwnWays & { ownOnly: boolean },
): Promise<Explorer | null> {
  const { host, project, models: { client }, chosen, later } = parts;
  const { workspace, scanner, server, model, context, profile: own } = session;
  const hasRole = project.configuration.roles.subagent !== undefined ||
    chosen.provider.models.some(({ role }) => role === "subagent");
  if (ownOnly && (hasRole || !model.local || !workspace.local)) return null;
  const found = chosen.demo !== null ? null : await findModel("subagent", parts);
  if (found === null) {
    const { toolProtocol } = context;
    // A copy, so that a guessed window of one does not count for the other.
    const profile = { ...own, fields: { ...own.fields, ...own.sideFields } };
    return { model: { ...model }, server, profile, toolProtocol, workspace, scanner, chat: ownChat };
  }
  const { entry, endpoint } = found.model;
  const known = await findModelMetadata({ host, home: project.home, client, endpoint, entry, later });
  const side = sessionModel(found.model, { known, options: {} });
  const profile = await profileOf(found.model, { model: side, server: known.server, facts: known.facts ?? {} });
  const isBeside = workspace.local && !side.local;
  side.local &&= workspace.local;
  const seen = isBeside ? await parts.openWorkspace(found.model) : workspace;
  const limited: Chat = (request, options) => chatWithinLimit(found.chat, { request, profile }, options);
  return {
    model: side,
    server: UNKNOWN_SERVER,
    profile,
    toolProtocol: toolProtocolOf({ entry }, { known, before: null }),
    workspace: seen,
    scanner: seen === workspace ? scanner : scan(seen, scanner),
    chat: (asker) => admitted(limited, found.target, asker),
  };
}
