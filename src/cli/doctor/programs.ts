/** Programs that tools use. */
import type { Io } from "../../platform/io.ts";
import { findExecutable, run } from "../../platform/process.ts";
import { isMissingPermission } from "../../platform/runtime.ts";
import type { Check } from "./check.ts";
import { failed } from "./home.ts";

/** Longest wait for a version, in milliseconds. */
const VERSION_MS = 3_000;

const WANTED = [
  { id: "git", names: ["git"], without: "the tool Git and the history of projects are missing" },
  { id: "ripgrep", names: ["rg"], without: "searches work without it, but slower" },
] as const;

const HINTS = { linux: "apt install", darwin: "brew install", windows: "winget install" } as const;
const PACKAGES = { git: "git", ripgrep: "ripgrep" } as const;

/** git, ripgrep and the shell of commands. What lies in the project does not count. */
export async function checkPrograms(io: Io, { cwd }: { cwd: string }): Promise<Check[]> {
  const path = io.env("PATH") ?? "";
  const find = (name: string) => findExecutable(name, path, { notBelow: [cwd] });
  const programs = await Promise.all(WANTED.map(async ({ id, names: [name], without }): Promise<Check> => {
    const program = await find(name);
    if (program === null) {
      return { id, state: "warn", message: `not found: ${without}`, hint: `${HINTS[io.os]} ${PACKAGES[id]}` };
    }
    const version = await versionOf(program).catch((error) => failed(id, error));
    if (version !== null && typeof version !== "string") return { ...version, state: "warn" };
    if (version === null) return { id, state: "warn", message: `${program} does not run`, hint: "install it anew" };
    return { id, state: "ok", message: `${version} (${program})`, facts: { path: program } };
  }));
  return [...programs, await checkShell(io, find)];
}

async function checkShell({ os }: Io, find: (name: string) => Promise<string | null>): Promise<Check> {
  const names = os === "windows" ? ["pwsh", "powershell"] : ["bash", "sh"];
  for (const name of names) {
    const program = await find(name);
    if (program !== null) return { id: "shell", state: "ok", message: program, facts: { path: program } };
  }
  return { id: "shell", state: "warn", message: "none found: commands cannot run", hint: `install ${names[0]}` };
}

/** The first line of `--version`; null when the program fails. Throws when Deno was not permitted to run it. */
async function versionOf(program: string): Promise<string | null> {
  let text = "";
  const decoder = new TextDecoder();
  const outcome = await run({
    argv: [program, "--version"],
    cwd: "/",
    env: {},
    timeoutMs: VERSION_MS,
    onOutput(bytes) {
      if (text.length < 1000) text += decoder.decode(bytes, { stream: true });
    },
  }).catch((error) => {
    if (isMissingPermission(error)) throw error;
    return null;
  });
  return outcome?.ended === "exit" && outcome.code === 0 ? text.split("\n")[0] ?? "" : null;
}
