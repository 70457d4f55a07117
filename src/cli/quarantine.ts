/**
 * Runs `agentcli quarantine …`: lists quarantined files, and restores and protects them: a protected session can have
 * made them.
 */
import { ContentScanner } from "../agent/content_scanner.ts";
import { homePath, openHome } from "../platform/home.ts";
import { clean } from "../terminal/clean.ts";
import { notice, print, warn } from "./result.ts";
import type { Invocation } from "./command.ts";
import { AgentcliError } from "../errors.ts";
import { QUARANTINE, type QuarantineEntry, readEntry } from "../boundary/sandbox/quarantine.ts";
import { UNFINISHED } from "../boundary/sandbox/sandbox.ts";
import { noteProgram } from "../boundary/sandbox/unfinished.ts";
import { listSync, lstatSync, movePath, removeDirectory } from "../platform/files.ts";
import { quietly, realOrNull } from "../platform/real_path.ts";
import { dirname, isWithin, join } from "../platform/path.ts";

/** Runs the command. */
export async function listEntries({ context }: Invocation): Promise<void> {
  const entries = listQuarantine(homePath(context.io));
  const shown = entries.map(({ id, roots: [root], paths, time }) => ({
    id,
    root: root?.path,
    paths,
    time: new Date(time).toISOString(),
  }));
  const rows = entries.flatMap(({ id, paths }) => paths.map((path) => [id, clean(path)]));
  const table = [["ID", "ORIGINAL PATH"], ...rows];
  await print(context, { json: { entries: shown }, table, none: "the quarantine is empty" });
}

/** Restores one entry. Returns 1 if a file stayed in quarantine. */
export async function restoreEntry({ arguments: [id = ""], context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const entry = readEntry(homePath(io), id);
  if (entry === null) {
    throw new AgentcliError("usage", `no quarantine entry has the id ${clean(id)}`, {
      hint: "agentcli quarantine list",
    });
  }
  const home = await openHome(io);
  const isRunning = (listSync(join(home.path, UNFINISHED)) ?? []).length > 0;
  // As for a program that creates these files: if they cannot be scanned now, the next session there does it.
  const { roots, paths } = entry;
  const note = await noteProgram(home.path, { roots, written: [...new Set(paths.map(dirname))] });
  const { restored, blocked } = await restoreQuarantined(home.path, entry);
  // Scanned like a command's changes. Moved files have their old times.
  const scanner = await ContentScanner.at(home, roots, { notify: (text) => notice(context, text) });
  await scanner.protectFound(restored, { since: 0 });
  await note.remove();
  await print(context, { json: { id, restored, blocked } });
  for (const path of globals.json ? [] : restored) await notice(context, `restored ${path}`);
  if (isRunning && restored.length > 0 && !globals.json) {
    await notice(
      context,
      "a command that runs there ends, and it goes to quarantine again: restore it after that command",
    );
  }
  for (const path of globals.json ? [] : blocked) {
    const kept = join(home.path, QUARANTINE, id, String(entry.paths.indexOf(path)));
    await warn(context, `${path} stays in quarantine as ${kept}: the path is taken, or its directory is gone`);
  }
  return blocked.length === 0 ? 0 : 1;
}

/** Returns what is in quarantine, the oldest first. */
export function listQuarantine(home: string): QuarantineEntry[] {
  const names = (listSync(join(home, QUARANTINE)) ?? []).map(({ name }) => name);
  const entries = names.map((name) => readEntry(home, name)).filter((entry) => entry !== null);
  return entries.sort((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1));
}

/**
 * Puts an entry back where it was. Where something else is now, or the directory is gone, the file stays in quarantine.
 */
export async function restoreQuarantined(
  home: string,
  entry: QuarantineEntry,
): Promise<{ restored: string[]; blocked: string[] }> {
  const directory = join(home, QUARANTINE, entry.id);
  const [restored, blocked] = [[] as string[], [] as string[]];
  for (const [index, path] of entry.paths.entries()) {
    const kept = join(directory, String(index));
    if (lstatSync(kept) === null) continue;
    // A directory that is now a link must not lead the file elsewhere; `sandbox.write` is beside the project.
    const parent = realOrNull(dirname(path));
    const stays = parent !== null &&
      (parent === dirname(path) || entry.roots.some(({ path }) => isWithin(path, parent)));
    const free = stays && quietly(() => lstatSync(path)) === null;
    if (free) await movePath(kept, path);
    (free ? restored : blocked).push(path);
  }
  if (blocked.length === 0) await removeDirectory(directory);
  return { restored, blocked };
}
