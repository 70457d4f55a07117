/**
 * Matching in time proportional to the text, whatever the pattern: all ways are followed at once, a step a character.
 * Slower than the runtime's engine on harmless patterns, and the only one for the others (threat 126).
 */
import { type CharacterSet, contains, type Regex, WORD } from "./regex.ts";

type Step =
  | { kind: "take"; set: CharacterSet }
  | { kind: "split"; one: number; other: number }
  | { kind: "jump"; to: number }
  | { kind: "check"; at: "start" | "end" | "boundary" | "inside" }
  | { kind: "match" };

/** Steps of a machine: beyond this a counted repetition is too large to be written out. */
const STEP_LIMIT = 4_000;
/** Characters between two looks at the clock. */
const LOOK_EVERY = 2_048;

export interface LinearMatcher {
  /** Returns whether `line`, which holds no line end, has a match; false once `late` is true, polled now and then. */
  test(line: string, late?: () => boolean): boolean;
}

/** Builds the machine; null for look-around, back references, and counts that come to too much. */
export function linearMatcher(regex: Regex): LinearMatcher | null {
  const steps: Step[] = [];
  if (!write(regex, steps) || steps.length > STEP_LIMIT) return null;
  steps.push({ kind: "match" });
  return new Machine(steps);
}

function write(regex: Regex, steps: Step[]): boolean {
  if (steps.length > STEP_LIMIT) return false;
  switch (regex.kind) {
    case "set":
      steps.push({ kind: "take", set: regex.set });
      return true;
    case "assertion":
      steps.push({ kind: "check", at: regex.at });
      return true;
    case "group":
      return write(regex.body, steps);
    case "sequence":
      return regex.parts.every((part) => write(part, steps));
    case "choice":
      return writeChoice(regex.options, steps);
    case "repeat":
      return writeRepeat(regex, steps);
    case "look":
    case "raw":
      return false;
  }
}

function writeChoice(options: readonly Regex[], steps: Step[]): boolean {
  const jumps: { kind: "jump"; to: number }[] = [];
  for (const [index, option] of options.entries()) {
    const split: Step = { kind: "split", one: steps.length + 1, other: 0 };
    const last = index === options.length - 1;
    if (!last) steps.push(split);
    if (!write(option, steps)) return false;
    if (last) break;
    const jump: { kind: "jump"; to: number } = { kind: "jump", to: 0 };
    jumps.push(jump);
    steps.push(jump);
    split.other = steps.length;
  }
  for (const jump of jumps) jump.to = steps.length;
  return true;
}

function writeRepeat({ body, least, most }: Regex & { kind: "repeat" }, steps: Step[]): boolean {
  for (let count = 0; count < least; count++) if (!write(body, steps)) return false;
  if (most === Infinity) {
    const start = steps.length;
    const split: Step = { kind: "split", one: start + 1, other: 0 };
    steps.push(split);
    if (!write(body, steps)) return false;
    steps.push({ kind: "jump", to: start });
    split.other = steps.length;
    return true;
  }
  const exits: { kind: "split"; one: number; other: number }[] = [];
  for (let count = least; count < most; count++) {
    const split: { kind: "split"; one: number; other: number } = { kind: "split", one: steps.length + 1, other: 0 };
    exits.push(split);
    steps.push(split);
    if (!write(body, steps)) return false;
  }
  for (const exit of exits) exit.other = steps.length;
  return true;
}

function asciiTable(set: CharacterSet): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => contains(set, code) ? 1 : 0);
}

class Machine implements LinearMatcher {
  readonly #steps: readonly Step[];
  /** Of each step that takes a character; made when a line is tested: most patterns never need this machine. */
  #ascii: readonly (Uint8Array | null)[] | null = null;
  /** The place of the text at which a step was last added: each is added once a place. */
  readonly #seen: Int32Array;
  #current: number[] = [];
  #next: number[] = [];
  readonly #waiting: number[] = [];

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
    this.#seen = new Int32Array(steps.length);
  }

  test(line: string, late: () => boolean = () => false): boolean {
    const ascii = this.#ascii ??= this.#steps.map((step) => step.kind === "take" ? asciiTable(step.set) : null);
    this.#seen.fill(-1);
    this.#current.length = 0;
    for (let at = 0, look = LOOK_EVERY;;) {
      if (this.#add(0, at, line)) return true;
      if (at >= line.length) return false;
      if (at >= look) {
        if (late()) return false;
        look += LOOK_EVERY;
      }
      const code = line.codePointAt(at) ?? 0;
      const after = at + (code > 0xffff ? 2 : 1);
      // Swapped at the end of the step: what takes this character stands in the next list.
      this.#next.length = 0;
      const taking = this.#current;
      this.#current = this.#next;
      this.#next = taking;
      for (const index of taking) {
        const step = this.#steps[index];
        if (step?.kind !== "take") continue;
        const takes = code < 128 ? ascii[index]?.[code] === 1 : contains(step.set, code);
        if (takes && this.#add(index + 1, after, line)) return true;
      }
      at = after;
    }
  }

  /** Adds a step and all it leads to without taking a character; true when that is the match. */
  #add(first: number, at: number, line: string): boolean {
    const waiting = this.#waiting;
    waiting.length = 0;
    waiting.push(first);
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (this.#seen[index] === at) continue;
      this.#seen[index] = at;
      const step = this.#steps[index];
      switch (step?.kind) {
        case "match":
          return true;
        case "take":
          this.#current.push(index);
          break;
        case "jump":
          waiting.push(step.to);
          break;
        case "split":
          waiting.push(step.other, step.one);
          break;
        case "check":
          if (holds(step.at, at, line)) waiting.push(index + 1);
      }
    }
    return false;
  }
}

function holds(what: "start" | "end" | "boundary" | "inside", at: number, line: string): boolean {
  if (what === "start") return at === 0;
  if (what === "end") return at === line.length;
  const before = at > 0 && contains(WORD, line.charCodeAt(at - 1));
  const after = at < line.length && contains(WORD, line.charCodeAt(at));
  return (before !== after) === (what === "boundary");
}
