/** Deletes a stored session, after asking. */
import { deleteSession } from "../../session/remove.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openNamed } from "./scope.ts";
import type { LIST_OPTIONS } from "./verb.ts";

/** Exit 1 when the person at the terminal said no. */
export async function run({ options, arguments: words, context }: Invocation<typeof LIST_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const { home, session } = await openNamed(context, { id: words[0] ?? "", all: options.all });
  const { id, turns, firstPrompt } = session;
  const what = `${id} (${turns === 1 ? "1 turn" : `${turns} turns`}: ${clean(firstPrompt.slice(0, 60))})`;
  if (!globals.yes && !await confirm(io, `Delete the session ${what}?`)) {
    await notice(context, "nothing changed");
    return 1;
  }
  await deleteSession(home, session);
  await io.stdout.write(globals.json ? jsonText({ id, change: "deleted" }) : `deleted ${id}\n`);
  return 0;
}
