/** Writes a stored session as Markdown or JSON. */
import { AgentcliError } from "../../errors.ts";
import { lstat, writeAtomically } from "../../platform/files.ts";
import { resolve } from "../../platform/path.ts";
import { sessionMarkdown, sessionValue } from "../../session/export.ts";
import { loadTranscript } from "../../session/load.ts";
import { reasonOf } from "../../session/store_error.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice, warn } from "../say.ts";
import type { Context, Invocation } from "../verb.ts";
import { openNamed } from "./scope.ts";
import type { EXPORT_OPTIONS } from "./verb.ts";

/** Runs the verb. `--json` is `--format json`. */
export async function run({ options, arguments: words, context }: Invocation<typeof EXPORT_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const { home, session } = await openNamed(context, { id: words[0] ?? "", all: options.all });
  const stored = await loadTranscript(home, session);
  const format = options.format ?? (globals.json ? "json" : "markdown");
  const text = format === "json" ? jsonText(sessionValue(stored)) : sessionMarkdown(stored);
  if (options.output === undefined) {
    await io.stdout.write(io.stdout.isTerminal ? clean(text, { multiline: true }) : text);
  } else {
    await writeExport(options.output, text, context);
    await notice(context, `wrote ${options.output}`);
  }
  for (const problem of stored.problems) await warn(context, problem);
}

/** For the owner alone: a session can hold what other users of the machine should not read. */
async function writeExport(output: string, text: string, { globals }: Context): Promise<void> {
  const path = resolve(globals.cwd, output);
  try {
    const found = await lstat(path);
    if (found?.kind === "directory" || /[/\\]$/.test(output)) {
      throw new AgentcliError("usage", `${output} is a directory`, { hint: "name a file in it" });
    }
    if (found !== null && found.kind !== "file") throw new AgentcliError("usage", `${path} is no regular file`);
    if (found !== null && !globals.yes) {
      throw new AgentcliError("usage", `${path} exists already`, { hint: "choose another name, or replace it: --yes" });
    }
    await writeAtomically(path, text, { mode: 0o600 });
  } catch (error) {
    if (error instanceof AgentcliError) throw error;
    throw new AgentcliError("usage", `cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}
