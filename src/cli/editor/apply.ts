/** Puts everything that is installed here in order again. */
import type { Invocation } from "../verb.ts";
import { carryOut } from "./carry_out.ts";
import { allInOrder } from "./reconcile.ts";
import { openScene } from "./scene.ts";
import type { CHANGE_OPTIONS } from "./verb.ts";

/** Exit 1 when something could not be done. */
export async function run({ options, context }: Invocation<typeof CHANGE_OPTIONS>): Promise<number> {
  const scene = await openScene(options, context);
  return await carryOut(await allInOrder(scene, options), scene, options);
}
