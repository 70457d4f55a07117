/** Prints a stored session. */
import { sessionMarkdown, sessionValue } from "../../session/export.ts";
import { loadTranscript } from "../../session/load.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openNamed } from "./scope.ts";
import type { LIST_OPTIONS } from "./verb.ts";

/** Runs the verb. */
export async function run({ options, arguments: words, context }: Invocation<typeof LIST_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const { home, session } = await openNamed(context, { id: words[0] ?? "", all: options.all });
  const stored = await loadTranscript(home, session);
  await io.stdout.write(
    globals.json ? jsonText(sessionValue(stored)) : clean(sessionMarkdown(stored), { multiline: true }),
  );
  for (const problem of stored.problems) await warn(context, problem);
}
