/** Prints version, commit, form and runtime; with `--json` as an object. */
import { commitOfCheckout, programDirectory, runtimeFacts } from "../../platform/runtime.ts";
import type { Invocation } from "../command.ts";
import { COMMIT, VERSION } from "../version.ts";

/** The first line is that of `--version`. `commit` is null in JSON where it is not known: outside of a checkout. */
export async function run({ context }: Pick<Invocation, "context">): Promise<void> {
  const { io, globals } = context;
  const { version: runtime, form, system } = runtimeFacts();
  const commit = COMMIT === "" ? sourceCommit(form) : COMMIT;
  const text = globals.json
    ? JSON.stringify({ version: VERSION, commit, form, runtime, system }) + "\n"
    : `${VERSION} (agentcli)\n${commit === null ? "" : `commit ${commit}, `}${form}, Deno ${runtime}, ${system}\n`;
  await io.stdout.write(text);
}

function sourceCommit(form: string): string | null {
  const directory = form === "source" ? programDirectory() : null;
  return directory === null ? null : commitOfCheckout(directory);
}
