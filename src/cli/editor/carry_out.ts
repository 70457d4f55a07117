/** The one way from a wish to the disk: plan, show, ask, do. */
import { applyChanges, planChanges } from "../../editor/apply.ts";
import { textOf } from "../../editor/disk.ts";
import type { Plan, Wanted } from "../../editor/plan.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { unifiedDiff } from "../../terminal/diff.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice } from "../say.ts";
import type { Scene } from "./scene.ts";

/** The changes of a plan as one text. */
export function planText({ changes }: Plan, { shown }: Scene): string {
  return changes.map(({ path, before, after, mode }) => {
    const name = shown(path);
    const [old, now] = [before === null ? "" : textOf(before.bytes), after === null ? "" : textOf(after)];
    if (old === null || now === null) return `binary file ${clean(name)}: ${after === null ? "removed" : "written"}\n`;
    if (after === null) return clean(unifiedDiff(old, "", { name }), { multiline: true });
    const diff = unifiedDiff(before === null ? null : old, now, { name });
    return diff === "" ? `${clean(name)}: permissions ${mode.toString(8)}\n` : clean(diff, { multiline: true });
  }).join("");
}

/** What was not done, one line each. */
export function problemLines({ problems }: Plan, { shown }: Scene): string[] {
  return problems.map(({ artifact, path, message }) => `${artifact}: ${shown(path)}: ${message}`);
}

function action({ before, after }: Plan["changes"][number]): string {
  return before === null ? "create" : after === null ? "remove" : "change";
}

/** A plan for `--json`. */
export function planJson(plan: Plan, scene: Scene): Record<string, unknown> {
  return {
    dialect: scene.dialect.id,
    changes: plan.changes.map((change) => ({
      path: change.path,
      action: action(change),
      diff: planText({ ...plan, changes: [change] }, scene),
    })),
    problems: plan.problems,
  };
}

/**
 * Plans, shows the plan, asks unless `--yes` was given, and does it. The exit code: 1 when something could not be done.
 */
export async function carryOut(wanted: Wanted, scene: Scene, options: { dryRun: boolean }): Promise<number> {
  const { io, globals } = scene.context;
  const plan = await planChanges(scene.home, wanted);
  if (!globals.json && !globals.quiet) await io.stdout.write(planText(plan, scene));
  const problems = problemLines(plan, scene);
  const isEmpty = plan.changes.length === 0;
  if (!options.dryRun) {
    if (!isEmpty && !globals.yes) await confirm(io, `Write ${countOf(plan.changes.length, "file")}?`).then(refuse);
    // Also when no file changes: what is wanted is noted all the same.
    await applyChanges(scene.home, wanted, { expected: plan });
  }
  if (globals.json) await io.stdout.write(jsonText({ ...planJson(plan, scene), applied: !options.dryRun }));
  else if (isEmpty) await notice(scene.context, "nothing to change");
  else if (!options.dryRun) await notice(scene.context, `${countOf(plan.changes.length, "file")} written`);
  for (const problem of problems) await io.stderr.write(`not done: ${clean(problem)}\n`);
  if (problems.length > 0) await notice(scene.context, "--force writes over what stands there");
  return problems.length > 0 ? 1 : 0;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function refuse(yes: boolean): void {
  if (!yes) throw new AgentcliError("usage", "nothing was written");
}
