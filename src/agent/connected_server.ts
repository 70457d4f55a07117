/** The server of a session as it is really reached: asked through the door, what it teaches kept in the home. */
import type { Home } from "../platform/home.ts";
import type { Clock } from "../platform/io.ts";
import type { HttpDoor } from "../provider/http.ts";
import { type ModelKnowledge, rememberModel } from "../provider/known_models.ts";
import type { TemplateNeeds } from "../provider/template_needs.ts";
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
  /** Called with work that shall be over before the process ends. */
  later(work: Promise<unknown>): void;
}

/** A server that can be asked. */
export function connectServer(parts: ServerParts): SessionServer {
  const { door, endpoint, model, home, clock, known } = parts;
  let compactModel: Promise<SideModel | null> | null = null;
  let sight: Promise<boolean | null> | null = null;
  let needs: Promise<TemplateNeeds | null> | null = null;
  // That a server tells no window is known of one that was asked.
  let onceLoaded: Promise<number | null> | null = known.window === undefined ? null : Promise.resolve(null);
  let server = known.server;
  const keep = (facts: ModelKnowledge) =>
    rememberModel(home, { baseUrl: endpoint.baseUrl, model }, { facts, now: clock.now() });
  const search = async (more: { loaded?: boolean } = {}): Promise<FoundServer> => {
    // Off the way to the first request: most sessions never ask.
    const { findServerWindow } = await import("./window.ts");
    const found = await findServerWindow(door, endpoint, { model, signal: new AbortController().signal, ...more });
    server = found.server;
    return found;
  };
  const searchLoaded = async () => {
    const { settled, ...facts } = await search({ loaded: true });
    if (settled) await keep(facts);
    return facts.window;
  };
  const look = async () => {
    const { findSight } = await import("../provider/sight.ts");
    return await findSight(door, endpoint, { model, signal: new AbortController().signal });
  };
  const lookAtTemplate = async () => {
    const { findTemplateNeeds } = await import("../provider/template_needs.ts");
    const found = await findTemplateNeeds(door, endpoint, { model, signal: new AbortController().signal });
    const template = found === "native" ? undefined : found;
    if (template !== null && template !== known.template) parts.later(keep({ template }));
    return found;
  };
  return {
    recognise: async () => server === undefined ? (await search()).server : server,
    findWindow: async () => (await search()).window,
    windowOnceLoaded() {
      if (onceLoaded === null) parts.later(onceLoaded = searchLoaded());
      return onceLoaded;
    },
    seesImages: () => sight ??= look().catch(() => null),
    templateNeeds: () => needs ??= lookAtTemplate().catch(() => null),
    async remember(facts: LearntFacts) {
      const { window, ...others } = facts;
      await keep({ ...others, ...(window === undefined ? {} : { window: window ?? undefined }) });
    },
    compactModel: () => compactModel ??= parts.findCompactModel().catch(() => null),
  };
}
