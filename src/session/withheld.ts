/** What stands in a store for protected content: where it came from, and nothing that depends on the content itself. */
import { labelOf } from "../boundary/policy/label.ts";
import type { ProtectedSource, SessionItem } from "./item.ts";

/** The text that stands for protected content. */
function placeholder(source?: ProtectedSource): string {
  return source === undefined
    ? "[withheld: protected content (no-cloud) is not stored]"
    : `[withheld: ${source.path} is protected (${source.rule}) and not stored]`;
}

/**
 * The item as a store may hold it: open items as they are, protected ones as placeholders. Calls of a protected reply
 * keep their ids, so that results still belong to them, and the names of tools there are; a name that is no tool is the
 * model's own words. Rule: specification of the boundary, §5.
 */
export function storedForm(item: SessionItem, isTool: (name: string) => boolean): SessionItem {
  if (labelOf(item) === "open") return item;
  const name = (given: string) => isTool(given) ? given : "Withheld";
  switch (item.kind) {
    case "user": {
      const { origin, source } = item;
      return {
        kind: "user",
        text: placeholder(source),
        label: "no-cloud",
        ...(origin === undefined ? {} : { origin }),
        ...(source === undefined ? {} : { source }),
      };
    }
    case "assistant":
      return {
        kind: "assistant",
        id: item.id,
        text: placeholder(),
        reasoning: "",
        calls: item.calls.map((call) => ({ id: call.id, name: name(call.name), input: {} })),
        label: "no-cloud",
      };
    case "tool_result": {
      const { callId, isError, source } = item;
      return {
        kind: "tool_result",
        callId,
        name: name(item.name),
        content: placeholder(source),
        isError,
        label: "no-cloud",
        ...(source === undefined ? {} : { source }),
      };
    }
  }
}
