/** The scripts of the scaffolded hooks, with their parameters filled in. Load it lazily: it holds all the texts. */
import { powershellQuoted, shellQuoted } from "../../shell/quote.ts";
import { didYouMean } from "../../config/suggest.ts";
import { AgentcliError } from "../../errors.ts";
import { normalize } from "../../platform/path.ts";
import { type ScaffoldId, SCAFFOLDS } from "./events.ts";
import FORMAT_PS1 from "../scaffolds/format-on-write.ps1" with { type: "text" };
import FORMAT_SH from "../scaffolds/format-on-write.sh" with { type: "text" };
import GUARD_PS1 from "../scaffolds/no-cloud-guard.ps1" with { type: "text" };
import GUARD_SH from "../scaffolds/no-cloud-guard.sh" with { type: "text" };
import PASS_ON_PS1 from "../scaffolds/pass-on.ps1" with { type: "text" };
import PASS_ON_SH from "../scaffolds/pass-on.sh" with { type: "text" };

/** One script for each shell. */
export interface Scripts {
  bash: string;
  powershell: string;
}

const TEXTS: Readonly<Record<ScaffoldId, Scripts>> = {
  "no-cloud-guard": { bash: GUARD_SH, powershell: GUARD_PS1 },
  "audit-log": passingOn({
    name: "audit-log",
    about: "one line of JSON for each action of the assistant, without content and without protected names.",
    note:
      "home: in the home of agentcli. project: audit-log.jsonl in the directory of the editor, if the project has one.",
    parameter: "log",
    value: "home",
  }),
  "setup-worktree": passingOn({
    name: "setup-worktree",
    about: "copies into a new worktree what git does not bring. A protected file is copied only when it is listed.",
    note: "Files and directories of the project, joined by commas.",
    parameter: "copy",
    value: "",
  }),
  "format-on-write": { bash: FORMAT_SH, powershell: FORMAT_PS1 },
  "session-note": passingOn({
    name: "session-note",
    about: "adds the assistant's answers to a file of notes. An answer with protected content is left out.",
    note: "A file of the project.",
    parameter: "file",
    value: "session-notes.md",
  }),
};

/** Returns the scripts of a scaffold that pass the input on, with one parameter. */
function passingOn(texts: Readonly<Record<"name" | "about" | "note" | "parameter" | "value", string>>): Scripts {
  const filled = (script: string) =>
    Object.entries(texts).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, () => value), script);
  return { bash: filled(PASS_ON_SH), powershell: filled(PASS_ON_PS1) };
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns why a parameter of a scaffold cannot have a value; null when it can. */
function valueProblem(id: ScaffoldId, name: string, { value }: { value: string }): string | null {
  // deno-lint-ignore no-control-regex -- a script line must stay one line
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(value)) return `the value of ${name} holds a control character`;
  if (name === "limit_seconds" && !/^[1-9]\d{0,2}$/.test(value)) return "limit_seconds is a whole number from 1 to 999";
  const choices = SCAFFOLDS[id].choices?.[name];
  if (choices !== undefined && !choices.includes(value)) return `${name} is ${choices.join(" or ")}`;
  if ((name === "agentcli" || name === "file") && value.trim() === "") return `${name} needs a value`;
  return name === "file" && /^\.\.(?:\/|$)/.test(normalize(value)) ? "the file of notes lies in the project" : null;
}

/**
 * Parameters by name. Throws `usage` for a name that the scaffold does not have, and for a value that it cannot have.
 */
export function readParameters(id: ScaffoldId, settings: readonly string[]): Map<string, string> {
  const known = SCAFFOLDS[id].parameters;
  return new Map(settings.map((setting) => {
    const at = setting.indexOf("=");
    const [name, value] = [setting.slice(0, Math.max(at, 0)), setting.slice(at + 1)];
    if (!known.includes(name)) {
      throw new AgentcliError("usage", `${id} has no parameter "${name || setting}"`, {
        hint: didYouMean(name, known) ?? `it has ${known.join(", ")}; write --set name=value`,
      });
    }
    const problem = valueProblem(id, name, { value });
    if (problem !== null) throw new AgentcliError("usage", problem);
    return [name, value];
  }));
}

/** Returns the scripts with these parameters. */
export function scriptsOf(id: ScaffoldId, parameters: ReadonlyMap<string, string>): Scripts {
  let { bash, powershell } = TEXTS[id];
  for (const [name, value] of parameters) {
    const [inBash, inPowershell] = [
      `${name}=${shellQuoted(value)}`,
      `$${camelCase(name)} = ${powershellQuoted(value)}`,
    ];
    bash = bash.replace(new RegExp(`^${name}='[^']*'$`, "m"), () => inBash);
    powershell = powershell.replace(new RegExp(`^\\$${camelCase(name)} = '[^']*'$`, "m"), () => inPowershell);
  }
  return { bash, powershell };
}

/** Returns the parameters of a bash script that was written with them. */
export function parametersOf(id: ScaffoldId, bash: string): Map<string, string> {
  return new Map(SCAFFOLDS[id].parameters.flatMap((name): [string, string][] => {
    const quoted = new RegExp(`^${name}='(.*)'$`, "m").exec(bash)?.[1];
    return quoted === undefined ? [] : [[name, quoted.replaceAll("'\\''", "'")]];
  }));
}
