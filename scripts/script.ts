/**
 * How the scripts with options are called: `--help` is the comment at the head of the script, a failure is one line.
 */

/** A failure whose message says what to do. */
export class ScriptError extends Error {
  override readonly name: string = "ScriptError";
}

/** A script's line that means nothing; exit code 2, as in the program. */
export class UsageError extends ScriptError {
  override readonly name: string = "UsageError";
}

/** Which options there are: `value` takes the next word, `list` does and may be given again, `flag` stands alone. */
export type Options = Readonly<Record<string, "flag" | "value" | "list">>;

/** What was given. */
export interface Given {
  flags: ReadonlySet<string>;
  /** Of `value` and `list`, in the order of the line. */
  values: Readonly<Record<string, readonly string[]>>;
  /** What is no option. */
  words: readonly string[];
}

/**
 * Reads a script's line. Throws {@link UsageError} for whatever is not in `options`, and for more than `words` words.
 */
export function readLine(args: readonly string[], options: Options, { words: most = 0 } = {}): Given {
  const flags = new Set<string>();
  const values: Record<string, string[]> = {};
  const words: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const name = word.slice(2);
    const kind = word.startsWith("--") && Object.hasOwn(options, name) ? options[name] : undefined;
    if (kind === "flag") flags.add(name);
    else if (kind !== undefined) {
      const value = args[++at];
      if (value === undefined || value === "") throw new UsageError(`${word} needs a value`);
      if (kind === "value" && values[name] !== undefined) throw new UsageError(`${word} is given twice`);
      (values[name] ??= []).push(value);
    } else if (word.startsWith("-")) throw new UsageError(`unknown option ${word}`);
    else if (words.length === most) throw new UsageError(`unknown argument ${word}`);
    else words.push(word);
  }
  return { flags, values, words };
}

/** The comment at the head of the module `url`, for a person. */
async function helpOf(url: string): Promise<string> {
  const comment = /^\/\*\*(.*?)\*\//s.exec(await Deno.readTextFile(new URL(url)))?.[1] ?? "";
  return comment.replace(/^ *\* ?/gm, "").trim() + "\n";
}

/** Does the work of the script `url` that was started, or prints its help; ends the process where that fails. */
export async function perform(url: string, work: (args: readonly string[]) => Promise<void> | void): Promise<void> {
  try {
    if (Deno.args.some((word) => word === "--help" || word === "-h")) console.log((await helpOf(url)).trimEnd());
    else await work(Deno.args);
  } catch (error) {
    const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
    if (!full && !(error instanceof ScriptError)) throw error;
    console.error(full ? "no space left on the disk" : error.message);
    if (error instanceof UsageError) console.error(`  see: ${new URL(url).pathname.split("/").at(-1)} --help`);
    Deno.exit(error instanceof UsageError ? 2 : 1);
  }
}
