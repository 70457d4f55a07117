/** Arguments of tools: a text that is a path as a whole means what stands there, whatever it looks like. */
import { AgentcliError } from "../../errors.ts";
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import { statSync } from "../../platform/files_sync.ts";
import { isWithin, join } from "../../platform/path.ts";
import { exists, quietly, realOrNamed } from "../../boundary/real_path.ts";
import type { TamperCheck } from "./tamper_check.ts";
import type { ProtectedLookup } from "./lookup.ts";

/** A longer text is no path. Characters. */
const PATH_LIMIT = 4_096;

/** Returns the texts of a value, without the names of members. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) { for (const one of Object.values(value)) yield* textsIn(one); }
}

/** Texts of JSON within each other. */
const WRAPPED_LIMIT = 16;

/**
 * Returns a value in which each text that is JSON stands beside what it holds: tools are called so. Throws `usage` for more
 * texts within each other than any tool has.
 */
export function unwrapped(given: unknown, depth = 0): unknown {
  if (depth > WRAPPED_LIMIT) throw new AgentcliError("usage", "the arguments hold too many texts within each other");
  if (typeof given === "string") {
    const held = /^\s*[[{"]/.test(given) ? quietly(() => JSON.parse(given)) : null;
    return held === null ? given : [given, unwrapped(held, depth + 1)];
  }
  if (Array.isArray(given)) return given.map((one) => unwrapped(one, depth));
  if (typeof given !== "object" || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, unwrapped(value, depth)]));
}

/** Names of arguments that a tool hands to a shell, starts as a program, or runs as one; without what parts words. */
const COMMAND_NAMES =
  /^(?:(?:shell|bash|terminal|run|exec)?(?:commands?|cmd|script|code)|commandline|shell|bash|sh|exec|execute|run|args|argv|arguments)$/i;

/** Those of them that hand a line to a shell, and those that are the words of a program. */
const SHELL_NAMES =
  /^(?:(?:shell|bash|terminal|run|exec)?(?:commands?|cmd)|commandline|shell|bash|sh|exec|execute|run)$/i;
const WORD_NAMES = /^(?:args|argv|arguments)$/i;

/** Returns the lines among arguments that a shell is handed: not a single word, which many tools have for what they are to do. */
export function* shellLinesIn(given: unknown): Generator<string> {
  if (typeof given !== "object" || given === null) return;
  const members = Object.entries(given).map(([name, value]) => ({ name: name.replace(/[-_]/g, ""), value }));
  const textOf = (value: unknown) => [value].flat(Infinity).filter((word) => typeof word === "string").join(" ");
  const behind = members.filter(({ name }) => WORD_NAMES.test(name)).map(({ value }) => ` ${textOf(value)}`).join("");
  for (const { name, value } of members) {
    yield* shellLinesIn(value);
    if (!SHELL_NAMES.test(name)) continue;
    const line = textOf(value);
    // A line of several words is one already.
    const whole = /^[\w.-]*$/.test(line) || Array.isArray(value) ? line + behind : line;
    if (!/^[\w.-]*$/.test(whole)) yield whole;
  }
}

/** Returns the command lines among arguments: of each object one, since a program and its words may be two members of it. */
export function* commandsIn(given: unknown): Generator<string> {
  if (typeof given !== "object" || given === null) return;
  const words: unknown[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (COMMAND_NAMES.test(name.replace(/[-_]/g, ""))) words.push(...[value].flat(Infinity));
    yield* commandsIn(value);
  }
  if (words.length > 0) yield words.filter((word) => typeof word === "string").join(" ");
}

/** Returns why a call with these arguments is blocked, for paths that are whole arguments; null when nothing speaks against it. */
export async function judgeArguments(
  given: unknown,
  { lookup, tamperCheck }: { lookup: ProtectedLookup; tamperCheck: TamperCheck },
): Promise<string | null> {
  for (const text of textsIn(given)) {
    if (text.length > PATH_LIMIT || text.trim().includes("\n")) continue;
    for (const path of lookup.meanings(text)) {
      const rule = lookup.ruleAt(path) ?? lookup.ruleOfGit(path);
      if (rule !== null) return lookup.describe(path, rule);
      const reason = tamperCheck.reasonAt(path) ?? tamperCheck.reasonAbove(path);
      if (reason !== null) return `${text.trim()} may not be named here: ${reason}`;
      const inside = await protectedInside(path, lookup);
      if (inside !== null) return inside;
    }
  }
  return null;
}

/** A directory elsewhere without a marker of its own is not looked through: it may be the whole disk. */
async function protectedInside(path: string, lookup: ProtectedLookup): Promise<string | null> {
  const real = realOrNamed(path);
  if (quietly(() => statSync(real))?.kind !== "directory") return null;
  const near = lookup.bases.some((base) => isWithin(base, real));
  const above = lookup.bases.some((base) => isWithin(real, base));
  if (!near && !above && !exists(join(real, MARKER_NAME))) return null;
  const inside = near || !above ? await lookup.insideOf(real) : await lookup.knownInside(real);
  return inside === null
    ? null
    : `the directory holds protected content: ${lookup.describe(inside.path, inside.rule)}; name single files of it`;
}
