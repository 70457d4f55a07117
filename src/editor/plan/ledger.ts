/**
 * The ledger in the tool's home: what was installed, resource by resource with a hash of what was written, and of each
 * file the first original. While files are written it holds both what was there and what is to be there: a kill can
 * come between any two writes, and whichever the next run finds is known to be ours, so that what was begun can be
 * finished.
 */
import { AgentcliError } from "../../errors.ts";
import { sha256 } from "../../platform/digest.ts";
import type { Home } from "../../platform/home.ts";
import { ArtifactHead, artifactKey, decodeBase64, resourceKey, ResourceSchema } from "../resources/artifact.ts";
import { type FoundFile } from "./disk.ts";
import * as z from "../../config/zod.ts";

export const LEDGER = "editor/ledger.json";

/** A hash of what is in a place; null: nothing. */
const State = z.string().nullable();

const InstalledResourceSchema = z.object({
  resource: ResourceSchema,
  /** Hash of what we put there; null when it was there already and is not ours. */
  written: State,
  /** The content that was there before; it is restored when ours is removed. */
  backup: ResourceSchema.optional(),
  /** Adopted, not written from here: `backup` is what was there then. */
  adopted: z.literal(true).optional(),
  /** A change is unfinished: until it is done, the place may also be in one of these states. */
  also: z.array(State).optional(),
  /** The same for an item of a list: how it may still be written there, since it is found by its content. */
  earlier: z.array(ResourceSchema).optional(),
  /** Its removal is unfinished. */
  removing: z.literal(true).optional(),
});

const LedgerSchema = z.object({
  version: z.literal(1),
  artifacts: z.array(ArtifactHead.extend({ resources: z.array(InstalledResourceSchema) })),
  /** By absolute path. */
  files: z.record(
    z.string(),
    z.object({
      /** Nothing was there before us. */
      created: z.boolean(),
      /** Hash of the whole file as we left it. */
      written: State,
      /** Nobody else has changed the file between two writes of ours. */
      untouched: z.boolean(),
      /** As with the resources. */
      also: z.array(State).optional(),
    }),
  ),
  /** Directories that were created for our files, which we may remove when they are empty. */
  directories: z.array(z.string()),
});

export type Ledger = z.infer<typeof LedgerSchema>;

/** An artifact with what was written of it. */
export type Installed = Ledger["artifacts"][number];

export type InstalledResource = Installed["resources"][number];

export type FileRecord = Ledger["files"][string];

/** The names of our members in the file: those of the first version, so that all versions read the same file. */
const STORED_NAMES: Readonly<Record<string, string>> = {
  resources: "pieces",
  resource: "piece",
  backup: "instead",
  adopted: "taken",
  removing: "leaving",
};
const NAMES = Object.fromEntries(Object.entries(STORED_NAMES).map(([ours, stored]) => [stored, ours]));

/**
 * Returns the artifacts of a ledger with other names for their members; `list` is what their resources are called now.
 */
function withNames(
  ledger: { artifacts: Record<string, unknown>[] },
  { list, names }: { list: string; names: Readonly<Record<string, string>> },
): unknown {
  const rename = (record: object) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [names[name] ?? name, value]));
  const artifacts = ledger.artifacts.map((artifact) =>
    rename({ ...artifact, [list]: (artifact[list] as object[]).map(rename) })
  );
  return { ...ledger, artifacts };
}

/** Reads the ledger; an empty one when there is none. Throws `home_unusable` for one that is damaged. */
export async function readLedger(home: Home): Promise<Ledger> {
  const text = await home.read(LEDGER);
  if (text === null) return { version: 1, artifacts: [], files: {}, directories: [] };
  try {
    return LedgerSchema.parse(withNames(JSON.parse(text), { list: "pieces", names: NAMES }));
  } catch (cause) {
    throw new AgentcliError("home_unusable", `${home.file(LEDGER)} is damaged; nothing was changed`, {
      hint:
        "move it away; what is installed then counts as foreign until it is adopted with `agentcli editor import --all`",
      cause,
    });
  }
}

/** Most characters of the ledger: the home would not read more back. */
const LEDGER_LIMIT = 32 * 1024 * 1024;

