/** Which process listens on a loopback port: where the system says, and only what this user may see. */
import { printedBy } from "./process_group.ts";
import { quietly } from "./real_path.ts";

interface Listener {
  /** Null when it belongs to somebody else, and the system does not say. */
  pid: number | null;
  /** Name of the program; null when not known. */
  program: string | null;
  /** Number of the user it belongs to; null when not known. */
  owner: number | null;
}

const TCP_LISTEN = "0A";

/**
 * Returns the process that a connection to `port` of 127.0.0.1 or [::1] reaches; null when there is none, or it is not
 * known.
 */
export async function listenerOn(port: number): Promise<Listener | null> {
  if (Deno.build.os === "linux") return await linuxListener(port);
  if (Deno.build.os === "darwin") return await macosListener(port);
  return null;
}

async function linuxListener(port: number): Promise<Listener | null> {
  const socket = await listeningSocket(port);
  if (socket === null) return null;
  const pid = await holderOf(`socket:[${socket.inode}]`);
  return { pid, program: pid === null ? null : await programOf(pid), owner: socket.owner };
}

/** From the tables of the kernel. Their columns: number, local address, remote address, state, …, user, …, inode. */
async function listeningSocket(port: number): Promise<{ inode: string; owner: number } | null> {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const text = await Deno.readTextFile(table).catch(() => "");
    for (const line of text.split("\n").slice(1)) {
      const columns = line.trim().split(/\s+/);
      const [, local = "", , state, , , , owner = "", , inode] = columns;
      if (state !== TCP_LISTEN || inode === undefined) continue;
      const [address = "", hexPort] = local.split(":");
      if (hexPort === wanted && isLoopbackOrAny(address)) return { inode, owner: Number(owner) };
    }
  }
  return null;
}

/** Addresses as the kernel writes them: words of four bytes, each in the order of the machine (little-endian). */
function isLoopbackOrAny(address: string): boolean {
  return /^0+$/.test(address) || address === "0100007F" || address === "00000000000000000000000001000000" ||
    address === "0000000000000000FFFF00000100007F";
}

async function holderOf(link: string): Promise<number | null> {
  for (const process of entriesOf("/proc")) {
    if (!/^\d+$/.test(process)) continue;
    for (const handle of entriesOf(`/proc/${process}/fd`)) {
      const target = await Deno.readLink(`/proc/${process}/fd/${handle}`).catch(() => "");
      if (target === link) return Number(process);
    }
  }
  return null;
}

function entriesOf(directory: string): string[] {
  // None of another user's process, nor of one that has ended meanwhile.
  return (quietly(() => [...Deno.readDirSync(directory)]) ?? []).map(({ name }) => name);
}

/** From its command line, since the kernel's own name is cut at 15 characters. */
async function programOf(pid: number): Promise<string | null> {
  const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
  const first = line.split("\0")[0] ?? "";
  // A path, or a title such as `nginx: master process`.
  const program = (first.startsWith("/") ? first : first.split(/[\s:]/)[0] ?? "").split("/").at(-1) ?? "";
  if (program !== "") return program;
  return (await Deno.readTextFile(`/proc/${pid}/comm`).catch(() => "")).trim() || null;
}

/** By `lsof`, which prints a field a line. Not run on macOS yet. */
async function macosListener(port: number): Promise<Listener | null> {
  const text = await printedBy("/usr/sbin/lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpcu"]);
  const fields = new Map(text.split("\n").map((line) => [line[0], line.slice(1)]));
  const pid = Number(fields.get("p"));
  if (!Number.isInteger(pid) || pid === 0) return null;
  return { pid, program: fields.get("c") ?? null, owner: Number(fields.get("u") ?? NaN) || null };
}
