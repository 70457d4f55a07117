/** providers.yaml as the program uses it. */
import type { Home } from "../platform/home.ts";
import { readCopy, removeCopy, writeCopy } from "./cache.ts";
import type { Configuration } from "./types.ts";

/** Name of the file in the home. */
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
  // Reading tightens a file that others may read; the copy must not keep that from happening.
  const loose = status.mode !== null && (status.mode & 0o077) !== 0;
  const copy = loose ? null : await readCopy(home, status);
  if (copy !== null) return copy;
  const [text, { parseConfiguration }] = await Promise.all([home.read(PROVIDERS_FILE), import("./parse.ts")]);
  if (text === null) return emptyConfiguration(home.file(PROVIDERS_FILE));
  const configuration = parseConfiguration(text, home.file(PROVIDERS_FILE));
  const after = await home.status(PROVIDERS_FILE);
  // Written while it was read: the copy would belong to neither state.
  const unchanged = after !== null && after.size === status.size && after.modified === status.modified &&
    after.inode === status.inode;
  if (unchanged) await writeCopy(home, status, configuration);
  return configuration;
}

/** Returns the names of the variables that providers take their keys from: no command may get them. */
export function keyVariables({ providers }: Configuration): string[] {
  return providers.flatMap(({ apiKey }) => {
    const name = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(apiKey ?? "")?.[1];
    return name === undefined ? [] : [name];
  });
}
