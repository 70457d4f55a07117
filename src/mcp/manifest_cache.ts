/** The manifests of servers from the last time, in `cache/mcp/` of the home: with it a session starts no server. */
import type { Home } from "../platform/home.ts";
import { isRecord, parseJson } from "../platform/record.ts";
import type { Manifest } from "./tool_info.ts";

/** Raised whenever the stored shape or its meaning changes. */
const LAYOUT = 1;
/** Characters of a stored manifest; a larger one is asked for every time. */
const LIMIT = 8 * 1024 * 1024;

function fileOf(hash: string): string {
  return `cache/mcp/${hash.slice(0, 32)}.json`;
}

/** Returns what is stored for a configuration; null for nothing that can be used. Never throws for what is damaged. */
export async function readManifest(home: Home, hash: string): Promise<Manifest | null> {
  const value = parseJson(await home.read(fileOf(hash)).catch(() => null) ?? "");
  if (!isRecord(value) || value.layout !== LAYOUT || !isRecord(value.manifest)) return null;
  const { tools, prompts, resources, fetched, revision, title } = value.manifest;
  const whole = [tools, prompts, resources].every(Array.isArray) && typeof fetched === "number" &&
    typeof revision === "string" && typeof title === "string";
  return whole ? value.manifest as unknown as Manifest : null;
}

/** Stores a manifest. One that cannot be written costs a start later, and nothing else. */
export async function storeManifest(home: Home, hash: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ layout: LAYOUT, manifest });
  if (text.length <= LIMIT) await home.write(fileOf(hash), text).catch(() => {});
}

/** Forgets a manifest, so that the next session asks. */
export async function forgetManifest(home: Home, hash: string): Promise<void> {
  await home.remove(fileOf(hash)).catch(() => {});
}

/** Returns whether the server said that its lists hold no longer. */
export function isStale({ fetched, ttl }: Manifest, now: number): boolean {
  return ttl !== null && now > fetched + ttl;
}
