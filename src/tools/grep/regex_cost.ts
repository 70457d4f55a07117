/**
 * How much a backtracking engine could take for a pattern, at worst. Nothing stops a regular expression of the runtime
 * once it runs (a terminated worker goes on: measured with Deno 2.9.6), so the question is asked before (threat 126).
 */
import { ANY, type CharacterSet, characterSet, complement, disjoint } from "./character_set.ts";
import type { Regex } from "./regex.ts";

/** Steps for a line of n characters: at most about `factor` × n ^ `degree`. Infinity where that has no such form. */
export interface RegexCost {
  factor: number;
  degree: number;
}

const EVERYTHING = complement([]);
const HOPELESS: Tries = { ways: Infinity, loops: 0, any: true };

/** Of one attempt at one place: ways to match fixed parts, loops that trade with what follows, whether any loop is there. */
interface Tries {
  ways: number;
  loops: number;
  any: boolean;
}

/** The worst cost of searching a line. */
export function regexCost(regex: Regex): RegexCost {
  const { ways, loops, any } = triesOf(regex, []);
  // Every place of the line is a start; a loop that never trades still walks to its end from each.
  return { factor: ways, degree: 1 + Math.max(loops, any ? 1 : 0) };
}

/** `follow`: the characters that may stand after `regex`; empty when nothing follows, for then nothing can fail. */
function triesOf(regex: Regex, follow: CharacterSet): Tries {
  switch (regex.kind) {
    case "set":
    case "assertion":
      return { ways: 1, loops: 0, any: false };
    case "raw":
      return { ways: 1, loops: 1, any: true };
    case "group":
      return triesOf(regex.body, follow);
    case "look":
      return triesOf(regex.body, EVERYTHING);
    case "choice": {
      const options = regex.options.map((option) => triesOf(option, follow));
      return {
        ways: options.reduce((sum, { ways }) => sum + ways, 0),
        loops: Math.max(...options.map(({ loops }) => loops)),
        any: options.some(({ any }) => any),
      };
    }
    case "sequence":
      return sequenceTries(regex.parts, follow);
    case "repeat":
      return repeatTries(regex, follow);
  }
}

function sequenceTries(parts: readonly Regex[], follow: CharacterSet): Tries {
  let next = follow;
  const all: Tries = { ways: 1, loops: 0, any: false };
  for (const part of [...parts].reverse()) {
    const tries = triesOf(part, next);
    all.ways *= tries.ways;
    all.loops += tries.loops;
    all.any ||= tries.any;
    const first = firstOf(part);
    next = first.nullable ? characterSet([...first.set, ...next]) : first.set;
  }
  return all;
}

function repeatTries({ body, least, most }: Regex & { kind: "repeat" }, follow: CharacterSet): Tries {
  if (most <= 1) {
    const once = triesOf(body, follow);
    return { ...once, ways: once.ways + 1 - least };
  }
  const inner = triesOf(body, EVERYTHING);
  // A loop or a choice that is itself repeated multiplies with every round: no polynomial holds it.
  if (inner.ways > 1 || inner.any) return HOPELESS;
  if (most !== Infinity) return { ways: most - least + 1, loops: 0, any: false };
  return { ways: 1, loops: disjoint(firstOf(body).set, follow) ? 0 : 1, any: true };
}

/** What a match may start with, and whether it may be empty. */
function firstOf(regex: Regex): { set: CharacterSet; nullable: boolean } {
  switch (regex.kind) {
    case "set":
      return { set: regex.set, nullable: false };
    case "group":
      return firstOf(regex.body);
    case "repeat": {
      const body = firstOf(regex.body);
      return { set: body.set, nullable: body.nullable || regex.least === 0 };
    }
    case "choice": {
      const options = regex.options.map(firstOf);
      return {
        set: characterSet(options.flatMap((option) => [...option.set])),
        nullable: options.some((option) => option.nullable),
      };
    }
    case "sequence": {
      let set: CharacterSet = [];
      for (const part of regex.parts) {
        const first = firstOf(part);
        set = characterSet([...set, ...first.set]);
        if (!first.nullable) return { set, nullable: false };
      }
      return { set, nullable: true };
    }
    case "assertion":
      // At an end nothing follows, so whatever a loop gives back cannot stand there.
      return { set: [], nullable: regex.at === "boundary" || regex.at === "inside" };
    case "look":
    case "raw":
      return { set: regex.kind === "raw" ? EVERYTHING : ANY, nullable: true };
  }
}
