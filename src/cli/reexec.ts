/**
 * Runs the program again without variables that make the runtime copy text out, in projects with protected paths.
 * Source: specification of the boundary §7, threat 97.
 */
import { copyingVariables, isCopyingVariable } from "../boundary/policy/environment.ts";
import { protectedAround } from "../boundary/policy/project.ts";
import { AgentcliError } from "../errors.ts";
import { processArguments } from "../platform/deno_io.ts";
import type { Io } from "../platform/io.ts";
import { ownCommand, runOnOwnStreams } from "../platform/runtime.ts";

/**
 * Null when the process may continue: nothing in its environment copies text out, or nothing is protected in the
 * projects of `directories`; `anywhere` counts as protected, for what is decided later where it works. Otherwise the
 * program is run again without those variables, and the result is its exit code. Call it before anything is read from
 * standard input. Throws `policy_refused` where the program cannot start itself again.
 */
export async function reexecWithoutLeaks(io: Io, directories: readonly string[] | "anywhere"): Promise<number | null> {
  const names = copyingVariables(io.env);
  if (names.length === 0 || (directories !== "anywhere" && !await anyProtected(io, directories))) return null;
  const command = ownCommand();
  if (command === null) throw cannotReexec(names);
  const env = Object.fromEntries(Object.entries(io.environment()).filter(([name]) => !isCopyingVariable(name)));
  return await runOnOwnStreams([...command, ...processArguments()], { env, io });
}

async function anyProtected(io: Io, directories: readonly string[]): Promise<boolean> {
  for (const directory of directories) {
    const set = await protectedAround(directory, io);
    // Searches everywhere: even a marker without a line counts.
    if (set.any || set.met) return true;
  }
  return false;
}

function cannotReexec(names: readonly string[]): AgentcliError {
  return new AgentcliError(
    "policy_refused",
    `this project has protected paths, and ${names.join(", ")} can copy text out of the process`,
    { hint: `start it without: env ${names.map((name) => `-u ${name}`).join(" ")} agentcli …, or deno run -A …` },
  );
}
