/** Where a turn is told to: one shape for text, JSON and stream-json. */
import type { TurnEvent, TurnResult } from "../../protocol/turn_event.ts";

/** Takes the events of a turn in order, then its result. */
export interface TurnOutput {
  event(event: TurnEvent): void | Promise<void>;
  result(result: TurnResult): Promise<void>;
}
