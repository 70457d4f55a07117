/** Prints where providers.yaml lies, whether or not it is there. */
import { PROVIDERS_FILE } from "../../config/load.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb; a file that is not there yet is no failure. */
export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  const path = home.file(PROVIDERS_FILE);
  const exists = await home.status(PROVIDERS_FILE) !== null;
  // A program that reads the path needs its bytes; only an eye needs it cleaned.
  const shown = io.stdout.isTerminal ? clean(path) : path;
  await io.stdout.write(globals.json ? jsonText({ path, exists }) : shown + "\n");
}
