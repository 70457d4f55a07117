/** The server of a session as it is really reached: asked through the door, what it teaches kept in the home. */
import type { Home } from "../platform/home.ts";
import type { Clock } from "../platform/io.ts";
import type { HttpDoor } from "../provider/http.ts";
import { type LearntToolCalls, type ModelKnowledge, rememberModel } from "../provider/known_models.ts";
import type { Endpoint } from "../provider/types.ts";
import type { LearntFacts, SessionServer, SideModel } from "./server.ts";
import type { FoundServer } from "./window.ts";

/** What it is made from. */
export interface ServerParts {
  door: HttpDoor;
  endpoint: Endpoint;
  model: string;
  home: Home;
  clock: Clock;
  /** What is known already. */
  known: ModelKnowledge;
  /** Finds the model of role `compact`; called once, when it is needed. */
  findCompactModel(): Promise<SideModel | null>;
}

/** A server that can be asked. */
export function connectServer(parts: ServerParts): SessionServer {
  const { door, endpoint, model, home, clock, known } = parts;
  let compactModel: Promise<SideModel | null> | null = null;
  let sight: Promise<boolean | null> | null = null;
  let needs: Promise<LearntToolCalls | null> | null = null;
  let server = known.server;
  const search = async (): Promise<FoundServer> => {
    // Off the way to the first request: most sessions never ask.
    const { findServerWindow } = await import("./window.ts");
    const found = await findServerWindow(door, endpoint, { model, signal: new AbortController().signal });
    server = found.server;
    return found;
  };
  const look = async () => {
    const { findSight } = await import("../provider/sight.ts");
    return await findSight(door, endpoint, { model, signal: new AbortController().signal });
  };
  const lookAtTemplate = async () => {
    const { findTemplateNeeds } = await import("../provider/template_needs.ts");
    return await findTemplateNeeds(door, endpoint, { model, signal: new AbortController().signal });
  };
  return {
    recognise: async () => server === undefined ? (await search()).server : server,
    findWindow: async () => (await search()).window,
    seesImages: () => sight ??= look().catch(() => null),
    templateNeeds: () => needs ??= lookAtTemplate().catch(() => null),
    async remember(facts: LearntFacts) {
      const { window, toolCalls } = facts;
      await rememberModel(home, { baseUrl: endpoint.baseUrl, model }, {
        facts: {
          ...(window === undefined ? {} : { window: window ?? undefined }),
          ...(toolCalls === undefined ? {} : { toolCalls }),
        },
        now: clock.now(),
      });
    },
    compactModel: () => compactModel ??= parts.findCompactModel().catch(() => null),
  };
}
