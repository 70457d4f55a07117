/** Names of artifacts: one pattern for all, so that a name is never a path. */
import { AgentcliError } from "../errors.ts";

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Names that mean a device on Windows, whatever stands after a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)/;
const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Why `name` is no name of an artifact; null when it is. */
export function nameProblem(name: string): string | null {
  if (!NAME.test(name)) {
    return "a name is 1 to 64 of a-z, 0-9, dot, underscore, hyphen, and starts with a letter or digit";
  }
  if (name.endsWith(".")) return "a name does not end in a dot";
  return DEVICE.test(name) ? "that name means a device on Windows" : null;
}

/** Why `name` is no name of a skill (Agent Skills specification); null when it is. */
export function skillNameProblem(name: string): string | null {
  if (name.length <= 64 && SKILL_NAME.test(name)) return nameProblem(name);
  return "a skill's name is 1 to 64 of a-z, 0-9, in parts joined by single hyphens";
}

/** Throws `usage` for a name that is none. */
export function checkName(name: string, kind: string): void {
  const problem = kind === "skill" ? skillNameProblem(name) : nameProblem(name);
  if (problem !== null) throw new AgentcliError("usage", `"${name}" cannot name a ${kind}: ${problem}`);
}
