/** Finds the program of an engine, what its installed version offers, and the environment that it gets. */
import { harmlessEnvironment } from "../boundary/policy/environment.ts";
import { findProgram } from "../boundary/programs.ts";
import type { Io } from "../platform/io.ts";
import { runForText } from "../platform/process.ts";
import { isFile } from "../platform/real_path.ts";
import { isAbsolute } from "../platform/path.ts";
import { type Command, flagsOf } from "./engine.ts";

/** Milliseconds for a help text: engines in Python load many modules before they print it. */
const HELP_MS = 90_000;
/** Bytes of a help text. */
const HELP_LIMIT = 1024 * 1024;

/** A command whose program is installed. */
export interface Installed {
  command: Command;
  /** As it is shown: the name where it was found on PATH. */
  name: string;
  /** Absolute. */
  program: string;
  /** Its help text on options; null if that is unavailable or not needed. */
  help: string | null;
}

interface Search {
  path: string;
  /** Leads to the home: what is in a protected project does not count. A virtual environment elsewhere does. */
  io: Pick<Io, "env" | "os">;
  env: Record<string, string>;
  cwd: string;
  signal: AbortSignal;
}

/** Returns the first of the commands whose program is installed; null when none is. Throws the signal's reason. */
export async function findInstalled(commands: readonly Command[], search: Search): Promise<Installed | null> {
  for (const command of commands) {
    for (const name of command.programs) {
      const program = isAbsolute(name)
        ? isFile(name) ? name : null
        : await findProgram(name, { path: search.path, roots: [], io: search.io });
      if (program === null) continue;
      const help = await readHelp(program, command, search);
      if (help !== "absent") return { command, name, program, help };
    }
  }
  return null;
}

/** `absent`: the program is there, but not the module it was to run. */
async function readHelp(program: string, command: Command, search: Search): Promise<string | null | "absent"> {
  const last = command.help.at(-1);
  const required = command.options.filter((option) => option.required).map(({ flag }) => flag);
  for (const words of command.help) {
    const { ended, code, stdout, stderr } = await runForText({
      argv: [program, ...words],
      env: search.env,
      cwd: search.cwd,
      signal: search.signal,
      timeoutMs: HELP_MS,
      limit: HELP_LIMIT,
    });
    search.signal.throwIfAborted();
    const text = stdout + stderr;
    if (code !== 0 && /No module named/.test(text)) return "absent";
    // A refusal of `--help=all` may name a few options too, so such a text counts only for the last attempt. Every
    // version has what is required: a text without it lists something else, such as groups of options.
    const flags = flagsOf(text);
    const isList = required.length === 0 ? flags.size > 0 : required.some((flag) => flags.has(flag));
    if (ended === "exit" && isList && (code === 0 || words === last)) return text;
  }
  return null;
}

/** Returns the user's variables without keys, and with the engine's settings. */
export function engineEnvironment(
  inherited: Readonly<Record<string, string>>,
  options: { set: Readonly<Record<string, string>>; secret: readonly string[]; download: boolean },
): Record<string, string> {
  // Models may be behind it.
  const kept = options.download ? ["HF_TOKEN"] : [];
  return { ...harmlessEnvironment(inherited, options.secret, { kept }), ...options.set };
}
