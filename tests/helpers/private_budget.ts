/** The user's word for `mcp serve`, as it stands in the home once it was said at a terminal. */
import { Budget } from "../../src/private/budget.ts";
import { placeOf } from "../../src/private/facts.ts";
import { openHome } from "../../src/platform/home.ts";
import type { TemporaryHome } from "./home.ts";

/** Allows values for the next question about the project. */
export async function allowValues(home: TemporaryHome): Promise<void> {
  await (await budgetOf(home)).showValues(placeOf(home.project));
}

/** Allows the next task in the project to change open files. */
export async function allowChanges(home: TemporaryHome): Promise<void> {
  await (await budgetOf(home)).allowChanges(placeOf(home.project));
}

async function budgetOf(home: TemporaryHome): Promise<Budget> {
  const env = (name: string) => name === "AGENTCLI_HOME" ? home.agentcliHome : undefined;
  return new Budget(await openHome({ env, os: "linux" }), { now: () => Date.now() });
}
