/** Prints the version, with `--json` as an object. */
import type { Invocation } from "../verb.ts";
import { VERSION } from "../version.ts";

export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  await io.stdout.write(globals.json ? JSON.stringify({ version: VERSION }) + "\n" : `${VERSION} (agentcli)\n`);
}
