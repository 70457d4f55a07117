/**
 * A `pwsh` for tests: the one of this system, or the host of `host/` over the engine of PowerShell 7 from NuGet, which
 * is built into a temporary directory (or AGENTCLI_PWSH, where an earlier run put it). Needs .NET 10 and the network
 * once.
 */
import { findExecutable } from "../../src/platform/process.ts";

const SOURCES = new URL("./host/", import.meta.url);

/** Where PowerShell is, and what it is; or why there is none. */
export type Shell = { path: string; name: string } | { path: null; why: string };

/** Returns a PowerShell that runs. */
export async function openShell(): Promise<Shell> {
  const own = findExecutable("pwsh", Deno.env.get("PATH") ?? "", { notBelow: [] });
  if (own !== null) return { path: own, name: "the PowerShell of this system" };
  const directory = Deno.env.get("AGENTCLI_PWSH") ?? await Deno.makeTempDir({ prefix: "agentcli-pwsh-" });
  const shell = { path: `${directory}/bin/pwsh`, name: "the engine of PowerShell 7.6.9 with stand-ins for 20 cmdlets" };
  if (await Deno.stat(shell.path).then(() => true, () => false)) return shell;
  await Deno.mkdir(directory, { recursive: true });
  for (const { name } of Deno.readDirSync(SOURCES)) await Deno.copyFile(new URL(name, SOURCES), `${directory}/${name}`);
  const build = await new Deno.Command("dotnet", {
    args: ["build", "--configuration", "Release", "--output", `${directory}/bin`, "--nologo", "-verbosity:quiet"],
    cwd: directory,
    // Its own home: nothing of the user's is read or written.
    env: { HOME: directory, DOTNET_CLI_TELEMETRY_OPTOUT: "1" },
    stdout: "piped",
    stderr: "piped",
  }).output().catch(() => null);
  if (build === null) return { path: null, why: "there is no .NET here" };
  if (build.success) return shell;
  const text = new TextDecoder().decode(build.stdout);
  return { path: null, why: text.split("\n").find((line) => line.includes("error")) ?? "it could not be built" };
}
