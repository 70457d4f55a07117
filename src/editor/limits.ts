/** The limits of the editors: names of artifacts, lengths, and counts; and malformed texts. */
import { AgentcliError } from "../errors.ts";

/** Limits of the editors (seed §8). Characters are code points: an emoji counts once. */
export const LIMITS = {
  rule: 12_000,
  workflow: 12_000,
  globalRules: 6_000,
  activeTools: 100,
  parallelSessions: 5,
} as const;

/** Code points of a text, its byte order mark not counted. */
export function codePoints(text: string): number {
  let count = 0;
  for (const character of text) if (character !== "\ufeff" || count > 0) count += 1;
  return count;
}

/** Returns why a text is too long; null when it is not. */
export function lengthProblem(text: string, limit: number): string | null {
  const count = codePoints(text);
  return count <= limit ? null : `it has ${count} characters; the editor takes at most ${limit}`;
}

/**
 * A text that does not parse, or has something in a form that cannot be changed. Lines count from 1; nothing of the
 * text is in the message.
 */
export class TextProblem extends Error {
  override readonly name = "TextProblem";
}

/** Returns what `read` gives, or what `otherwise` makes of a text that does not parse. */
export function orProblem<T, U>(read: () => T, otherwise: (problem: TextProblem) => U): T | U {
  try {
    return read();
  } catch (error) {
    if (error instanceof TextProblem) return otherwise(error);
    throw error;
  }
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Names that mean a device on Windows, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)/;
const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Returns why `name` is not valid for an artifact; null when it is. */
export function nameProblem(name: string): string | null {
  if (!NAME.test(name)) {
    return "a name is 1 to 64 of a-z, 0-9, dot, underscore, hyphen, and starts with a letter or digit";
  }
  if (name.endsWith(".")) return "a name does not end in a dot";
  return DEVICE.test(name) ? "that name means a device on Windows" : null;
}

/** Returns why `name` is not valid for a skill (Agent Skills specification); null when it is. */
export function skillNameProblem(name: string): string | null {
  if (name.length <= 64 && SKILL_NAME.test(name)) return nameProblem(name);
  return "a skill's name is 1 to 64 of a-z, 0-9, in parts joined by single hyphens";
}

/** Throws `usage` for an invalid name. */
export function checkName(name: string, kind: string): void {
  const problem = kind === "skill" ? skillNameProblem(name) : nameProblem(name);
  if (problem !== null) throw new AgentcliError("usage", `"${name}" cannot name a ${kind}: ${problem}`);
}
