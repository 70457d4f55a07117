/** What runs the program, and what it lets it do. */

import { normalize } from "./path.ts";

/** The runtime, and in which form the program came. */
export interface RuntimeFacts {
  /** Deno's version. */
  version: string;
  /** One binary with the runtime in it, one file of JavaScript, or the sources. */
  form: "binary" | "bundle" | "source";
  /** `linux`, `darwin`, `windows`, with the processor. */
  system: string;
}

/** Asks the runtime. */
export function runtimeFacts(): RuntimeFacts {
  const form = Deno.build.standalone ? "binary" : Deno.mainModule.endsWith(".js") ? "bundle" : "source";
  return { version: Deno.version.deno, form, system: `${Deno.build.os} ${Deno.build.arch}` };
}

/** Whether the absolute path is the program that runs now: the binary, or the one file of JavaScript. Sources are not. */
export function isProgramFile(path: string): boolean {
  if (Deno.build.standalone) return path === normalize(Deno.execPath());
  if (!Deno.mainModule.startsWith("file:") || !Deno.mainModule.endsWith(".js")) return false;
  const { pathname } = new URL(Deno.mainModule);
  // Drives of Windows: `/C:/…`.
  return path === decodeURIComponent(pathname).replace(/^\/(?=[A-Za-z]:\/)/, "");
}

/** The oldest Deno that each form runs on. Sources import texts in a way that 2.8 is the first to know. */
const OLDEST = { binary: "2.7.11", bundle: "2.7.11", source: "2.8.0" } as const;

/** The version of Deno that is needed; null when this one is not older. */
export function neededRuntime({ version, form }: RuntimeFacts): string | null {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  const [oldMajor = 0, oldMinor = 0, oldPatch = 0] = OLDEST[form].split(".").map(Number);
  const difference = major - oldMajor || minor - oldMinor || patch - oldPatch;
  return difference < 0 ? OLDEST[form] : null;
}

/** Whether `error` says that a permission of the process is missing. */
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
