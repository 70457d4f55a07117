/** What a verb says beside its result: on stderr, cleaned, and not at all with `--quiet`. */
import { clean } from "../terminal/clean.ts";
import type { Context } from "./verb.ts";

/** Something good to know, one line. */
export async function notice({ io, globals }: Context, text: string): Promise<void> {
  if (!globals.quiet) await io.stderr.write(clean(text) + "\n");
}

/** Something that is likely wrong but no failure, one line. */
export async function warn(context: Context, text: string): Promise<void> {
  await notice(context, `warning: ${text}`);
}
