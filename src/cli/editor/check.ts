/** Says what differs from what should be, and what would not load. For people and for CI. */
import { planChanges } from "../../editor/apply.ts";
import { nothingKnown, systemElsewhere } from "../../editor/elsewhere.ts";
import { inspect } from "../../editor/inspect.ts";
import { interruptedPaths, readLedger } from "../../editor/ledger.ts";
import { earlierVersions, renewedScaffolds } from "../../editor/renew_scaffold.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** Exit 1 when there is anything to say. */
export async function run({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<number> {
  const scene = await openScene(options, context);
  const ledger = await readLedger(scene.home);
  const plan = await planChanges(scene.home, { add: [], remove: [], keep: scene.isHere, force: false });
  const inspection = inspect(scene.dialect, scene.around, ledger);
  const { found, problems } = inspection;
  const isUnknown = found.some(({ ours, scope }) => !ours && scope === "project");
  const notes = [
    ...inspection.notes,
    ...earlierVersions(await renewedScaffolds(ledger.artifacts.filter(scene.isHere))),
    ...systemElsewhere(ledger, { isHere: scene.isHere, verb: "check" }),
    ...isUnknown ? await nothingKnown(ledger, scene.around.root) : [],
  ];
  const interrupted = interruptedPaths({ ...ledger, artifacts: ledger.artifacts.filter(scene.isHere), files: {} });
  const findings = [
    ...interrupted.map((path) => ({
      kind: "interrupted",
      path,
      message: "a change of it was begun and not ended: agentcli editor apply ends it",
    })),
    ...plan.changes.map(({ path }) => ({ kind: "differs", path, message: "it is not as it was installed" })),
    ...plan.problems.map(({ path, reason, message }) => ({ kind: reason, path, message })),
    ...found.flatMap((one) =>
      one.problems.map((message) => ({ kind: "rule", path: one.path, message: `${one.kind} ${one.name}: ${message}` }))
    ),
    ...problems.map((message) => ({ kind: "place", path: scene.around.root, message })),
  ];
  if (context.globals.json) {
    await context.io.stdout.write(jsonText({ ok: findings.length === 0, dialect: scene.dialect.id, findings, notes }));
  } else if (findings.length === 0) await notice(context, "everything is as it should be");
  else {
    const lines = findings.map(({ path, message }) => `${clean(scene.shown(path))}: ${clean(message)}\n`);
    await context.io.stdout.write(lines.join(""));
  }
  if (!context.globals.json) { for (const note of notes) await notice(context, `note: ${note}`); }
  return findings.length === 0 ? 0 : 1;
}
