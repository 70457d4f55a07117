/** Going on with another model. A session that read something protected cannot go to a model elsewhere. */
import { sessionLabel } from "../../agent/session.ts";
import { itemsBeforeProtected } from "../../session/fork.ts";
import { clean } from "../../terminal/clean.ts";
import { row } from "../../terminal/style.ts";
import { offeredModels } from "./models.ts";
import { selectorOf } from "../../runtime/agent_session.ts";
import type { CommandScene } from "./commands.ts";

/** The `/model` command. Throws what is wrong with a name. */
export async function switchModel(
  argument: string,
  { chat, view, context, signal }: Pick<CommandScene, "chat" | "view" | "context" | "signal">,
): Promise<void> {
  const selector = argument === "" ? await chooseModel({ view, context, signal }) : argument;
  if (selector === null) return;
  const before = chat.opened === null ? null : selectorOf(chat.opened);
  const prepared = await view.during("changing the model", chat.setModel(selector));
  const { session } = prepared;
  if (session.model.local || sessionLabel(session) === "open") {
    view.say([row(`now with ${clean(selectorOf(prepared))} (${session.model.local ? "local" : "remote"})`, "dim")]);
    return;
  }
  const kept = itemsBeforeProtected(session.items);
  view.say([
    row(
      `This session has read protected content, and ${clean(selector)} is remote: none of it may go there.`,
      "warning",
    ),
  ]);
  const choice = await view.pick({
    title: "What now?",
    choices: [
      { label: "stay with the local model", note: before ?? "" },
      { label: "fork from before the protected content", note: `${kept} of ${session.items.length} items go along` },
    ],
  });
  if (choice === 1) {
    const forked = await view.during("forking the session", chat.forkOpen(selector));
    view.say([row(`a new session with ${clean(selectorOf(forked))}; the other one is kept`, "dim")]);
  } else if (before !== null) {
    await view.during("going back", chat.setModel(before));
    view.say([row(`still with ${clean(before)}`, "dim")]);
  }
}

async function chooseModel(
  { view, context, signal }: Pick<CommandScene, "view" | "context" | "signal">,
): Promise<string | null> {
  const models = await view.during("asking the servers", offeredModels(context, signal));
  const choices = [
    ...models.flatMap(({ selector, note }) => selector === null ? [] : [{ label: selector, note }]),
    { label: "demo", note: "a fixed script, no language model" },
  ];
  const chosen = await view.pick({ title: "Which model?", choices });
  return choices[chosen ?? -1]?.label ?? null;
}
