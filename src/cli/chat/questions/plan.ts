/** The question at the end of a turn in plan mode: whether to go on with its plan. Loaded behind the first such turn. */
import type { TurnResult } from "../../../protocol/turn_event.ts";
import type { AgentSession } from "../../../runtime/agent_session.ts";
import { row } from "../../../terminal/style.ts";
import type { ChatView } from "../begin.ts";

/** The heading that the model is asked for, whatever its level and what stands around it. */
const PLAN_HEADING = /^(?:#{1,6}\s*|\*\*)(?:the\s+)?plan\b/im;

/** Tells the model that its plan was accepted. */
const CARRY_OUT = "Carry out the plan.";

/** Asks about the plan of a turn, and goes on as the person says; nothing where the turn has none. */
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
