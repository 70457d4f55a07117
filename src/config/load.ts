/** Loads providers.yaml, or the parsed copy of it in the cache. */
import type { Home } from "../platform/home.ts";
import type { Configuration } from "./types.ts";
import type { FileStatus } from "../platform/files.ts";
import { fieldsOf, isRecord, parseJson } from "../platform/record.ts";
import { isLiteralKey } from "./endpoint.ts";

export const PROVIDERS_FILE = "providers.yaml";

/** The configuration of a home without a file. */
export function emptyConfiguration(path: string): Configuration {
  return {
    path,
    exists: false,
    roles: {},
    permissions: { allow: [], deny: [] },
    sandbox: { mode: "auto", read: [], write: [], network: false, env: [] },
    providers: [],
    warnings: [],
  };
}

/**
 * Reads the configuration; no file is an empty one. While the file is unchanged (size, time, inode) the parsed copy in
 * `cache/` is used, and YAML and schema are not loaded. A file that cannot be used is `config_invalid` and names file,
 * line, column, key path and what was expected, never the line's text.
 */
export async function loadConfiguration(home: Home): Promise<Configuration> {
  const status = await home.status(PROVIDERS_FILE);
  if (status === null) {
    await removeCopy(home);
    return emptyConfiguration(home.file(PROVIDERS_FILE));
  }
  // Reading tightens a file that others may read; the copy must not prevent that.
  const loose = status.mode !== null && (status.mode & 0o077) !== 0;
  const copy = loose ? null : await readCopy(home, status);
  if (copy !== null) return copy;
  const [text, { parseConfiguration }] = await Promise.all([home.read(PROVIDERS_FILE), import("./parse.ts")]);
  if (text === null) return emptyConfiguration(home.file(PROVIDERS_FILE));
  const configuration = parseConfiguration(text, home.file(PROVIDERS_FILE));
  const after = await home.status(PROVIDERS_FILE);
  // Written while it was read: the copy would belong to neither state.
  if (after !== null && keyOf(after) === keyOf(status)) await writeCopy(home, status, configuration);
  return configuration;
}

const NAME = "cache/providers.json";
/** Incremented whenever the parsed shape or its meaning changes: an older copy is then not read. */
const LAYOUT = 8;
/** A file changed this short a time ago may change again within the same time stamp: it is not copied yet. */
const SETTLED_MS = 50;

function keyOf(status: FileStatus): string {
  return `${status.size}:${status.modified}:${status.device}:${status.inode}`;
}

/** The copy that belongs to the file as it is now; null when there is none. A damaged copy counts as none. */
async function readCopy(home: Home, status: FileStatus): Promise<Configuration | null> {
  const { layout, key, configuration } = fieldsOf(parseJson(await home.read(NAME).catch(() => null) ?? ""));
  const { providers, warnings, roles, sandbox, permissions } = fieldsOf(configuration);
  const isWhole = [providers, warnings].every(Array.isArray) && [roles, sandbox, permissions].every(isRecord);
  if (layout !== LAYOUT || key !== keyOf(status) || !isWhole) return null;
  // The layout number proves the shape.
  return { ...configuration as Configuration, path: home.file(PROVIDERS_FILE) };
}

/**
 * Stores the copy, but not of a file that may hold a key, so that a key is in one place only. A copy that cannot be
 * written only costs time later.
 */
async function writeCopy(home: Home, status: FileStatus, configuration: Configuration): Promise<void> {
  if (mayHoldKey(configuration)) return await removeCopy(home);
  if (Date.now() - status.modified < SETTLED_MS) return;
  await home.write(NAME, JSON.stringify({ layout: LAYOUT, key: keyOf(status), configuration })).catch(() => {});
}

function mayHoldKey({ providers, engines = {}, mcpServers = [] }: Configuration): boolean {
  // A value that is a variable as a whole holds no key.
  const isLiteral = (value: string) => !/^(?:Bearer )?\$\{\w+\}$/.test(value);
  const holds = ({ env, headers, apiKey = "" }: typeof mcpServers[number]) =>
    isLiteralKey(apiKey.trim()) || [...Object.values(env), ...Object.values(headers)].some(isLiteral);
  return mcpServers.some(holds) || Object.values(engines).some(({ env = {} }) => Object.keys(env).length > 0) ||
    providers.some(({ apiKey = "", headers }) => isLiteralKey(apiKey.trim()) || Object.keys(headers).length > 0);
}

/** Removes the copy: an earlier version may have left keys in it. */
export async function removeCopy(home: Home): Promise<void> {
  await home.remove(NAME).catch(() => {});
}
