/** Shows what others or a person wrote, and takes it over when asked. */
import { applyChanges } from "../../editor/apply.ts";
import { adopt } from "../../editor/adopt.ts";
import { inspect } from "../../editor/inspect.ts";
import { readLedger } from "../../editor/ledger.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { IMPORT_OPTIONS } from "./verb.ts";

/** Changes no file: taking over is a note in the ledger. */
export async function run({ options, arguments: words, context }: Invocation<typeof IMPORT_OPTIONS>): Promise<void> {
  const scene = await openScene(options, context);
  const foreign = inspect(scene.dialect, scene.around, await readLedger(scene.home)).found.filter(({ ours }) => !ours);
  const chosen = words.length === 0
    ? foreign
    : foreign.filter(({ kind, name }) => words.includes(name) || words.includes(`${kind}:${name}`));
  if (words.length > 0 && chosen.length === 0) throw new AgentcliError("usage", "nothing of others has that name here");
  const { io, globals } = context;
  let taken = 0;
  if (options.take) {
    const add = adopt(chosen, { dialect: scene.dialect, places: scene.places });
    await applyChanges(scene.home, { add, remove: [], keep: () => false, force: false, take: true });
    taken = add.length;
  }
  if (globals.json) {
    return await io.stdout.write(jsonText({ artifacts: chosen.map(({ entry: _, ...one }) => one), taken }));
  }
  if (chosen.length === 0) return await notice(context, "nothing of others is here");
  const rows = chosen.map(({ kind, name, scope, path, problems }) => [
    kind,
    clean(name),
    scope,
    clean(scene.shown(path)),
    clean(problems[0] ?? ""),
  ]);
  const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
  await io.stdout.write(table([["KIND", "NAME", "SCOPE", "PATH", "PROBLEM"], ...rows], { width }));
  await notice(context, options.take ? `${taken} taken over` : "take them over with --take, all or by name");
}
