/** Shows what apply would do. */
import { planChanges } from "../../editor/plan/apply.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { planJson, planText, problemLines } from "./carry_out.ts";
import { allInOrder } from "./reconcile.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** Writes nothing; exit 0 whatever the plan holds. */
export async function run({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const scene = await openScene(options, context);
  const plan = await planChanges(scene.home, await allInOrder(scene, { force: false }));
  if (context.globals.json) return await context.io.stdout.write(jsonText(await planJson(plan, scene)));
  await context.io.stdout.write(await planText(plan, scene));
  for (const problem of problemLines(plan, scene)) {
    await context.io.stderr.write(`would not be done: ${clean(problem)}\n`);
  }
  if (plan.changes.length + plan.problems.length === 0) await notice(context, "nothing to change");
}
