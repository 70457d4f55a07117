/** The tools of the server as clients see them, and their arguments once they are checked. */
import type { OwnTool } from "../mcp/own_server.ts";
import { fieldsOf, membersOf, textOf } from "../platform/record.ts";
import { normalized } from "../platform/text.ts";
import { TASK_STATUSES } from "./outcome.ts";
import { type AnswerSet, readAnswerSet } from "./answer.ts";

/** A tool as `tools/list` names it. */
interface DeclaredTool {
  name: OwnTool;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, boolean>;
}

const QUESTION_LIMIT = 4_000;
const MOST_PATHS = 16;
/** Seconds until an answer comes, unless the caller says. Many clients give up on a call after 60. */
const SECONDS = { least: 1, usual: 20, usualLong: 45, most: 300 };

const text = (description: string) => ({ type: "string", description });
const PATH_LIST = { type: "array", items: { type: "string" }, maxItems: MOST_PATHS };
const PATHS = { ...PATH_LIST, description: "Files to look at first, relative to the project" };
const WHEN = {
  type: "integer",
  minimum: SECONDS.least,
  maximum: SECONDS.most,
  description: `The answer comes exactly then; default ${SECONDS.usual}`,
};
const LIMIT = { ...WHEN, description: `At most; default ${SECONDS.usualLong}` };
/** Flat, since not every client passes on alternatives. */
const ANSWER = {
  type: "object",
  description: "What the answer may be; a text is held until the user releases it",
  properties: {
    type: { type: "string", enum: ["yes_no", "choice", "count", "paths", "text"] },
    options: {
      type: "array",
      items: { type: "string", maxLength: 60 },
      maxItems: 16,
      description: "Of choice: 2 to 16",
    },
    max: { type: "integer", minimum: 1, maximum: 1000, description: "Of count" },
    among: {
      type: "array",
      items: { type: "string" },
      maxItems: 64,
      description: "Of paths: those for which it holds",
    },
  },
  required: ["type"],
};

const READS = { readOnlyHint: true, openWorldHint: false };

/** In the order in which they are listed. */
export const TOOLS: readonly DeclaredTool[] = [
  {
    name: "private_status",
    description: "Tells whether a local model is configured, how many rules protect files, and how many bits may be " +
      "answered today.",
    inputSchema: { type: "object", properties: {} },
    annotations: READS,
  },
  {
    name: "ask_private",
    description:
      "Asks a local model about files that you may not read. The answer is one of the values that `answer` " +
      "allows, or `unknown`. It costs bits of a daily budget; the same question costs nothing again.",
    inputSchema: {
      type: "object",
      properties: {
        question: text("One question; values are hidden from the local model too, names and shapes are not"),
        paths: PATHS,
        answer: ANSWER,
        again: { type: "boolean", description: "Asks anew, and pays anew, after files changed" },
        seconds: WHEN,
      },
      required: ["question", "answer"],
    },
    annotations: READS,
  },
  {
    name: "do_private",
    description:
      "Has a local model change the protected files in `paths`. You hear whether it is done, how many files " +
      "changed and whether the check passed; that costs bits. Open files are changed only where the user allowed it.",
    inputSchema: {
      type: "object",
      properties: {
        task: text("What to change; values are hidden from the local model too"),
        paths: { ...PATH_LIST, minItems: 1, description: "The only files that may be changed or created" },
        check: { type: "boolean", description: "Runs the check of the project where the user allowed open files" },
        seconds: { ...WHEN, description: `The result comes exactly then; default ${SECONDS.usualLong}` },
      },
      required: ["task", "paths"],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  },
  {
    name: "ask_local",
    description:
      "Asks a local model about open files, to save tokens. The answer is its text; where a path is protected " +
      "it is held until the user releases it.",
    inputSchema: {
      type: "object",
      properties: { question: text("One question"), paths: { ...PATHS, minItems: 1 }, seconds: LIMIT },
      required: ["question", "paths"],
    },
    annotations: READS,
  },
  {
    name: "answer_of",
    description: "Gives an answer that was held: waiting, kept by the user, or the text that they released.",
    inputSchema: { type: "object", properties: { id: text("For example r-17") }, required: ["id"] },
    annotations: READS,
  },
];

/** A question about files that a text answers. */
export interface TextQuestion {
  question: string;
  paths: readonly string[];
  seconds: number;
}

/** A question that one value of a set answers. */
export interface ClosedQuestion extends TextQuestion {
  set: AnswerSet;
  /** It is asked again, though there is an answer. */
  again: boolean;
}

/** Reads the arguments of `ask_private`; null where they are not as the schema says. */
export function readQuestion(given: unknown): ClosedQuestion | TextQuestion | null {
  const { answer, again = false } = fieldsOf(given);
  const asked = readTextQuestion(given, SECONDS.usual);
  const set = readAnswerSet(answer);
  if (asked === null || fieldsOf(answer).type === "text") return asked;
  return set !== null && typeof again === "boolean" ? { ...asked, set, again } : null;
}

/** Reads the arguments of `ask_local`; null where they are not as the schema says. */
export function readLocalQuestion(given: unknown): TextQuestion | null {
  const asked = readTextQuestion(given, SECONDS.usualLong);
  return asked !== null && asked.paths.length > 0 ? asked : null;
}

function readTextQuestion(given: unknown, usual: number): TextQuestion | null {
  const [question, paths, seconds] = [readText(fieldsOf(given).question), readPaths(given), readSeconds(given, usual)];
  return question === null || paths === null || seconds === null ? null : { question, paths, seconds };
}

export interface PrivateTask {
  task: string;
  paths: readonly string[];
  check: boolean;
  seconds: number;
}

/** Reads the arguments of `do_private`; null where they are not as the schema says. */
export function readTask(given: unknown): PrivateTask | null {
  const { task, check = false } = fieldsOf(given);
  const [read, paths, seconds] = [readText(task), readPaths(given), readSeconds(given, SECONDS.usualLong)];
  if (read === null || paths === null || paths.length === 0 || seconds === null || typeof check !== "boolean") {
    return null;
  }
  return { task: read, paths, check, seconds };
}

/**
 * Returns what a task can carry, in thousandths of a bit, rounded up: its result, and which of the files are there,
 * which any later question learns at no cost.
 */
export function costOfTask({ paths, check }: PrivateTask): number {
  const checks = check ? 3 : 1;
  return Math.ceil(Math.log2(TASK_STATUSES.length * 2 ** paths.length * checks) * 1000);
}

/** One form for texts that say the same. */
function readText(value: unknown): string | null {
  const plain = normalized(textOf(value) ?? "", "NFC").replace(/\s+/g, " ").trim();
  return plain === "" || plain.length > QUESTION_LIMIT ? null : plain;
}

function readPaths(given: unknown): string[] | null {
  const { paths = [] } = fieldsOf(given);
  const names = membersOf(paths).filter((path) => typeof path === "string" && path !== "" && !path.includes("\0"));
  if (!Array.isArray(paths) || names.length !== paths.length || names.length > MOST_PATHS) return null;
  return [...new Set(names as string[])];
}

function readSeconds(given: unknown, usual: number): number | null {
  const { seconds = usual } = fieldsOf(given);
  return Number.isInteger(seconds) && Number(seconds) >= SECONDS.least && Number(seconds) <= SECONDS.most
    ? Number(seconds)
    : null;
}
