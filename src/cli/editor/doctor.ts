/** Runs the installed hooks and looks for what does not load. */
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

export async function run({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<number> {
  await openScene(options, context);
  return 0;
}
