/** What the ledger knows of other places that a person may mean: another system directory, the path a project had before. */
import { lstatSync } from "../platform/files_sync.ts";
import { isWithin, join, relativeTo } from "../platform/path.ts";
import { AgentcliError } from "../errors.ts";
import { readFound, sha256 } from "./disk.ts";
import { JsonProblem } from "./json_tree.ts";
import type { Installed, InstalledPiece, Ledger } from "./ledger.ts";
import { type LiveText, textsOnDisk } from "./live_text.ts";
import { stateIn, UNKNOWN } from "./piece.ts";
import { SectionProblem } from "./section.ts";

/** What is installed for all users in directories that nobody named, one sentence each. `verb`: what would reach it. */
export function systemElsewhere(
  { artifacts }: Pick<Ledger, "artifacts">,
  { isHere, verb }: { isHere(one: Installed): boolean; verb: string },
): string[] {
  const bases = artifacts.filter((one) => one.scope === "system" && !isHere(one)).map(({ base }) => base);
  return [...new Set(bases)].map((base) => {
    const count = bases.filter((one) => one === base).length;
    const what = count === 1 ? "1 artifact is" : `${count} artifacts are`;
    return `${what} installed for all users in ${base}: agentcli editor ${verb} --system-dir ${base}`;
  });
}

/**
 * Where a project was when its artifacts were installed: a path that is gone, while all that was installed there stands
 * here with the same content. Null where there is none, or something is installed at `root` itself.
 */
async function formerPath({ artifacts }: Pick<Ledger, "artifacts">, root: string): Promise<string | null> {
  const ofProjects = artifacts.filter(({ scope }) => scope === "project");
  if (ofProjects.some(({ base }) => base === root)) return null;
  for (const base of new Set(ofProjects.map((one) => one.base))) {
    if (isThere(base)) continue;
    const pieces = ofProjects.filter((one) => one.base === base).flatMap((one) => one.pieces);
    const texts = textsOnDisk();
    const same = await Promise.all(pieces.map((one) => standsIn(root, one, { base, texts })));
    if (same.length > 0 && same.every((one) => one)) return base;
  }
  return null;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path) !== null;
  } catch {
    // What may not be looked at is somewhere.
    return true;
  }
}

/** Whether a piece of `base` stands in the same place of `root` as it was written. */
async function standsIn(
  root: string,
  { piece, written }: InstalledPiece,
  { base, texts }: { base: string; texts: (path: string) => LiveText | null },
): Promise<boolean> {
  if (!isWithin(base, piece.path)) return false;
  const path = join(root, relativeTo(base, piece.path));
  try {
    if (piece.kind === "file") {
      const found = readFound(path);
      return found !== null && await sha256(found.bytes) === written;
    }
    const file = texts(path);
    return file !== null && (await stateIn(file, piece, UNKNOWN)).hash === written;
  } catch (error) {
    if (error instanceof JsonProblem || error instanceof SectionProblem || error instanceof AgentcliError) return false;
    throw error;
  }
}

/** What to say where nothing is known of a project: its former path, else that nothing is. Empty: something is known. */
export async function nothingKnown({ artifacts }: Pick<Ledger, "artifacts">, root: string): Promise<string[]> {
  if (artifacts.some(({ scope, base }) => scope === "project" && base === root)) return [];
  const former = await formerPath({ artifacts }, root);
  return [
    former === null
      ? `nothing is known to be installed in ${root}; agentcli editor import shows what others wrote`
      : `what stands here was installed when the project was ${former}, which is gone: agentcli editor import --all takes it over here`,
  ];
}
