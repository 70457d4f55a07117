/** Follows the label of a session through its events: what a model writes after it read protected content may quote it. */
import { type Label, labelOf } from "../boundary/policy/label.ts";
import type { TurnEvent } from "./turn_event.ts";

/** Stands for arguments and words that may quote protected content (specification of the boundary, "Letting out"). */
export const WITHHELD_WORDS = "[no-cloud: this stays with the local model]";

/** Stands for the arguments of such a call. */
export const WITHHELD_INPUT: Readonly<Record<string, unknown>> = { withheld: WITHHELD_WORDS };

/** The label of one session, as far as its events have told. */
export interface LabelTrace {
  /** Takes an event in; ask afterwards. */
  follow(event: TurnEvent): void;
  /** `no-cloud` before the first event: an item without a label counts as protected. */
  readonly label: Label;
  /** A tool's name as it may be shown: one that no tool of the session has is the model's own word. */
  toolName(name: string): string;
}

/** A trace of nothing yet. */
export function traceLabel(): LabelTrace {
  let label: Label = "no-cloud";
  let tools: ReadonlySet<string> = new Set();
  return {
    follow(event) {
      if (event.kind === "start") {
        label = event.label;
        tools = new Set(event.tools);
      } else if (
        (event.kind === "reply" || event.kind === "tool_result" || event.kind === "steered") &&
        labelOf(event.item) !== "open"
      ) {
        label = "no-cloud";
      }
    },
    get label() {
      return label;
    },
    toolName: (name) => label === "open" || tools.has(name) ? name : "Withheld",
  };
}
