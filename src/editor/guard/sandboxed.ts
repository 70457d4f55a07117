/**
 * The one form in which an assistant's command runs where there is a sandbox: `agentcli sandbox -- COMMAND`, as one simple
 * command that every shell reads alike. What it names does not matter then: protected paths are not there for it.
 */
import { quietly, realOrNamed } from "../../boundary/real_path.ts";
import { statSync } from "../../platform/files_sync.ts";
import { basename, isWithin, join, resolve } from "../../platform/path.ts";
import { plainWords } from "../../shell/command.ts";

/** The name that the program has where nothing else is said. */
const USUAL_NAME = "agentcli";
/** Lines of the program itself that show nothing of the project's files. */
const OWN_LINES: readonly string[] = ["doctor", "providers validate", "--version"];
/** A longer command is told in general how to be run. Characters. */
const SHOWN_LIMIT = 1_000;

/** Where commands run. */
export interface CommandPlace {
  /** How the hook calls the program; what stands on PATH as `agentcli` counts too. */
  program: string;
  /** The value of PATH. */
  path: string;
  cwd: string;
  /** Real paths of the projects: a program in them can be changed by a command. */
  roots: readonly string[];
}

/** Returns whether a line only runs a command in the sandbox, or one that shows nothing. */
export function isSandboxed(line: string, place: CommandPlace): boolean {
  const [program = "", ...words] = plainWords(line) ?? [];
  if (program !== place.program && program !== USUAL_NAME) return false;
  const isSandbox = words[0] === "sandbox" && words[1] === "--" && words.length > 2;
  return (isSandbox || OWN_LINES.includes(words.join(" "))) && programInRoots(program, place) === null;
}

/** Returns the file in a project that a shell runs as the program; null where it is none, or not found. */
function programInRoots(program: string, { path, cwd, roots }: CommandPlace): string | null {
  const places = program.includes("/")
    ? [program]
    : path.split(":").map((directory) => join(directory || ".", program));
  const found = places.map((one) => resolve(cwd, one)).find((one) => quietly(() => statSync(one))?.kind === "file");
  if (found === undefined) return null;
  return [found, realOrNamed(found)].some((one) => roots.some((root) => isWithin(root, one))) ? found : null;
}

/** Returns why a command does not run as it is, and how it does. */
export function sandboxAdvice(line: string, place: CommandPlace): { reason: string; instead: string } {
  const reason = "commands run in the sandbox here, where what .agentclisecret protects is not there";
  const program = plainWords(place.program)?.length === 1 ? place.program : `'${place.program}'`;
  const stands = programInRoots(place.program, place);
  if (stands !== null) {
    const instead = `${basename(stands)} is in the project (${stands}), where commands can change it: ` +
      "the user installs it elsewhere first";
    return { reason, instead };
  }
  const text = line.trim();
  const forms = [text, `bash -c '${text.replaceAll("'", `'"'"'`)}'`].map((form) => `${program} sandbox -- ${form}`);
  const form = text.length > SHOWN_LIMIT ? undefined : forms.find((one) => isSandboxed(one, place));
  const instead = form === undefined
    ? `Run it as one line: ${program} sandbox -- COMMAND (a script as bash -c '…'; outside of single quotes no backslash, ` +
      "no variable and no !)"
    : `Run this instead: ${form}`;
  return { reason, instead };
}
