/** What of the system a sandboxed command sees, and which programs may make a sandbox. */
import { lstat, realPath, stat } from "../../platform/files.ts";
import { dirname } from "../../platform/path.ts";
import type { PlanStep } from "./plan.ts";

/** Directories of programs and libraries; links among them (`/bin` to `/usr/bin`) are kept as links. Daemons listen beside them. */
export const SYSTEM: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/lib32",
  "/libx32",
  "/nix/store",
  "/gnu/store",
  "/run/current-system",
];

/** Settings of the system that programs need; each is one mount. Never the whole of `/etc`: keys lie there. */
const SETTINGS =
  ("ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path alternatives static passwd group nsswitch.conf " +
    "hosts localtime mime.types terminfo fonts ssl/certs ssl/openssl.cnf ssl/cert.pem ca-certificates pki/tls/certs " +
    "pki/ca-trust crypto-policies java-17-openjdk java-21-openjdk os-release").split(" ").map((name) => `/etc/${name}`);

/** Only with a network. */
const NETWORK_SETTINGS = ["/etc/resolv.conf"];

/** Where programs that make sandboxes are looked for: a `bwrap` on PATH could be anybody's. */
const TRUSTED_PLACES = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/wrappers/bin", "/run/current-system/sw/bin"];

/** Returns the steps that show the system, without what is not there. */
export async function systemSteps(options: { network: boolean }): Promise<PlanStep[]> {
  const steps: PlanStep[] = [];
  for (const path of SYSTEM) {
    const found = await lstat(path);
    if (found?.kind === "directory") steps.push({ kind: "read", path });
    if (found?.kind !== "symlink") continue;
    const target = await realPath(path);
    if (target !== null) steps.push({ kind: "link", path, target });
  }
  for (const path of [...SETTINGS, ...options.network ? NETWORK_SETTINGS : []]) {
    const source = await realPath(path).catch(() => null);
    if (source !== null) steps.push({ kind: "read", path, source });
  }
  return steps;
}

/**
 * The absolute path of a program that may be trusted to make a sandbox: at a fixed place, and it and its directory belong to
 * root and can be written by nobody else, as named and as linked. Null when there is none. `places` for tests.
 */
export async function trustedProgram(
  name: string,
  options: { places?: readonly string[]; owner?: number } = {},
): Promise<string | null> {
  for (const place of options.places ?? TRUSTED_PLACES) {
    const real = await realPath(`${place}/${name}`).catch(() => null);
    if (real === null) continue;
    const owner = options.owner ?? 0;
    if (await ownedBy(owner, real) && await ownedBy(owner, dirname(real))) return real;
  }
  return null;
}

async function ownedBy(owner: number, path: string): Promise<boolean> {
  const found = await stat(path);
  return found !== null && found.owner === owner && found.mode !== null && (found.mode & 0o022) === 0;
}
