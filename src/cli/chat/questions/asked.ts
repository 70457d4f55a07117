/**
 * Asks the user in the chat: for permission to run a tool call, for approval of a plan, and for the fields of MCP
 * forms.
 */
import {
  type AskPermission,
  deniedByPerson,
  type PermissionAnswer,
  type PermissionQuestion,
} from "../../../agent/turn_options.ts";
import type { AgentSession } from "../../../runtime/agent_session.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span, type Style } from "../../../terminal/style.ts";
import { wrap } from "../../../terminal/wrap.ts";
import { type JudgedPart, judgedParts } from "../../../tools/offered_rules.ts";
import type { Rule } from "../../../tools/permission_rule.ts";
import type { ChatView } from "../begin.ts";
import { previewOf } from "./preview.ts";
import type { Question } from "./question.ts";
import type { TurnResult } from "../../../protocol/turn_event.ts";
import type { FormAnswer, FormField, ServerForm } from "../../../mcp/elicit.ts";

const ALLOW: PermissionAnswer = { behavior: "allow" };

/** Asks through what is shown. */
export function askInChat(chat: AgentSession, view: ChatView): AskPermission {
  return async (question, signal) => {
    const { session } = await chat.ready();
    signal.throwIfAborted();
    const { head, body } = await previewOf(question, session.workspace);
    signal.throwIfAborted();
    const { rules, byPart, rows, choices } = offers(question, session.policy.allow);
    const call = { name: question.toolName, subject: question.subject };
    const title = `Allow ${clean(question.toolName)}?`;
    const whole = cached((width) => [...head(width), ...rows(width), ...body(width)]);
    const stopped = Promise.withResolvers<null>();
    const stop = () => stopped.resolve(null);
    signal.addEventListener("abort", stop, { once: true });
    const answerTo = async (asked: Question) => {
      const given = await Promise.race([view.question(asked), stopped.promise]);
      signal.throwIfAborted();
      return given;
    };
    try {
      const granted: { chat: string[]; project: string[] } = { chat: [], project: [] };
      let given = await answerTo({ call, title, body: whole, choices });
      if (given?.kind === "key" && given.key === "s") granted.chat.push(...rules);
      if (given?.kind === "key" && given.key === "a") granted.project.push(...rules);
      if (given?.kind === "key" && given.key === "p") {
        for (const [at, rule] of byPart.entries()) {
          const which = `Part ${at + 1} of ${byPart.length}: ${clean(rule)}`;
          given = await answerTo({ call, title: which, body: whole, choices: grants([rule], NO_TO_ALL) });
          if (given?.kind !== "key" || given.key === "n") break;
          if (given.key === "s") granted.chat.push(rule);
          if (given.key === "a") granted.project.push(rule);
        }
      }
      if (given === null || (given.kind === "key" && given.key === "n")) return deniedByPerson("");
      if (given.kind === "words") return deniedByPerson(given.text);
      for (const rule of granted.chat) await chat.allow(rule);
      if (granted.project.length > 0 && await chat.allowAlways(granted.project)) {
        const named = granted.project.map((rule) => clean(rule)).join(", ");
        view.print([row(`  allowed in this project from now on: ${named} (to remove it: /permissions)`, "dim")]);
      }
      return ALLOW;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
}

const NO = "no (or type what to do instead)";
const NO_TO_ALL = "no to the whole command (or type what to do instead)";

/** The rows are requested with every drawing, and created once for a width. */
function cached(body: (width: number) => Row[]): (width: number) => Row[] {
  let made: { width: number; rows: Row[] } | null = null;
  return (width) => (made = made?.width === width ? made : { width, rows: body(width) }).rows;
}

/** Returns the possible answers, and the rules that "for this chat" and "always" mean, together and by part. */
export function offers(
  question: Pick<PermissionQuestion, "toolName" | "ruleName" | "subject">,
  allow: readonly Rule[],
): { rules: string[]; byPart: string[]; rows(width: number): Row[]; choices: Question["choices"] } {
  const parts = judgedParts(question, allow);
  const open = parts.filter(({ covered }) => covered === null);
  const byPart = [...new Set(open.flatMap(({ offered }) => offered ?? []))];
  const rules = open.every(({ offered }) => offered !== null) ? byPart : [];
  const isMixed = byPart.length > 1 || (byPart.length === 1 && rules.length === 0);
  const [once, ...rest] = grants(rules, NO);
  return {
    rules,
    byPart,
    rows: (width) => parts.length > 1 || parts.some(({ why }) => why !== "") ? partRows(parts, width) : [],
    choices: [
      ...once === undefined ? [] : [once],
      ...rest.slice(0, -1),
      ...isMixed ? [{ key: "p", label: "yes, and choose for each part" }] : [],
      ...rest.slice(-1),
    ],
  };
}

/** The answers about these rules; without rules yes or no. */
function grants(rules: readonly string[], no: string): Question["choices"] {
  const named = rules.map((rule) => clean(rule)).join(", ");
  return [
    { key: "y", label: "yes, this once" },
    ...rules.length === 0 ? [] : [
      { key: "s", label: "yes, for this chat", note: named },
      {
        key: "a",
        label: "yes, always in this project",
        note: named,
        confirm: `Allow always in this project: ${named}?`,
      },
    ],
    { key: "n", label: no },
  ];
}

function partRows(parts: readonly JudgedPart[], width: number): Row[] {
  return parts.flatMap(({ text, covered, offered, why }) => {
    const [said, style]: [string, Style] = covered !== null
      ? [`allowed by ${covered}`, "good"]
      : offered !== null
      ? ["no rule allows it", "dim"]
      : [`asked each time: it ${why}`, "warning"];
    const shown = clean(text);
    return wrap([span(`${shown}  `), span(clean(said), style)], { width, first: [span("  ")], indent: [span("    ")] });
  });
}

/** The heading that the model is asked for, whatever its level and context. */
const PLAN_HEADING = /^(?:#{1,6}\s*|\*\*)(?:the\s+)?plan\b/im;

/** Tells the model that its plan was accepted. */
const CARRY_OUT = "Carry out the plan.";

/** Asks about the plan of a turn and continues as the person says; does nothing where the turn has none. */
export async function offerPlan(
  { outcome, answer }: Pick<TurnResult, "outcome" | "answer">,
  { chat, view }: { chat: AgentSession; view: ChatView },
): Promise<void> {
  if (outcome !== "success" || !PLAN_HEADING.test(answer)) return;
  const given = await view.question({
    title: "Go on with this plan?",
    body: () => [],
    choices: [
      { key: "y", label: "yes, and ask before each change" },
      { key: "e", label: "yes, and change files without asking", note: "acceptEdits" },
      { key: "n", label: "no, drop it (or type what to change in it)" },
    ],
  });
  if (given === null) return;
  if (given.kind === "words") return view.send(given.text);
  chat.setMode(given.key === "e" ? "acceptEdits" : "default");
  if (given.key === "n") return view.print([row("the plan was dropped; the mode is default", "dim")]);
  view.send(CARRY_OUT);
}

/** Lets a person fill in a form, one field after the other; giving up any of them declines it. */
export function elicitInChat(view: ChatView): (form: ServerForm, signal: AbortSignal) => Promise<FormAnswer> {
  return async ({ server, message, fields }, signal) => {
    view.print([row(`The MCP server ${server} asks: ${clean(message)}`, "warning")]);
    const begun = await view.pick({
      title: fields.length === 0 ? `Answer ${server}?` : `Fill in the form of ${server}?`,
      choices: [{ label: "yes" }, { label: "no", note: "tells the server that you declined" }],
    });
    signal.throwIfAborted();
    if (begun === null) return { action: "cancel" };
    if (begun !== 0) return { action: "decline" };
    const content: Record<string, unknown> = {};
    for (const field of fields) {
      const value = await valueOf(field, view);
      signal.throwIfAborted();
      if (value === null) return { action: "cancel" };
      if (value !== undefined) content[field.name] = value;
    }
    return { action: "accept", content };
  };
}

/** Null where the person gave up; undefined for a field that was left out. */
async function valueOf(field: FormField, view: ChatView): Promise<unknown> {
  const { title, description, type, choices, required, initial, isMultiple } = field;
  const words = `${title}${description === "" ? "" : ` (${description})`}`;
  if (choices !== undefined && !isMultiple) {
    const at = await view.pick({ title: clean(words), choices: choices.map(({ label }) => ({ label: clean(label) })) });
    return at === null ? null : choices[at]?.value;
  }
  if (type === "boolean") {
    const at = await view.pick({ title: clean(words), choices: [{ label: "yes" }, { label: "no" }] });
    return at === null ? null : at === 0;
  }
  const shown = initial === undefined ? "" : ` [${clean(String(initial)).slice(0, 60)}]`;
  const given = choices === undefined ? "" : `, of ${choices.map(({ value }) => clean(value)).join(", ")}, with commas`;
  const text = await view.ask(`${clean(words)}${given}${shown}`);
  if (text === null) return null;
  if (text.trim() === "") return initial ?? (required ? null : undefined);
  if (isMultiple) {
    const values = text.split(",").map((one) => one.trim());
    return values.filter((value) => choices?.some((choice) => choice.value === value) !== false);
  }
  return type === "string" ? text : Number.isFinite(Number(text)) ? Number(text) : undefined;
}