/**
 * Writes the ledger. Call it inside of the ledger's lock. Throws `usage` when it would be too large to be read again.
 */
export async function writeLedger(home: Home, ledger: Ledger): Promise<void> {
  const text = JSON.stringify(withNames(ledger, { list: "resources", names: STORED_NAMES }), null, 1) + "\n";
  if (text.length > LEDGER_LIMIT) {
    throw new AgentcliError("usage", "what is installed has more than 32 MiB together; nothing was changed", {
      hint: "let skills bundle less: scripts, templates and checklists, no data",
    });
  }
  await home.write(LEDGER, text);
}

/** Returns the states that count as ours: what was written, and what was there before an unfinished change. */
export function ownStates({ written, also }: Pick<FileRecord, "written" | "also">): (string | null)[] {
  return [written, ...(also ?? [])];
}

/** Paths of unfinished changes: the process was killed, or the machine went down. */
export function interruptedPaths({ artifacts, files }: Ledger): string[] {
  const resources = artifacts.flatMap((one) => one.resources).filter(({ also, removing }) => also ?? removing);
  const records = Object.entries(files).filter(([, { also }]) => also !== undefined);
  return [...new Set([...resources.map(({ resource }) => resource.path), ...records.map(([path]) => path)])].sort();
}

async function originalName(path: string): Promise<string> {
  return `editor/originals/${await sha256(path)}.json`;
}

/** Keeps a file as it was before our first change. */
export async function keepOriginal(home: Home, path: string, { found }: { found: FoundFile }): Promise<void> {
  const content = { path, mode: found.mode, content: found.bytes.toBase64() };
  await home.write(await originalName(path), JSON.stringify(content) + "\n");
}

/** Returns the first original of a file; null when none is kept. */
export async function readOriginal(home: Home, path: string): Promise<FoundFile | null> {
  const text = await home.read(await originalName(path));
  if (text === null) return null;
  const parsed = z.object({ mode: z.number().nullable(), content: z.string() }).safeParse(JSON.parse(text));
  return parsed.success ? { bytes: decodeBase64(parsed.data.content), mode: parsed.data.mode } : null;
}

/** Forgets the original of a file that is restored. */
export async function dropOriginal(home: Home, path: string): Promise<void> {
  await home.remove(await originalName(path));
}

function resourceIn(artifact: Installed | undefined, { resource }: InstalledResource): InstalledResource | undefined {
  return artifact?.resources.find((one) => resourceKey(one.resource) === resourceKey(resource));
}

/** `next` with everything that may still be as in `ledger`; `records`: of the files that are written. */
export function betweenLedgers(
  ledger: Ledger,
  next: Ledger,
  { records }: { records: Readonly<Record<string, FileRecord>> },
): Ledger {
  const before = new Map(ledger.artifacts.map((one) => [artifactKey(one), one]));
  const after = new Set(next.artifacts.map(artifactKey));
  const artifacts = next.artifacts.map((artifact): Installed => {
    const known = before.get(artifactKey(artifact));
    const coming = artifact.resources.map((resource): InstalledResource => {
      const old = resourceIn(known, resource);
      const changes = old === undefined
        ? resource.written !== null
        : old !== resource && (old.written !== resource.written || old.also !== undefined);
      if (!changes) return resource;
      if (old === undefined) return { ...resource, also: [null] };
      const earlier = resource.resource.kind === "item" ? { earlier: [old.resource, ...(old.earlier ?? [])] } : {};
      return { ...resource, also: ownStates(old), ...earlier };
    });
    const going = (known?.resources ?? []).filter((old) => resourceIn(artifact, old) === undefined).map(removing);
    // In the order of the change itself, so that ending it gives the same text.
    return { ...artifact, resources: [...going, ...coming] };
  });
  const gone = ledger.artifacts.filter((known) => !after.has(artifactKey(known)));
  return {
    version: 1,
    artifacts: [...artifacts, ...gone.map((one) => ({ ...one, resources: one.resources.map(removing) }))],
    files: { ...ledger.files, ...next.files, ...records },
    directories: [...new Set([...ledger.directories, ...next.directories])].sort(),
  };
}

function removing(resource: InstalledResource): InstalledResource {
  return { ...resource, removing: true };
}
