/** Runs `agentcli quarantine …`: lists quarantined files and restores them. */
import { listQuarantine, protectRestored, restoreQuarantined } from "./entries.ts";
import { homePath, openHome } from "../../platform/home.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import { table } from "../../terminal/table.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../command.ts";
import { AgentcliError } from "../../errors.ts";

/** Runs the command. */
export async function listEntries({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const entries = await listQuarantine(homePath(io));
  if (globals.json) {
    const shown = entries.map(({ time, isSecret: _, ...entry }) => ({ ...entry, time: new Date(time).toISOString() }));
    await io.stdout.write(jsonText({ entries: shown }));
  } else if (entries.length === 0) await notice(context, "the quarantine is empty");
  else {
    const rows = entries.flatMap(({ id, paths }) => paths.map((path) => [id, clean(path)]));
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["ID", "ORIGINAL PATH"], ...rows], { width }));
  }
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
  if (globals.json) await io.stdout.write(jsonText({ id, restored, blocked }));
  else {
    for (const path of restored) await notice(context, `restored ${path}`);
    for (const path of blocked) {
      await warn(context, `${path} stays in quarantine: the path is taken, or its directory is gone`);
    }
  }
  return blocked.length === 0 ? 0 : 1;
}
