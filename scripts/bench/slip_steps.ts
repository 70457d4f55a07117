/** The steps that scripted models take in the slip suite, and kinds of slips that differ in one detail. */
import { ask, type PlannedCall, say, type Step } from "../../tests/helpers/fake_server.ts";
import type { Slip } from "./slip_run.ts";

/** The usual file when the task is done. */
export const FIXED = { "calc.py": "def add(a, b):\n    return a + b\n" };

export const call = (name: string, input: Record<string, unknown> | string): PlannedCall => ({ name, input });
export const use = (name: string, input: Record<string, unknown> | string): Step => ask(call(name, input));
export const read = (file_path: string, more = {}) => use("Read", { file_path, ...more });
export const write = (file_path: string, content: string) => use("Write", { file_path, content });
export const edit = (file_path: string, ...[old_string, new_string]: [before: string, after: string]) =>
  use("Edit", { file_path, old_string, new_string });
export const bash = (command: string) => use("Bash", { command });

/** The usual steps. */
export const READ = read("calc.py");
export const EDITED = { file_path: "calc.py", old_string: "a - b", new_string: "a + b" };
export const EDIT = edit("calc.py", "    return a - b", "    return a + b");

/** Rows of one habit: a call that a person understands, and that has to be taken as it is meant. */
export function meant(kind: string, slips: readonly Step[], more: Partial<Slip> = {}): Slip {
  return { kind, rounds: slips.length + 1, slips, leaves: FIXED, ...more };
}

/** Rows of one habit: the turn would end without the work. */
export function unfinished(kind: string, { last, words, way = EDIT }: { last: Step; words: RegExp; way?: Step }): Slip {
  return { kind, rounds: 4, slips: [READ, last], recovers: [[words, way]], leaves: FIXED };
}

/** A reply of nothing but text that has to be taken for the edit of the usual file. */
export function written(kind: string, text: string): Slip {
  return meant(kind, [say(text)]);
}
