/** Looks at a running program from outside: its files, and what its processes show in `/proc`. */
import type { LeakScan, TreeScan } from "./leakscan.ts";

/** Milliseconds between two looks. */
const INTERVAL_MS = 50;

/** What was seen of processes. */
export interface ProcessFinds {
  /** Canaries and keys in command lines and environments. */
  leaks: Set<string>;
  /** Command lines of processes that the program started, the program's own left out. */
  started: Set<string>;
}

function readSmall(path: string): string {
  try {
    return new TextDecoder("latin1").decode(Deno.readFileSync(path));
  } catch {
    return "";
  }
}

function childrenOf(pid: number): number[] {
  let tasks: Deno.DirEntry[];
  try {
    tasks = [...Deno.readDirSync(`/proc/${pid}/task`)];
  } catch {
    return [];
  }
  return tasks.flatMap((task) =>
    readSmall(`/proc/${pid}/task/${task.name}/children`).trim().split(" ").filter(Boolean).map(Number)
  );
}

/**
 * Where the arguments of a process lie in its memory (`arg_start`, the 48th field of proc(5) stat); empty when hidden.
 */
function placeOfArguments(pid: number): string {
  const fields = readSmall(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ");
  const place = fields[48 - 3] ?? "0";
  return place === "0" ? "" : place;
}

/** Between fork and exec a process shows the memory of its parent: that line and that environment are not its own. */
function isBeforeExec(child: number, parent: number): boolean {
  const place = placeOfArguments(child);
  return place !== "" && place === placeOfArguments(parent);
}

function lookAtProcesses(pid: number, scan: LeakScan, finds: ProcessFinds): void {
  for (const child of childrenOf(pid)) {
    if (isBeforeExec(child, pid)) continue;
    const line = readSmall(`/proc/${child}/cmdline`).replaceAll("\0", " ").trim();
    if (line !== "") finds.started.add(line);
    for (const find of scan.text(line)) finds.leaks.add(`command line: ${find}`);
    for (const find of scan.text(readSmall(`/proc/${child}/environ`))) finds.leaks.add(`environment: ${find}`);
    lookAtProcesses(child, scan, finds);
  }
}

/** Watches until `ended` resolves, then takes a last look at the files. */
export async function watch(
  ended: Promise<unknown>,
  look: { pid: number; scan: LeakScan; tree: TreeScan },
): Promise<ProcessFinds> {
  const finds: ProcessFinds = { leaks: new Set(), started: new Set() };
  let running = true;
  const stop = ended.then(() => running = false, () => running = false);
  while (running) {
    lookAtProcesses(look.pid, look.scan, finds);
    await look.tree.look();
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([stop, new Promise<void>((resolve) => timer = setTimeout(resolve, INTERVAL_MS))]);
    clearTimeout(timer);
  }
  await look.tree.look();
  return finds;
}
