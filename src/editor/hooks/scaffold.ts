/** The scripts of the scaffolded hooks, with their parameters filled in. Load it lazily: it holds all the texts. */
import { didYouMean } from "../../config/suggest.ts";
import { AgentcliError } from "../../errors.ts";
import { normalize } from "../../platform/path.ts";
import { type ScaffoldId, SCAFFOLDS } from "./scaffold_ids.ts";
import AUDIT_PS1 from "../scaffolds/audit-log.ps1" with { type: "text" };
import AUDIT_SH from "../scaffolds/audit-log.sh" with { type: "text" };
import FORMAT_PS1 from "../scaffolds/format-on-write.ps1" with { type: "text" };
import FORMAT_SH from "../scaffolds/format-on-write.sh" with { type: "text" };
import GUARD_PS1 from "../scaffolds/no-cloud-guard.ps1" with { type: "text" };
import GUARD_SH from "../scaffolds/no-cloud-guard.sh" with { type: "text" };
import NOTE_PS1 from "../scaffolds/session-note.ps1" with { type: "text" };
import NOTE_SH from "../scaffolds/session-note.sh" with { type: "text" };
import WORKTREE_PS1 from "../scaffolds/setup-worktree.ps1" with { type: "text" };
import WORKTREE_SH from "../scaffolds/setup-worktree.sh" with { type: "text" };

/** A script a shell. */
export interface Scripts {
  bash: string;
  powershell: string;
}

const TEXTS: Readonly<Record<ScaffoldId, Scripts>> = {
  "no-cloud-guard": { bash: GUARD_SH, powershell: GUARD_PS1 },
  "audit-log": { bash: AUDIT_SH, powershell: AUDIT_PS1 },
  "setup-worktree": { bash: WORKTREE_SH, powershell: WORKTREE_PS1 },
  "format-on-write": { bash: FORMAT_SH, powershell: FORMAT_PS1 },
  "session-note": { bash: NOTE_SH, powershell: NOTE_PS1 },
};

/** Returns a text in single quotes of bash. */
export function bashQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a text in single quotes of PowerShell, where typographic quotes end a text too. */
export function powershellQuoted(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, "$&$&")}'`;
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

/** Parameters by name. Throws `usage` for a name that the scaffold does not have, and for a value that it cannot have. */
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
    const [inBash, inPowershell] = [`${name}=${bashQuoted(value)}`, `$${camelCase(name)} = ${powershellQuoted(value)}`];
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
