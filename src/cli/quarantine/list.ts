/** Lists what lies in quarantine. */
import { listQuarantine } from "../../boundary/sandbox/quarantine.ts";
import { homePath } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb. */
export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const entries = await listQuarantine(homePath(io));
  if (globals.json) {
    const shown = entries.map(({ time, ...entry }) => ({ ...entry, time: new Date(time).toISOString() }));
    await io.stdout.write(jsonText({ entries: shown }));
  } else if (entries.length === 0) await notice(context, "nothing is in quarantine");
  else {
    const rows = entries.flatMap(({ id, paths }) => paths.map((path) => [id, clean(path)]));
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["ID", "WAS AT"], ...rows], { width }));
  }
}
