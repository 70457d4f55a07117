/** Arguments of tools: a text that is a path as a whole means what stands there, whatever it looks like. */
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import { statInPlace } from "../../platform/files_in_place.ts";
import { isWithin, join } from "../../platform/path.ts";
import { exists, quietly, realOrNamed } from "../../boundary/real_path.ts";
import type { Switches } from "./switches.ts";
import type { ProtectedView } from "./view.ts";

/** A longer text is no path. Characters. */
const PATH_LIMIT = 4_096;

/** The texts of a value, without the names of members. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) { for (const one of Object.values(value)) yield* textsIn(one); }
}

/** Names of arguments that a tool hands to a shell or starts as a program. */
const COMMAND_NAMES = /^(?:commands?|command_?line|cmd|script|shell|args|argv|arguments)$/i;

/** The command lines among arguments: of each object one, since a program and its words may be two members of it. */
export function* commandsIn(given: unknown): Generator<string> {
  if (typeof given !== "object" || given === null) return;
  const words: unknown[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (COMMAND_NAMES.test(name)) words.push(...[value].flat());
    yield* commandsIn(value);
  }
  if (words.length > 0) yield words.filter((word) => typeof word === "string").join(" ");
}

/** Why a call with these arguments is blocked, for paths that are whole arguments; null when nothing speaks against it. */
export async function judgeArguments(
  given: unknown,
  { view, switches }: { view: ProtectedView; switches: Switches },
): Promise<string | null> {
  for (const text of textsIn(given)) {
    if (text.length > PATH_LIMIT || text.trim().includes("\n")) continue;
    for (const path of view.meanings(text)) {
      const rule = view.ruleAt(path);
      if (rule !== null) return view.describe(path, rule);
      const reason = switches.reasonAt(path) ?? switches.reasonAbove(path);
      if (reason !== null) return `${text.trim()} may not be named here: ${reason}`;
      const inside = await protectedInside(path, view);
      if (inside !== null) return inside;
    }
  }
  return null;
}

/** A directory elsewhere without a marker of its own is not looked through: it may be the whole disk. */
async function protectedInside(path: string, view: ProtectedView): Promise<string | null> {
  const real = realOrNamed(path);
  if (quietly(() => statInPlace(real))?.kind !== "directory") return null;
  const near = view.bases.some((base) => isWithin(base, real));
  const above = view.bases.some((base) => isWithin(real, base));
  if (!near && !above && !exists(join(real, MARKER_NAME))) return null;
  const inside = near || !above ? await view.insideOf(real) : await view.knownInside(real);
  return inside === null
    ? null
    : `the directory holds protected content: ${view.describe(inside.path, inside.rule)}; name single files of it`;
}
