/** `local-model serve --dry-run`: the command and its variables, and nothing started. */
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import { prepareCommands } from "./commands.ts";
import type { Task } from "./task.ts";
import { tellLeftOut } from "./tell.ts";

/** Prints what would be run. Programs that are installed are asked for their options; no network is used. */
export async function dryRun(task: Task): Promise<number> {
  const { context, engine, asking } = task;
  const prepared = await prepareCommands(task, { absent: "assume" });
  const { io, globals } = context;
  if (globals.json) {
    await io.stdout.write(jsonText({
      engine: engine.id,
      product: engine.product,
      installed: prepared.installed,
      base_url: asking.endpoint.baseUrl,
      commands: prepared.shown,
      variables: prepared.variables,
      left_out: prepared.leftOut,
    }));
    return 0;
  }
  for (const line of prepared.shown) await io.stdout.write(clean(line) + "\n");
  await tellLeftOut(context, prepared.leftOut);
  if (!prepared.installed) {
    await notice(context, `not installed here, so its options were not checked: ${engine.install[io.os]}`);
  }
  return 0;
}
