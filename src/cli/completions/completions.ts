/** Prints a completion script. */
import type { Invocation } from "../verb.ts";
import { SCRIPTS } from "./scripts.ts";
import { SHELLS } from "./shells.ts";

/** Runs the verb. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const shell = SHELLS.find((name) => name === words[0]) ?? "bash";
  await context.io.stdout.write(SCRIPTS[shell]);
}
