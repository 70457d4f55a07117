/** The model of searches (role `subagent`, else the session's own), and the project as it may see it. Loaded with the first search. */
import { askWithinLimit } from "../provider/chat/reasoning_limit.ts";
import { UNKNOWN_SERVER } from "../agent/server.ts";
import type { Explorer } from "../agent/explore.ts";
import type { Session } from "../agent/session.ts";
import type { AskModel } from "../agent/turn.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { selectForRole } from "../config/select.ts";
import { chat } from "../provider/chat/chat.ts";
import { createChatCache } from "../provider/chat/request_body.ts";
import type { LocatedModel } from "../provider/backends/locality_cache.ts";
import type { OpenedParts } from "./make_session.ts";
import { knowServer, profileOf, sessionModel, toolProtocolOf } from "./model.ts";

/** The parts that a session was made of, and its model client. */
export interface ExplorerParts
  extends Pick<OpenedParts, "host" | "project" | "client" | "reach" | "chosen" | "openWorkspace" | "later"> {
  /** The session's own model, asked by another session. */
  ownModel(asker: () => Session): AskModel;
  /** Asks before each request whether it may go there. */
  withAdmission(ask: AskModel, located: LocatedModel, own: boolean, asker: () => Session): AskModel;
  scan(workspace: Workspace, before: Session["scanner"]): Session["scanner"];
}

/**
 * Finds the model. A remote one sees of the project what a remote session does, also where the session is local; and a
 * local one no more than the session. Throws what {@link selectForRole} and the key of the provider throw.
 */
export async function findExplorer(session: Session, parts: ExplorerParts): Promise<Explorer> {
  const { host, project, client, reach, chosen } = parts;
  const { workspace, scanner, server, model, context, profile: own } = session;
  const found = chosen.demo !== null ? null : await selectForRole(project.configuration, "subagent", {
    session: chosen.provider,
    servedModels: reach.servedModels,
  });
  if (found === null) {
    // A copy: what one of the two guesses of its window is not the other's.
    const profile = { ...own, fields: { ...own.fields, ...own.sideFields } };
    return {
      model: { ...model },
      server,
      profile,
      toolProtocol: context.toolProtocol,
      workspace,
      scanner,
      ask: parts.ownModel,
    };
  }
  const { provider, model: entry } = found;
  const endpoint = await reach.endpointOf(provider);
  const known = await knowServer({ host, home: project.home, client, endpoint, entry, later: parts.later });
  const subagent = { provider, entry, endpoint, demo: null, notices: [] };
  const side = sessionModel(subagent, { known, options: {} });
  const profile = await profileOf(subagent, { model: side, server: known.server, told: known.told ?? {} });
  side.local &&= workspace.local;
  const place = workspace.local && !endpoint.local ? await parts.openWorkspace({ provider, endpoint }) : workspace;
  const located = { endpoint, model: entry.id, trusted: provider.local };
  const cache = createChatCache();
  const once: AskModel = (request, asked) =>
    chat(client, { endpoint, request }, { ...asked, cache, clock: host.io.clock });
  const direct: AskModel = (request, asked) => askWithinLimit(once, { request, profile }, asked);
  return {
    model: side,
    server: UNKNOWN_SERVER,
    profile,
    toolProtocol: toolProtocolOf({ entry }, { known, before: null }),
    workspace: place,
    scanner: place === workspace ? scanner : parts.scan(place, scanner),
    ask: (asker) => parts.withAdmission(direct, located, false, asker),
  };
}
