/** The parsed copy of providers.yaml, so that a run does not pay for YAML and schema. */
import type { FileStatus } from "../platform/files.ts";
import type { Home } from "../platform/home.ts";
import { isLiteralKey } from "./key.ts";
import type { Configuration } from "./types.ts";

const NAME = "cache/providers.json";
/** Raised whenever the parsed shape or its meaning changes: an older copy is then not read. */
const LAYOUT = 5;
/** A file changed this short a time ago may change again within the same time stamp: it is not copied yet. */
const SETTLED_MS = 50;

interface Copy {
  layout: number;
  key: string;
  configuration: Configuration;
}

function keyOf(status: FileStatus): string {
  return `${status.size}:${status.modified}:${status.device}:${status.inode}`;
}

function isCopy(value: unknown): value is Copy {
  const copy = value as Partial<Copy> | null;
  return typeof copy === "object" && copy !== null && copy.layout === LAYOUT && typeof copy.key === "string" &&
    Array.isArray(copy.configuration?.providers) && Array.isArray(copy.configuration?.warnings) &&
    typeof copy.configuration?.roles === "object" && typeof copy.configuration?.sandbox === "object" &&
    typeof copy.configuration?.permissions === "object";
}

/** The copy that belongs to the file as it is now; null when there is none. A damaged copy counts as none. */
export async function readCopy(home: Home, status: FileStatus): Promise<Configuration | null> {
  try {
    const text = await home.read(NAME);
    if (text === null) return null;
    const value: unknown = JSON.parse(text);
    if (!isCopy(value) || value.key !== keyOf(status)) return null;
    return { ...value.configuration, path: home.file("providers.yaml") };
  } catch {
    return null;
  }
}

/**
 * Stores the copy; of a file that may hold a key there is none, so that a key stands in one place. A copy that cannot be
 * written costs time later and nothing else.
 */
export async function writeCopy(home: Home, status: FileStatus, configuration: Configuration): Promise<void> {
  if (mayHoldKey(configuration)) return await removeCopy(home);
  if (Date.now() - status.modified < SETTLED_MS) return;
  const copy: Copy = { layout: LAYOUT, key: keyOf(status), configuration };
  await home.write(NAME, JSON.stringify(copy)).catch(() => {});
}

function mayHoldKey({ providers, engines = {} }: Configuration): boolean {
  return Object.values(engines).some(({ env = {} }) => Object.keys(env).length > 0) ||
    providers.some(({ apiKey = "", headers }) => isLiteralKey(apiKey.trim()) || Object.keys(headers).length > 0);
}

/** Removes the copy: an earlier version may have left keys in it. */
export async function removeCopy(home: Home): Promise<void> {
  await home.remove(NAME).catch(() => {});
}
