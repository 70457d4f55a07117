/** The runtime, the form and the sources of this program, and starting it again with another environment. */
import { pathOfAddress } from "./text.ts";
import { dirname, normalize } from "./path.ts";
import { quietly } from "./real_path.ts";
import type { Io } from "./io.ts";
import { readTextSync } from "./files.ts";

/** The runtime, and the form of the program. */
interface RuntimeFacts {
  version: string;
  /** One binary with the runtime in it, one file of JavaScript, or the sources. */
  form: "binary" | "bundle" | "source";
  /** `linux`, `darwin`, `windows`, with the processor. */
  system: string;
}

/** Reads them from the runtime. */
export function runtimeFacts(): RuntimeFacts {
  const form = Deno.build.standalone ? "binary" : Deno.mainModule.endsWith(".js") ? "bundle" : "source";
  return { version: Deno.version.deno, form, system: `${Deno.build.os} ${Deno.build.arch}` };
}

/**
 * Returns whether the absolute path is the program that runs now: the binary, or the one file of JavaScript. Sources
 * are not.
 */
export function isProgramFile(path: string): boolean {
  if (Deno.build.standalone) return path === normalize(Deno.execPath());
  return path === mainFile() && path.endsWith(".js");
}

/** The oldest Deno that each form runs on. Sources import texts in a way that 2.8 introduced. */
const OLDEST = { binary: "2.7.11", bundle: "2.7.11", source: "2.8.0" } as const;

/** Returns the version of Deno that is needed; null when this one is recent enough. */
export function neededRuntime({ version, form }: RuntimeFacts): string | null {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  const [oldMajor = 0, oldMinor = 0, oldPatch = 0] = OLDEST[form].split(".").map(Number);
  const difference = major - oldMajor || minor - oldMinor || patch - oldPatch;
  return difference < 0 ? OLDEST[form] : null;
}

/** Returns whether `error` says that a permission of the process is missing. */
export function isMissingPermission(error: unknown): boolean {
  return error instanceof Deno.errors.NotCapable;
}

const PERMISSIONS = ["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const;

/** Returns whether everything is permitted (`-A`): only then the runtime hands paths to the system as they are. */
export function hasAllPermissions(): boolean {
  return PERMISSIONS.every((name) => {
    const status = Deno.permissions.querySync({ name });
    return status.state === "granted" && status.partial !== true;
  });
}

/**
 * Returns the command that starts this program as it was started; null when that is unknown: of the flags of the
 * runtime only "everything is permitted" can be seen from inside.
 */
export function ownCommand(): [string, ...string[]] | null {
  if (Deno.build.standalone) return [Deno.execPath()];
  return hasAllPermissions() ? [Deno.execPath(), "run", "--quiet", "--no-config", "-A", Deno.mainModule] : null;
}

/** Stops this process and its whole shell job until the shell continues it; false where that is not possible. */
export function suspendJob(): boolean {
  if (Deno.build.os === "windows") return false;
  Deno.kill(0, "SIGTSTP");
  return true;
}

/**
 * Runs `command` with exactly these variables on the streams of this process, and gives its exit code (128 and the
 * signal's number after a signal). Signals to this process reach it: from a terminal both get them anyway.
 */
export async function runOnOwnStreams(
  command: readonly [string, ...string[]],
  options: { env: Record<string, string>; io: Pick<Io, "onSignal" | "stdin" | "stdout" | "stderr">; cwd?: string },
): Promise<number> {
  const { env, io, cwd } = options;
  const [program, ...args] = command;
  const child = new Deno.Command(program, {
    args,
    env,
    cwd,
    clearEnv: true,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  const onTerminal = io.stdin.isTerminal || io.stdout.isTerminal || io.stderr.isTerminal;
  const release = io.onSignal((signal) => {
    if (signal === "SIGINT" && onTerminal) return;
    try {
      child.kill(signal);
    } catch {
      // It has ended already.
    }
  });
  try {
    return (await child.status).code;
  } finally {
    release();
  }
}

/** Returns the directory of the main module; null when it came from an address. */
export function programDirectory(): string | null {
  const file = mainFile();
  return file === null ? null : dirname(file);
}

function mainFile(): string | null {
  return Deno.mainModule.startsWith("file:") ? pathOfAddress(Deno.mainModule) : null;
}

/** Returns the memory of this machine. */
export function memoryBytes(): number {
  return Deno.systemMemoryInfo().total;
}

/** Returns the memory of each graphics card that the kernel reports: on Linux those of AMD. */
export function graphicsBytes(): number[] {
  const cards = quietly(() => [...Deno.readDirSync("/sys/class/drm")]) ?? [];
  return cards.map(({ name }) =>
    Number(quietly(() => readTextSync(`/sys/class/drm/${name}/device/mem_info_vram_total`)) ?? 0)
  );
}
