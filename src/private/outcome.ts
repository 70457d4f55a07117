/**
 * What a client may learn, and the one function that says it. Whatever happened inside comes here as one of these
 * outcomes; an error, a token count or a model's name has no place in any of them.
 */
import type { ClosedAnswer } from "./answer.ts";

/** Why nothing was done. None of them depends on the content of a protected file. */
const REFUSALS = {
  arguments: "The arguments are not as the schema of the tool says.",
  budget:
    "What may be told of protected files in 24 hours is used up. The user can add to it: agentcli mcp allow --bits N",
  busy: "Another client's question is being answered. Ask again in a minute.",
  no_answer: "The model gave no answer in time.",
  no_local_model: "No model is known to run on this machine. The user can check: agentcli doctor",
  open_path: "A path is not protected. The user can let one task change open files: agentcli mcp allow --changes",
  path: "A path is no file of the project (or directory, where one can be asked about), or is for no model at all.",
  too_many_held: "Too many answers wait for the user. Tell them: agentcli mcp pending",
  unavailable: "The project or the home cannot be used. The user can check: agentcli doctor",
  unknown_id: "No answer has this id.",
} as const;

/** How a task ended, in the local model's own judgment. */
export const TASK_STATUSES = ["done", "failed", "needs_user"] as const;
export type TaskStatus = typeof TASK_STATUSES[number];

/** The result of the check of the project; `none` where it was not run. */
export type CheckOutcome = "pass" | "fail" | "none";

export type RefusalCode = keyof typeof REFUSALS;

export type Outcome =
  | { kind: "status"; ready: boolean; protected: number; left: number; waiting: readonly string[] }
  | { kind: "answer"; answer: ClosedAnswer; cost: number }
  | { kind: "held"; id: string }
  | { kind: "done"; status: TaskStatus; changed: number; check: CheckOutcome; cost: number }
  | { kind: "decision"; decision: "waiting" | "kept" }
  /** `released`: by the user. `open`: made from nothing protected. */
  | { kind: "text"; text: string; why: "released" | "open" }
  | { kind: "refused"; code: RefusalCode; cost?: number };

/** The result of a tool call, as the protocol has it. */
interface ClientResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** Returns the result that a client gets: nothing reaches it any other way. */
export function clientResult(outcome: Outcome): ClientResult {
  if (outcome.kind === "refused") {
    const { code } = outcome;
    return { ...structured({ refused: code, reason: REFUSALS[code] }), isError: true };
  }
  if (outcome.kind === "text" && outcome.why === "open") return { content: [{ type: "text", text: outcome.text }] };
  return structured(fieldsOf(outcome));
}

function structured(fields: Record<string, unknown>): ClientResult {
  return { content: [{ type: "text", text: JSON.stringify(fields) }], structuredContent: fields };
}

function fieldsOf(outcome: Exclude<Outcome, { kind: "refused" }>): Record<string, unknown> {
  switch (outcome.kind) {
    case "status": {
      const { ready, protected: rules, left, waiting } = outcome;
      return { ready, protected: rules, budget_bits_left: bits(left), waiting };
    }
    case "answer":
      return { answer: outcome.answer, bits: bits(outcome.cost) };
    case "done": {
      const { status, changed, check, cost } = outcome;
      return { status, changed, check, bits: bits(cost) };
    }
    case "held":
      return { held: outcome.id, next: `The user decides: agentcli mcp release ${outcome.id}. Then call answer_of.` };
    case "decision":
      return { status: outcome.decision };
    case "text":
      return { released: outcome.text };
  }
}

/** Returns the bits that an outcome cost, for the audit. */
export function costOfOutcome(outcome: Outcome): number {
  return "cost" in outcome ? outcome.cost ?? 0 : 0;
}

/** Thousandths as bits. */
export function bits(thousandths: number): number {
  return thousandths / 1000;
}
