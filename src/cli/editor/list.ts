/** Shows what the editor finds on this machine for this project. */
import { inspect } from "../../editor/inspect.ts";
import { readLedger } from "../../editor/ledger.ts";
import { LIMITS } from "../../editor/limits.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice, warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** Exit 0 whatever is found. */
export async function run({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const scene = await openScene(options, context);
  const { found, problems } = inspect(scene.dialect, scene.around, await readLedger(scene.home));
  const { io, globals } = context;
  if (globals.json) {
    const artifacts = found.map(({ entry: _, ...one }) => one);
    return await io.stdout.write(jsonText({ dialect: scene.dialect.id, artifacts, problems, limits: LIMITS }));
  }
  await notice(context, `dialect ${scene.dialect.id}, project ${scene.around.root}`);
  if (found.length === 0) await notice(context, "nothing is there");
  else {
    const rows = found.map((one) => [
      one.kind,
      clean(one.name),
      one.scope,
      one.ours ? "agentcli" : "others",
      clean(scene.shown(one.path)),
      one.problems.length > 0 ? `${one.problems.length} problems (see editor check)` : one.precedence ?? "",
    ]);
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["KIND", "NAME", "SCOPE", "BY", "PATH", "NOTE"], ...rows], { width }));
  }
  for (const problem of problems) await warn(context, problem);
}
