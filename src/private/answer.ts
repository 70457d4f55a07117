/**
 * Closed answers: one value of a set that the caller wrote down before anything was read. What such an answer can carry
 * is the size of its set, whatever question was asked and whatever the files told the model.
 */
import { fieldsOf, membersOf, parseJson } from "../platform/record.ts";

/** The set that an answer is taken from; `unknown` is always one of its values. */
export type AnswerSet =
  | { type: "yes_no" }
  | { type: "choice"; options: readonly string[] }
  | { type: "count"; max: number }
  | { type: "paths"; among: readonly string[] };

/** One value of a set. */
export type ClosedAnswer = string | number | readonly string[];

/** Part of every set, for everything that is no other value: no answer, a failure, no time left. */
export const UNKNOWN = "unknown";

const OPTIONS = { least: 2, most: 16, length: 60 };
const MOST_COUNTED = 1000;
const PATHS = { least: 1, most: 64, length: 1000 };

/** Reads the set that a caller asks for; null for an invalid one. */
export function readAnswerSet(value: unknown): AnswerSet | null {
  const { type, options, max, among } = fieldsOf(value);
  if (type === "yes_no") return { type };
  if (type === "choice") {
    const read = namesIn(options, OPTIONS);
    return read === null ? null : { type, options: read };
  }
  if (type === "count") {
    return Number.isInteger(max) && Number(max) >= 1 && Number(max) <= MOST_COUNTED ? { type, max: Number(max) } : null;
  }
  if (type !== "paths") return null;
  const read = namesIn(among, PATHS);
  return read === null ? null : { type, among: read };
}

function namesIn(value: unknown, { least, most, length }: typeof OPTIONS): string[] | null {
  const names = membersOf(value).filter((name) => typeof name === "string");
  const isSet = new Set(names.map((name) => name.toLowerCase())).size === names.length;
  const isUsable = (name: string) => name.trim() === name && name !== "" && name.length <= length;
  const isUnknown = (name: string) => name.toLowerCase() === UNKNOWN;
  if (names.length !== membersOf(value).length || names.length < least || names.length > most) return null;
  return isSet && names.every(isUsable) && !names.some(isUnknown) ? names : null;
}

/** Returns the values of a set, `unknown` included. */
function sizeOf(set: AnswerSet): number {
  switch (set.type) {
    case "yes_no":
      return 3;
    case "choice":
      return set.options.length + 1;
    case "count":
      return set.max + 2;
    case "paths":
      return 2 ** set.among.length + 1;
  }
}

/** Returns what an answer from this set can carry, in thousandths of a bit, rounded up. */
export function costOf(set: AnswerSet): number {
  const cost = Math.ceil(Math.log2(sizeOf(set)) * 1000);
  // From 53 paths on, a number cannot hold one value more than a power of two.
  return set.type === "paths" ? Math.max(cost, set.among.length * 1000 + 1) : cost;
}

/** Returns the values as a JSON schema, for servers that decode by one. */
export function schemaOf(set: AnswerSet): Record<string, unknown> {
  const answer = valuesOf(set);
  return { type: "object", properties: { answer }, required: ["answer"], additionalProperties: false };
}

function valuesOf(set: AnswerSet): Record<string, unknown> {
  switch (set.type) {
    case "yes_no":
      return { type: "string", enum: ["yes", "no", UNKNOWN] };
    case "choice":
      return { type: "string", enum: [...set.options, UNKNOWN] };
    case "count":
      return { anyOf: [{ type: "integer", minimum: 0, maximum: set.max }, { type: "string", enum: [UNKNOWN] }] };
    case "paths":
      return {
        anyOf: [
          { type: "array", items: { type: "string", enum: set.among }, maxItems: set.among.length },
          { type: "string", enum: [UNKNOWN] },
        ],
      };
  }
}

/** Returns the set in words, for the model. */
export function describeSet(set: AnswerSet): string {
  switch (set.type) {
    case "yes_no":
      return '"yes", "no" or "unknown"';
    case "choice":
      return [...set.options, UNKNOWN].map((option) => JSON.stringify(option)).join(", ");
    case "count":
      return `a whole number from 0 to ${set.max}, or "unknown"`;
    case "paths":
      return `a list of those of these paths for which it holds, or "unknown": ${JSON.stringify(set.among)}`;
  }
}

/** Returns the value that a model's reply names; `unknown` for everything else, so that no other text gets through. */
export function answerIn(reply: string, set: AnswerSet): ClosedAnswer {
  const named = namedIn(reply);
  switch (set.type) {
    case "yes_no":
      return oneOf(named, ["yes", "no"]);
    case "choice":
      return oneOf(named, set.options);
    case "count": {
      const count = typeof named === "string" && /^\d{1,4}$/.test(named.trim()) ? Number(named) : named;
      return typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= set.max ? count : UNKNOWN;
    }
    case "paths": {
      if (!Array.isArray(named) || !named.every((path) => set.among.includes(path))) return UNKNOWN;
      // In the caller's order and each once: neither order nor repetition carries information.
      return set.among.filter((path) => named.includes(path));
    }
  }
}

function oneOf(named: unknown, values: readonly string[]): string {
  if (typeof named !== "string") return UNKNOWN;
  const said = named.trim().toLowerCase();
  return values.find((value) => value.toLowerCase() === said) ?? UNKNOWN;
}

/** The member `answer` of a reply in JSON, fenced or not; else the reply itself. */
function namedIn(reply: string): unknown {
  const text = reply.trim().replace(/^```(?:json)?\s*|(?<!\s)\s*```$/g, "");
  const value = parseJson(text);
  return value === undefined ? text : fieldsOf(value).answer ?? value;
}
