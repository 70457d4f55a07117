/** Finding the program of an engine, and what the installed version says of its options. */
import { findExecutable, run } from "../platform/process.ts";
import { stat } from "../platform/files.ts";
import { isAbsolute } from "../platform/path.ts";
import type { Command } from "./types.ts";

/** Milliseconds for a help text: engines in Python load half of their world before they print it. */
const HELP_MS = 90_000;
/** Bytes of a help text. */
const HELP_LIMIT = 1024 * 1024;

/** A command whose program is here. */
export interface Installed {
  command: Command;
  /** As it is shown: the name where it was found on PATH. */
  name: string;
  /** Absolute. */
  program: string;
  /** What it prints of its options; null where that cannot be had, or is not looked at. */
  help: string | null;
}

/** Where to look. */
export interface Search {
  /** The value of PATH. */
  path: string;
  env: Record<string, string>;
  cwd: string;
  signal: AbortSignal;
}

/** The first of the commands whose program is installed; null when none is. Throws the signal's reason. */
export async function findInstalled(commands: readonly Command[], search: Search): Promise<Installed | null> {
  for (const command of commands) {
    for (const name of command.programs) {
      const program = isAbsolute(name) ? await fileAt(name) : await findExecutable(name, search.path, { notBelow: [] });
      if (program === null) continue;
      const help = await readHelp(program, command, search);
      if (help !== "absent") return { command, name, program, help };
    }
  }
  return null;
}

async function fileAt(path: string): Promise<string | null> {
  return (await stat(path).catch(() => null))?.kind === "file" ? path : null;
}

/** `absent`: the program is there, but not the module it was to run. */
async function readHelp(program: string, command: Command, search: Search): Promise<string | null | "absent"> {
  const last = command.help.at(-1);
  for (const words of command.help) {
    let text = "";
    const decoder = new TextDecoder();
    const { ended, code } = await run({
      argv: [program, ...words],
      env: search.env,
      cwd: search.cwd,
      signal: search.signal,
      timeoutMs: HELP_MS,
      onOutput: (bytes) => {
        if (text.length < HELP_LIMIT) text += decoder.decode(bytes, { stream: true });
      },
    });
    search.signal.throwIfAborted();
    if (code !== 0 && /No module named/.test(text)) return "absent";
    // A refusal of `--help=all` may name a few options too; only from the last way such a text counts.
    if (ended === "exit" && /(?<![\w-])--[a-z]/.test(text) && (code === 0 || words === last)) return text;
  }
  return null;
}
