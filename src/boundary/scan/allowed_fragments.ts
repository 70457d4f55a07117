/**
 * Decides which fragments of protected content may leave because the user allowed them. The home remembers them as
 * digests of short stretches; nothing that a session can write has a say.
 */
import type { ProjectRecord } from "../policy/project_record.ts";
import { ProtectedContent } from "./protected_content.ts";
import { SHORTEST_FRAGMENT } from "./fragment_index.ts";
import type { AllowedFragments } from "./leak_scanner.ts";
import { keyOf } from "./normalize.ts";

/** Returns the stretches that are remembered for a fragment, which may leave only if all of them may. */
function unitsOf(normalized: string): string[] {
  if (normalized.length <= SHORTEST_FRAGMENT) return [normalized];
  const count = normalized.length - SHORTEST_FRAGMENT + 1;
  return Array.from({ length: count }, (_, at) => normalized.slice(at, at + SHORTEST_FRAGMENT));
}

/** Returns what has to be remembered to let a text leave: its stretches and its whole values. */
export function unitsOfText(bytes: Uint8Array): string[] {
  const content = new ProtectedContent();
  content.add("", bytes);
  // Several forms are separated by a space, which no normalized text contains.
  const forms = keyOf(content.bytes).split(" ").filter((form) => form !== "");
  return [...new Set([...content.wholes.keys(), ...forms.flatMap(unitsOf)])];
}

/** Returns a filter for the fragments of which the record lets every stretch leave. */
export function allowedByRecord(record: Pick<ProjectRecord, "allows">): AllowedFragments {
  return async (fragments) => {
    const allowed = new Set<string>();
    for (const { normalized } of fragments) {
      let every = true;
      for (const unit of unitsOf(normalized)) every &&= await record.allows(unit);
      if (every) allowed.add(normalized);
    }
    return allowed;
  };
}
