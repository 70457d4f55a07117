/** Labels, and the one gate that every sink asks before something leaves. */
import { AgentcliError } from "../../errors.ts";

/** `no-cloud`: for local models only. Labels only rise. */
export type Label = "open" | "no-cloud";

/** Returns the label of an item; an item without one is protected. */
export function labelOf(item: { label?: Label | undefined }): Label {
  return item.label === "open" ? "open" : "no-cloud";
}

/** Returns the highest of the labels; `open` if there are none. */
export function highestLabel(labels: Iterable<Label | undefined>): Label {
  return Array.from(labels).every((label) => label === "open") ? "open" : "no-cloud";
}

/** Where items go. A `store` is anything that outlives the process: transcripts, history, exports, logs. */
type Destination = { kind: "provider"; name: string; local: boolean } | { kind: "store" };

interface Outgoing {
  label?: Label | undefined;
  /** For messages: the file it came from, and the rule that covers that. */
  source?: { path: string; rule: string } | undefined;
}

/** Admits all items or throws `policy_refused`: protected ones go to local providers only. */
export function admitItems(destination: Destination, items: Iterable<Outgoing>): void {
  if (destination.kind === "provider" && destination.local) return;
  const refused = Array.from(items).filter((one) => labelOf(one) !== "open");
  if (refused.length === 0) return;
  // Responses, and what follows a protected file, have no source.
  const source = refused.find((one) => one.source !== undefined)?.source;
  const what = source === undefined ? "protected content (no-cloud)" : `${source.path} (${source.rule})`;
  const [message, hint] = destination.kind === "store"
    ? [`${what} may not be stored`, "store a placeholder with path and rule instead"]
    : [
      `this session has read ${what}; the provider "${destination.name}" is not local`,
      "continue with a local model, or in a copy from before that turn " +
      "(/model in a chat, else --fork-session with --continue or --resume)",
    ];
  throw new AgentcliError("policy_refused", message, { hint });
}
