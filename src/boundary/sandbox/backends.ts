/** The ways to make a sandbox on this system, best first. */
import { stat } from "../../platform/files.ts";
import { isWithin } from "../../platform/path.ts";
import { bubblewrapLine } from "./bubblewrap.ts";
import { trustedProgram } from "./host.ts";
import type { SandboxPlan, StartLine } from "./plan.ts";
import { SANDBOX_EXEC, sayable, seatbeltLine } from "./seatbelt.ts";
import { BUILDING_PLACES, UNSHARE_PROGRAMS, type UnshareForm, unshareLine } from "./unshare.ts";

/** One way. */
export interface SandboxBackend {
  /** For messages: `bubblewrap`, `unshare`, `sandbox-exec`. */
  name: string;
  /** What to start for a plan; null when it cannot be said in its words. */
  line(plan: SandboxPlan): StartLine | null;
}

/** Where to look; `programs` are places for tests. */
export interface BackendOptions {
  os: "linux" | "darwin" | "windows";
  home: string;
  programs?: readonly string[];
}

/** The ways there are, each still to be proved; none on Windows. */
export async function findBackends(options: BackendOptions): Promise<SandboxBackend[]> {
  if (options.os === "windows") return [];
  if (options.os === "darwin") return await seatbelt(options);
  return [...await bubblewrap(options), ...await unshare(options)];
}

async function bubblewrap({ programs }: BackendOptions): Promise<SandboxBackend[]> {
  const program = await trustedProgram("bwrap", { places: programs });
  const shell = await closingShell();
  const sh = await trustedProgram("sh");
  if (program === null || shell === null || sh === null) return [];
  const forms = [[true, true], [true, false], [false, true], [false, false]] as const;
  return forms.map(([proc, sealed]) => ({
    name: "bubblewrap",
    line: (plan) => bubblewrapLine(plan, { program, shell, sh, proc, sealed }),
  }));
}

async function unshare({ programs }: BackendOptions): Promise<SandboxBackend[]> {
  const found = await Promise.all(
    UNSHARE_PROGRAMS.map(async (name) => [name, await trustedProgram(name, { places: programs })] as const),
  );
  const shell = await closingShell();
  if (shell === null || found.some(([, path]) => path === null)) return [];
  const present = await Promise.all(BUILDING_PLACES.map((place) => stat(place).catch(() => null)));
  const places = BUILDING_PLACES.filter((_, index) => present[index]?.kind === "directory");
  const form = { programs: Object.fromEntries(found) as UnshareForm["programs"], shell };
  return [true, false].map((proc) => ({
    name: "unshare",
    line(plan) {
      const holds = (place: string) => plan.steps.some(({ kind, path }) => kind !== "scratch" && isWithin(place, path));
      const place = places.find((one) => !holds(one));
      return place === undefined ? null : unshareLine(plan, { ...form, proc, place });
    },
  }));
}

/** Bash, because not every `sh` can close all files. */
async function closingShell(): Promise<string | null> {
  return await trustedProgram("bash") ?? await trustedProgram("sh");
}

async function seatbelt({ home }: BackendOptions): Promise<SandboxBackend[]> {
  if (await stat(SANDBOX_EXEC) === null) return [];
  return [{
    name: "sandbox-exec",
    line: (plan) => sayable(plan) ? seatbeltLine(plan, { home, temporary: "/private/tmp" }) : null,
  }];
}
