/** Deletes the sessions that were last written long ago, after asking. */
import { AgentcliError } from "../../errors.ts";
import { listSessions } from "../../session/list.ts";
import { deleteSession } from "../../session/remove.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice, warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScope } from "./scope.ts";
import { sizeText } from "./summary_text.ts";
import type { PRUNE_OPTIONS } from "./verb.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Exit 1 when the person at the terminal said no. Sessions in use are passed over. */
export async function run({ options, context }: Invocation<typeof PRUNE_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const { olderThan } = options;
  if (olderThan === undefined) {
    throw new AgentcliError("usage", "agentcli sessions prune needs --older-than", {
      hint: "for example: --older-than 30",
    });
  }
  const { home, scope } = await openScope(context, options);
  const limit = io.clock.now() - olderThan * DAY_MS;
  const old = (await listSessions(home, scope)).filter((session) => session.updated < limit);
  if (old.length === 0 && !globals.json) {
    await notice(context, `no session was last written over ${olderThan} days ago`);
    return 0;
  }
  const size = old.reduce((sum, session) => sum + session.size, 0);
  const what = `${old.length} ${old.length === 1 ? "session" : "sessions"} (${sizeText(size)})`;
  if (
    old.length > 0 && !globals.yes && !await confirm(io, `Delete ${what}, last written over ${olderThan} days ago?`)
  ) {
    await notice(context, "nothing changed");
    return 1;
  }
  const deleted: string[] = [];
  for (const session of old) {
    try {
      await deleteSession(home, session);
      deleted.push(session.id);
    } catch (error) {
      if (!(error instanceof AgentcliError) || error.code !== "session_in_use") throw error;
      await warn(context, `${session.id} is in use and stays`);
    }
  }
  await io.stdout.write(globals.json ? jsonText({ deleted }) : `deleted ${deleted.length} of ${what}\n`);
  return 0;
}
