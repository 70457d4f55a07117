/** The server of a session: what it can be asked besides responses, and where the answers are cached. */
import type { ModelFacts } from "../provider/backends/backend.ts";
import type { RequestProfile } from "../provider/profiles/profile.ts";
import type { Home } from "../platform/home.ts";
import type { Clock } from "../platform/io.ts";
import { once } from "../platform/sleep.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { type ModelMetadata, storeModelMetadata, type TemplateNeeds } from "../provider/backends/model_metadata.ts";
import type { Chat, Endpoint } from "../provider/types.ts";
import type { FoundServer } from "./context/window.ts";

/** A model for side requests, with its limits. */
export interface SideModel {
  chat: Chat;
  provider: string;
  local: boolean;
  id: string;
  contextWindow: number;
  /** Most tokens of a response, where the configuration says so. */
  maxTokens: number | undefined;
  params: Record<string, unknown> | undefined;
}

/** The server of a session. Its functions do not throw; null means unknown. */
export interface SessionServer {
  /** The id of its backend. */
  recognize(): Promise<string | null>;
  /** The window in force now, in tokens. */
  findWindow(): Promise<number | null>;
  /**
   * The window that the server reports once the model has answered; asked once, unless the server is known to report
   * none.
   */
  windowOnceLoaded(): Promise<number | null>;
  /** Whether the session's model supports image input; asked once. */
  supportsImages(): Promise<boolean | null>;
  /**
   * How calls have to be sent, by the chat template that the server reports; null where it reports none. Asked once.
   */
  templateNeeds(): Promise<TemplateNeeds | null>;
  /** The profile with what {@link templateNeeds} found out as well; null where that is nothing new. */
  learnedProfile(): Promise<RequestProfile | null>;
  /** Caches metadata for later sessions; a key with undefined removes a part. */
  remember(facts: ModelMetadata): Promise<void>;
  /** The model of role `compact`; null when the session's own does that work. */
  compactModel(): Promise<SideModel | null>;
}

/** A server that reports nothing. */
export const UNKNOWN_SERVER: SessionServer = {
  recognize: () => Promise.resolve(null),
  findWindow: () => Promise.resolve(null),
  windowOnceLoaded: () => Promise.resolve(null),
  supportsImages: () => Promise.resolve(null),
  templateNeeds: () => Promise.resolve(null),
  learnedProfile: () => Promise.resolve(null),
  remember: () => Promise.resolve(),
  compactModel: () => Promise.resolve(null),
};

interface ServerParts {
  client: HttpClient;
  endpoint: Endpoint;
  model: string;
  /** Where what the server says is kept for other sessions; null for a session of which nothing is stored. */
  home: Home | null;
  clock: Clock;
  known: ModelMetadata;
  /** Makes the profile again with what the server reported. */
  profileWith(facts: ModelFacts): Promise<RequestProfile>;
  findCompactModel(): Promise<SideModel | null>;
  /** Called with work that has to be done before the process ends. */
  later(work: Promise<unknown>): void;
}

/** Connects the server of a session. */
export function connectServer(parts: ServerParts): SessionServer {
  const { client, endpoint, model, home, clock, known } = parts;
  const question = { model, signal: new AbortController().signal };
  let server = known.server;
  const asked = <T>(work: () => Promise<T>) => once(() => work().catch(() => null));
  const keep = async (facts: ModelMetadata) => {
    if (home === null) return;
    await storeModelMetadata(home, { baseUrl: endpoint.baseUrl, model }, { facts, now: clock.now() });
  };
  const search = async (more: { loaded?: boolean } = {}): Promise<FoundServer> => {
    // Not needed for the first request, and never in most sessions.
    const { findServerWindow } = await import("./context/window.ts");
    const found = await findServerWindow(client, endpoint, { ...question, ...more });
    server = found.server;
    return found;
  };
  const findLoaded = async () => {
    const { settled, ...facts } = await search({ loaded: true });
    if (settled) await keep(facts);
    return facts.window;
  };
  const template = asked(async () => {
    const { findTemplate } = await import("../provider/backends/inquiry.ts");
    const found = await findTemplate(client, endpoint, question);
    const shape = found.needs === "native" ? undefined : found.needs;
    if (shape !== null && shape !== known.template) parts.later(keep({ template: shape }));
    return found;
  });
  return {
    recognize: async () => server === undefined ? (await search()).server : server,
    findWindow: async () => (await search()).window,
    windowOnceLoaded: once(() => {
      // With cached metadata of the window, the server was asked already.
      const window = known.window === undefined ? findLoaded() : Promise.resolve(null);
      parts.later(window);
      return window;
    }),
    supportsImages: asked(async () => {
      const { findVision } = await import("../provider/backends/inquiry.ts");
      return await findVision(client, endpoint, question);
    }),
    templateNeeds: async () => (await template())?.needs ?? null,
    async learnedProfile() {
      const facts = (await template())?.facts ?? null;
      // What was known before the session is in its profile.
      return facts === null || known.facts !== undefined ? null : await parts.profileWith(facts);
    },
    remember: keep,
    compactModel: asked(() => parts.findCompactModel()),
  };
}
