/** Labels, and the one gate for letting things out: every sink asks it, and it decides by label. */
import { AgentcliError } from "../../errors.ts";

/** `no-cloud`: for local models only. Labels only rise. */
export type Label = "open" | "no-cloud";

/** The label of a thing; one that carries none is protected. */
export function labelOf(item: { label?: Label | undefined }): Label {
  return item.label === "open" ? "open" : "no-cloud";
}

/** The higher of the labels; `open` when there are none. */
export function highestLabel(labels: Iterable<Label | undefined>): Label {
  for (const label of labels) {
    if (label !== "open") return "no-cloud";
  }
  return "open";
}

/** Where items go. `store` is everything that outlives the process: transcripts, history, exports, logs. */
export type Destination = { kind: "provider"; name: string; local: boolean } | { kind: "store" };

interface Outgoing {
  label?: Label | undefined;
  /** The file it came from and the line of a marker that covers it, for the message. */
  source?: { path: string; rule: string } | undefined;
}

function describe({ source }: Outgoing): string {
  return source === undefined ? "protected content (no-cloud)" : `${source.path} (${source.rule})`;
}

/**
 * Lets the items go, or throws `policy_refused`: no protected item goes to a provider that is not local, and none as it
 * is into a store, which takes a placeholder instead. An item without a label is protected. All or nothing.
 */
export function admitItems(destination: Destination, items: Iterable<Outgoing>): void {
  if (destination.kind === "provider" && destination.local) return;
  for (const item of items) {
    if (labelOf(item) === "open") continue;
    if (destination.kind === "store") {
      throw new AgentcliError("policy_refused", `${describe(item)} may not be stored`, {
        hint: "store a placeholder with path and rule instead",
      });
    }
    throw new AgentcliError(
      "policy_refused",
      `this session has read ${describe(item)}; the provider "${destination.name}" is not local`,
      {
        hint: "continue with a local model, or in a copy from before that turn " +
          "(/model in a chat, else --fork-session with --continue or --resume)",
      },
    );
  }
}
