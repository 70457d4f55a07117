/** Prints version, commit, form and runtime; with `--json` as an object. */
import { programDirectory, runtimeFacts } from "../../platform/runtime.ts";
import type { Invocation } from "../command.ts";
import { COMMIT, VERSION } from "../version.ts";

/** The first line is that of `--version`. `commit` is null in JSON where it is not known: outside of a checkout. */
export async function run({ context }: Pick<Invocation, "context">): Promise<void> {
  const { io, globals } = context;
  const { version: runtime, form, system } = runtimeFacts();
  const commit = COMMIT === "" ? await sourceCommit(form) : COMMIT;
  const text = globals.json
    ? JSON.stringify({ version: VERSION, commit, form, runtime, system }) + "\n"
    : `${VERSION} (agentcli)\n${commit === null ? "" : `commit ${commit}, `}${form}, Deno ${runtime}, ${system}\n`;
  await io.stdout.write(text);
}

/** Letters of a commit that are shown: as many as a bundle names. */
const SHOWN = 12;

/** Returns the commit that is checked out; changes that are not committed are not seen. */
async function sourceCommit(form: string): Promise<string | null> {
  const directory = form === "source" ? programDirectory() : null;
  if (directory === null) return null;
  const { headCommit } = await import("../../boundary/policy/git_directory.ts");
  return headCommit(directory)?.slice(0, SHOWN) ?? null;
}
