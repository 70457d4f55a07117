/** What apply does, and plan shows. */
import { readLedger } from "../../editor/plan/ledger.ts";
import { renewedScaffolds } from "../../editor/hooks/upgrade.ts";
import type { Wanted } from "../../editor/plan/operations.ts";
import type { Scene } from "./scene.ts";

/** Everything that is installed here in order, hooks of an earlier version as this one writes them. */
export async function allInOrder({ home, isHere }: Scene, { force }: { force: boolean }): Promise<Wanted> {
  const { artifacts } = await readLedger(home);
  return { add: await renewedScaffolds(artifacts.filter(isHere)), remove: [], keep: isHere, force };
}
