/** How a surface watches a turn, and answers for it. */
import type { AskPermission, TurnHooks } from "../agent/turn_options.ts";
import type { TurnListener } from "../protocol/turn_event.ts";

export interface TurnSurface {
  signal: AbortSignal;
  onEvent: TurnListener;
  /** Asked where no rule decides about a call; null: nobody is there. */
  ask: AskPermission;
  /** Made once the session is open; null for none. */
  hooks?(): PromptHooks | null;
}

/** Hooks of a turn that are also asked about its prompt. */
export interface PromptHooks extends TurnHooks {
  /** Asked before the prompt is part of the session; null stands for one that may not leave it. */
  submit(text: string | null, signal: AbortSignal): Promise<{ blocked: string | null; context: string }>;
}
