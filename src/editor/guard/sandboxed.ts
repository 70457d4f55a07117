/**
 * The one form in which an assistant's command runs where there is a sandbox: `agentcli sandbox -- 'COMMAND'`, as one
 * simple command that every shell reads alike. Then it does not matter what it names: protected paths do not exist for
 * it.
 */
import { isAbsolute, isWithin, join, resolve } from "../../platform/path.ts";
import { isFile, realOrNamed } from "../../platform/real_path.ts";
import { plainWords } from "../../shell/command.ts";

/** The default name of the program. */
const USUAL_NAME = "agentcli";
/** Lines of the program itself that show nothing of the project's files, and start no program. */
const OWN_LINES: readonly string[] = ["providers validate", "--version"];
/** The beginning of a line that was to run in the sandbox. */
const NEARLY_RIGHT = /^(?:\S*\/)?agentcli(?:\s+-[-\w]+)*\s+sandbox(?:\s+--?\w[-\w]*)*\s+--\s+/;
/** For a longer command, the advice shows only the form. In characters. */
const SHOWN_LIMIT = 1_000;

export interface CommandPlace {
  /** How the hook calls the program; `agentcli` on PATH counts too. */
  program: string;
  /** The value of PATH. */
  path: string;
  cwd: string;
  /** Real paths of the projects: a program in them can be changed by a command. */
  roots: readonly string[];
}

/** Returns whether a line only runs a command in the sandbox, or one that shows nothing. */
export function isSandboxed(line: string, place: CommandPlace): boolean {
  const [program, ...words] = plainWords(line) ?? [];
  if (program?.text !== place.program && program?.text !== USUAL_NAME) return false;
  const [command, dashes, ...given] = words;
  // The program and its words are taken literally; whoever has an alias of that name made it for this program.
  const isSandbox = command?.text === "sandbox" && dashes?.text === "--" && given.length > 0 &&
    given.every(({ quoted }) => quoted);
  return (isSandbox || OWN_LINES.includes(words.map(({ text }) => text).join(" "))) &&
    replaceableBy(program.text, place) === null;
}

/**
 * Returns the place that a command can write to, and where a shell would find the program: the file that it would run,
 * or a directory of PATH, whether or not it exists yet. Null where there is none.
 */
function replaceableBy(program: string, { path, cwd, roots }: CommandPlace): string | null {
  const inRoots = (place: string) =>
    [place, realOrNamed(place)].some((one) => roots.some((root) => isWithin(root, one)));
  if (program.includes("/")) {
    const file = resolve(cwd, program);
    return inRoots(file) ? file : null;
  }
  for (const directory of path === "" ? [] : path.split(":")) {
    // A relative one is another directory wherever a command runs.
    if (!isAbsolute(directory) || inRoots(directory)) return directory || ".";
    const file = join(directory, program);
    if (isFile(file)) return inRoots(file) ? file : null;
  }
  return null;
}

/** Returns whether a shell finds a program of that name. */
export function isOnPath(name: string, { path }: CommandPlace): boolean {
  return path.split(":").some((directory) => isAbsolute(directory) && isFile(join(directory, name)));
}

/** Returns why a command does not run as it is, and how it would. */
export function sandboxAdvice(line: string, place: CommandPlace): { reason: string; instead: string } {
  const reason = "commands run in the sandbox here, where what .agentclisecret protects cannot be read";
  const isPlain = plainWords(place.program)?.length === 1;
  const program = isPlain ? place.program : `'${place.program}'`;
  const replaceable = replaceableBy(place.program, place);
  if (replaceable !== null) {
    const instead = `Commands can write to ${replaceable}, where a shell looks for agentcli: the user installs it ` +
      "outside of the project and names it by its whole path (agentcli editor add hook no-cloud-guard --set agentcli=PATH)";
    return { reason, instead };
  }
  const text = line.trim().replace(NEARLY_RIGHT, "");
  const form = `${program} sandbox -- '${text.replaceAll("'", `'"'"'`)}'`;
  const instead = text.length > SHOWN_LIMIT || !isSandboxed(form, place)
    ? `Run it as one line: ${program} sandbox -- 'COMMAND' (in single quotes, a single quote in it as '"'"'; bash runs it)`
    : `Run this instead: ${form}`;
  return { reason, instead };
}
