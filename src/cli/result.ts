/**
 * Parts that commands share: the configuration they read and change, the result they print, the question before a
 * change.
 */
import type { EditResult, ProvidersDocument } from "../config/edit.ts";
import type { Configuration } from "../config/types.ts";
import { AgentcliError } from "../errors.ts";
import { type Home, openHome } from "../platform/home.ts";
import type { Io } from "../platform/io.ts";
import { aborted } from "../platform/time_limit.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { interruptible } from "../runtime/interrupt.ts";
import { jsonText } from "../terminal/clean.ts";
import { createProgress } from "../terminal/paced_output.ts";
import { confirm } from "../terminal/prompt.ts";
import { table as columnsOf } from "../terminal/table.ts";
import type { Context, Globals } from "./command.ts";
import { notice } from "./output.ts";

export { notice, warn } from "./output.ts";

/** Opens the home and reads the configuration. Throws `home_unusable` and `config_invalid`. */
export async function configured({ io }: Pick<Context, "io">): Promise<{ home: Home; configuration: Configuration }> {
  const [home, { loadConfiguration }] = await Promise.all([openHome(io), import("../config/load.ts")]);
  return { home, configuration: await loadConfiguration(home) };
}

/** Changes providers.yaml under its lock. Throws what `change` throws, and `config_invalid` for what does not fit. */
export async function edit(
  { io }: Pick<Context, "io">,
  change: (document: ProvidersDocument) => void,
  options: { dryRun?: boolean } = {},
): Promise<EditResult> {
  const { editProviders } = await import("../config/edit.ts");
  return await editProviders(await openHome(io), change, options);
}

interface Result {
  /** For `--json`. */
  json: unknown;
  /** Rows below a heading; `none` is printed where there are no rows. */
  table?: readonly (readonly string[])[];
  none?: string | undefined;
  /** Printed after the table, if there is one. */
  text?: string;
  /** Printed after the result, one line each; programs get none of them. */
  notes?: readonly string[];
  /** In place of a result. */
  message?: string | undefined;
}

/** Prints the result of a command: JSON with `--json`, else its text or table on stdout; messages go to stderr. */
export async function print(
  context: Context,
  { json, text = "", table, none, message, notes = [] }: Result,
): Promise<void> {
  const { io, globals } = context;
  if (globals.json) return await io.stdout.write(jsonText(json));
  const hasRows = table !== undefined && table.length > 1;
  const said = message ?? (hasRows ? undefined : none);
  if (said !== undefined) await notice(context, said);
  if (message === undefined) await io.stdout.write((hasRows ? tableFor(io.stdout, table) : "") + text);
  for (const note of notes) await notice(context, note);
}

/** Does work with an HTTP client, which is closed afterwards. */
export async function withClient<T>(
  { io }: Pick<Context, "io">,
  work: (client: HttpClient) => Promise<T>,
): Promise<T> {
  const { HttpClient } = await import("../provider/http/client.ts");
  const client = new HttpClient(io);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** Shows what is being waited for during work. */
export async function during<T>(
  { io, globals }: { io: Io; globals: Pick<Globals, "quiet"> },
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  const progress = createProgress(io, globals);
  progress.start(label);
  try {
    return await work();
  } finally {
    await progress.stop();
  }
}

/** Serves until the work ends or a signal comes, then closes what was served; returns the exit code. */
export async function serveUntilStopped(
  io: Pick<Io, "onSignal" | "clock">,
  serving: (stopped: Promise<void>) => Promise<unknown>,
): Promise<number> {
  return await interruptible({ io }, async (signal) => {
    await serving(aborted(signal));
    return signal.reason instanceof AgentcliError ? signal.reason.exitCode : 0;
  });
}

/** Asks for a yes unless `--yes` was given. Says so if nothing is changed. */
export async function confirmed(context: Context, question: string): Promise<boolean> {
  if (context.globals.yes) return true;
  const isYes = await confirm(context.io, question);
  if (!isYes) await notice(context, "nothing changed");
  return isYes;
}

/**
 * Returns rows below a heading as columns, cut to the width of a terminal; a pipe gets them whole. A column with only a
 * heading is left out.
 */
function tableFor(
  output: Pick<Io["stdout"], "isTerminal" | "columns">,
  [heading = [], ...rows]: readonly (readonly string[])[],
): string {
  const used = [...heading.keys()].filter((at) => rows.some((row) => (row[at] ?? "") !== ""));
  const shown = [heading, ...rows].map((row) => used.map((at) => row[at] ?? ""));
  return columnsOf(shown, { width: output.isTerminal ? output.columns() : Infinity });
}

/** Returns the first lines of many, and how many more there are. */
export function firstOf(lines: readonly string[], most: number): string[] {
  return lines.length > most ? [...lines.slice(0, most), `and ${lines.length - most} more`] : [...lines];
}

/** Returns data with the names of JSON; times and rates are rounded to three digits after the point. */
export function snakeKeys(value: unknown): unknown {
  if (typeof value === "number") return Math.round(value * 1000) / 1000;
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), snakeKeys(member)]));
}
