/** Runs `agentcli quarantine …`: lists quarantined files and restores them. */
import { listQuarantine, protectRestored, restoreQuarantined } from "./entries.ts";
import { homePath, openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { notice, warn } from "../output.ts";
import { print, tableFor } from "../result.ts";
import type { Invocation } from "../command.ts";
import { AgentcliError } from "../../errors.ts";

/** Runs the command. */
export async function listEntries({ context }: Invocation): Promise<void> {
  const { io } = context;
  const entries = listQuarantine(homePath(io));
  const shown = entries.map(({ time, isSecret: _, ...entry }) => ({ ...entry, time: new Date(time).toISOString() }));
  const rows = entries.flatMap(({ id, paths }) => paths.map((path) => [id, clean(path)]));
  const text = tableFor(io.stdout, [["ID", "ORIGINAL PATH"], ...rows]);
  await print(context, {
    json: { entries: shown },
    ...rows.length === 0 ? { told: "the quarantine is empty" } : { text },
  });
}

/** Restores one entry. Returns 1 if a file stayed in quarantine. */
export async function restoreEntry({ arguments: [id = ""], context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const done = await restoreQuarantined(homePath(io), id);
  if (done === null) {
    throw new AgentcliError("usage", `no quarantine entry has the id ${clean(id)}`, {
      hint: "agentcli quarantine list",
    });
  }
  const { entry, restored, blocked } = done;
  const told = await protectRestored(await openHome(io), entry, restored);
  if (told !== null) await notice(context, told);
  await print(context, { json: { id, restored, blocked } });
  for (const path of globals.json ? [] : restored) await notice(context, `restored ${path}`);
  for (const path of globals.json ? [] : blocked) {
    await warn(context, `${path} stays in quarantine: the path is taken, or its directory is gone`);
  }
  return blocked.length === 0 ? 0 : 1;
}
