/** What a session may ask of its server besides replies, and where it leaves what it learnt. Passed in; may be nothing. */
import type { TemplateNeeds, ToolCallFallback } from "../provider/backends/template_needs.ts";
import type { AskModel } from "./turn_options.ts";

/** A model for side work, with what limits it. */
export interface SideModel {
  ask: AskModel;
  provider: string;
  local: boolean;
  /** As the server knows it. */
  id: string;
  contextWindow: number;
  /** Most tokens of a reply, where the configuration says so. */
  maxTokens: number | undefined;
  params: Record<string, unknown> | undefined;
}

/** What is worth keeping for the next session. */
export interface NewMetadata {
  /** Tokens; null forgets what was known. */
  window?: number | null;
  /** Tokens, taught by a refusal: counts against a larger window in the configuration too. */
  refusedWindow?: number;
  toolCalls?: ToolCallFallback;
}

/** The server of a session. No function throws; what cannot be found out is null. */
export interface SessionServer {
  /** The id of its backend. */
  recognize(): Promise<string | null>;
  /** The window in force now, in tokens. */
  findWindow(): Promise<number | null>;
  /** The window as it is told once the model has answered; asked once, and not where the server is known to tell none. */
  windowOnceLoaded(): Promise<number | null>;
  /** Whether the session's model sees images; asked once. */
  seesImages(): Promise<boolean | null>;
  /** How calls have to be sent, by what the server tells of its chat template; null where it does not. Asked once. */
  templateNeeds(): Promise<TemplateNeeds | null>;
  remember(facts: NewMetadata): Promise<void>;
  /** The model of role `compact`; null when the session's own does that work. */
  compactModel(): Promise<SideModel | null>;
}

/** A server of which nothing can be learnt. */
export const UNKNOWN_SERVER: SessionServer = {
  recognize: () => Promise.resolve(null),
  findWindow: () => Promise.resolve(null),
  windowOnceLoaded: () => Promise.resolve(null),
  seesImages: () => Promise.resolve(null),
  templateNeeds: () => Promise.resolve(null),
  remember: () => Promise.resolve(),
  compactModel: () => Promise.resolve(null),
};
