/**
 * Which fragments of protected content may leave: those that the user allowed by hand, and those that stood in the open
 * files of the commit that HEAD named when the project was first seen. Nothing that a session can write is asked.
 */
import type { ProjectRecord } from "../policy/project_record.ts";
import { ProtectedContent } from "./protected_content.ts";
import { SHORTEST_FRAGMENT } from "./fragment_index.ts";
import type { AllowedFragments } from "./leak_scanner.ts";
import { keyOf } from "./normalize.ts";

/** Returns the stretches of a fragment that are remembered: it may leave when each of them may. */
function unitsOf(normalized: string): string[] {
  if (normalized.length <= SHORTEST_FRAGMENT) return [normalized];
  const count = normalized.length - SHORTEST_FRAGMENT + 1;
  return Array.from({ length: count }, (_, at) => normalized.slice(at, at + SHORTEST_FRAGMENT));
}

/** Returns what of a text has to be remembered so that the scan lets it go: its stretches, and its whole values. */
export function unitsOfText(bytes: Uint8Array): string[] {
  const content = new ProtectedContent();
  content.add("", bytes);
  // Texts in several forms are parted by a space, which no normalized text holds.
  const forms = keyOf(content.bytes).split(" ").filter((form) => form !== "");
  return [...new Set([...content.wholes.keys(), ...forms.flatMap(unitsOf)])];
}

/** Returns the fragments that the record lets go. */
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
