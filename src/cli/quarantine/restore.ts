/** Puts an entry of the quarantine back. */
import { restoreQuarantined } from "../../boundary/sandbox/quarantine.ts";
import { AgentcliError } from "../../errors.ts";
import { homePath } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice, warn } from "../say.ts";
import type { Invocation } from "../verb.ts";

/** Exit 1 when a file stayed in quarantine. */
export async function run({ arguments: [id = ""], context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const done = await restoreQuarantined(homePath(io), id);
  if (done === null) {
    throw new AgentcliError("usage", `there is nothing in quarantine with the id ${clean(id)}`, {
      hint: "agentcli quarantine list",
    });
  }
  if (globals.json) await io.stdout.write(jsonText({ id, ...done }));
  else {
    for (const path of done.restored) await notice(context, `restored ${path}`);
    for (const path of done.blocked) {
      await warn(context, `${path} stays in quarantine: something stands there by now, or its directory is gone`);
    }
  }
  return done.blocked.length === 0 ? 0 : 1;
}
