/** Says what differs from what should be, and what would not load. For people and for CI. */
import { planChanges } from "../../editor/plan/apply.ts";
import { nothingKnown, systemElsewhere } from "../../editor/plan/other_places.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import { interruptedPaths, readLedger } from "../../editor/plan/ledger.ts";
import type { Change, Problem } from "../../editor/plan/plan.ts";
import { earlierVersions } from "../../editor/hooks/upgrade.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** What puts right what `apply` alone does not. */
const FIXES: Readonly<Record<Problem["reason"], string>> = {
  foreign: ": agentcli editor apply --force writes over it",
  changed: ": agentcli editor apply --force writes it again",
  unusable: ": put it right, or move it away",
};

function differenceOf({ before, after }: Change): string {
  if (before === null) return "it is gone: agentcli editor apply puts it back";
  return after === null
    ? "it is to go: agentcli editor apply removes it"
    : "it is not as it was installed: agentcli editor apply puts it in order";
}

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
    ...await earlierVersions(ledger.artifacts.filter(scene.isHere)),
    ...systemElsewhere(ledger, { isHere: scene.isHere, verb: "check" }),
    ...isUnknown ? await nothingKnown(ledger, scene.around.root) : [],
  ];
  const interrupted = interruptedPaths({ ...ledger, artifacts: ledger.artifacts.filter(scene.isHere), files: {} });
  const told = new Set(plan.problems.map(({ path }) => path));
  const findings = [
    ...interrupted.map((path) => ({
      kind: "interrupted",
      path,
      message: "a change of it was begun and not ended: agentcli editor apply ends it",
    })),
    ...plan.changes.map((change) => ({ kind: "differs", path: change.path, message: differenceOf(change) })),
    ...plan.problems.map(({ path, reason, message }) => ({ kind: reason, path, message: message + FIXES[reason] })),
    ...found.flatMap((one) =>
      one.problems.map((message) => ({ kind: "rule", path: one.path, message: `${one.kind} ${one.name}: ${message}` }))
    ),
    ...problems.flatMap(({ path, message, unusable }) =>
      unusable && told.has(path)
        ? []
        : [{ kind: "place", path, message: unusable ? message + FIXES.unusable : message }]
    ),
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
