/** The workspace on the disk: paths, reads and writes of tools under the rules of the boundary. */
import { AgentcliError } from "../errors.ts";
import { type DirectoryEntry, type FileStatus, listDirectory, realPath, stat } from "../platform/files.ts";
import { dirname, isAbsolute, isWithin, join, normalise } from "../platform/path.ts";
import { foldedPath } from "./folded.ts";
import type { Label } from "./label.ts";
import { findMarkers, findNestedMarkers, MARKER_NAME, markersAbove, type MarkerState } from "./marker.ts";
import { readRegularFile } from "./reader.ts";
import { resolvePath, rootOf, type Roots } from "./resolve.ts";
import { systemReason } from "./system_error.ts";
import type { LabelledBytes, Refusal, ResolvedPath, Workspace } from "./workspace.ts";
import { checkWritable, replaceFile } from "./writer.ts";

/** What a workspace is made from. */
export interface WorkspaceOptions {
  /** The project root, a real path. */
  root: string;
  /** Directories of `--add-dir`, absolute. */
  additional: readonly string[];
  /** Where relative paths start, inside of a root. */
  cwd: string;
  /** The tool's own home: never read, never written by tools. */
  home: string;
  /** The user's home, where start-up files lie; unless it is absolute, files named like them are write-protected everywhere. */
  userHome?: string | undefined;
  /** Of the root, from `findMarkers`. */
  markers: MarkerState;
  provider: { local: boolean; name: string };
}

/** Directories of the system whose files are doors, not content: reading them could show keys of other processes. */
const SYSTEM_DIRECTORIES: readonly string[] = ["/proc", "/sys", "/dev"];

async function realDirectory(path: string): Promise<string> {
  const real = await realPath(path);
  if (real === null || (await stat(real))?.kind !== "directory") {
    throw new AgentcliError("usage", `${path} is not a directory`, { hint: "name an existing directory" });
  }
  return normalise(real);
}

/** A real path for what may not exist yet: its existing part is resolved. */
async function realOrNamed(path: string): Promise<string> {
  const real = await realPath(path);
  if (real !== null) return normalise(real);
  const up = dirname(path);
  return up === path ? path : join(await realOrNamed(up), path.slice(path.lastIndexOf("/") + 1));
}

function refuseRemote(marker: string, options: WorkspaceOptions): AgentcliError {
  const damaged = options.markers.damaged === undefined
    ? ""
    : ` (the marker cannot be used: ${options.markers.damaged})`;
  return new AgentcliError(
    "policy_refused",
    `${marker} protects paths of this project, and the provider "${options.provider.name}" is not local${damaged}`,
    {
      hint: `use a local model, or, when that server is yours, add a line "local-endpoints: <its host>" to ${
        join(options.root, MARKER_NAME)
      }`,
    },
  );
}

/** The first marker of the project; below the roots is looked only when it matters. Additional roots count as well. */
async function firstMarker(options: WorkspaceOptions, additional: readonly string[]): Promise<string | null> {
  const known = options.markers.paths[0];
  if (known !== undefined) return known;
  for (const root of additional) {
    const above = (await findMarkers(root)).paths[0];
    if (above !== undefined) return above;
  }
  // A local session meets nested markers file by file, when it reads.
  if (options.provider.local) return null;
  for (const root of [options.root, ...additional]) {
    const nested = (await findNestedMarkers(root))[0];
    if (nested !== undefined) return nested;
  }
  return null;
}

/**
 * Opens the part of the disk that tools may use. With a marker anywhere (at the root, above, below, in an additional
 * directory) a provider that is not local is `policy_refused`, and with a local one everything is `no-cloud`.
 * A marker that appears later tightens from then on. Throws `usage` for directories that are none.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const additional = await Promise.all(options.additional.map(realDirectory));
  const roots: Roots = { root: await realDirectory(options.root), additional, cwd: await realDirectory(options.cwd) };
  const marker = await firstMarker(options, additional);
  if (marker !== null && !options.provider.local) throw refuseRemote(marker, options);
  return new DiskWorkspace(roots, {
    home: await realOrNamed(normalise(options.home)),
    userHome: isAbsolute(options.userHome ?? "") ? await realOrNamed(normalise(options.userHome ?? "")) : null,
    local: options.provider.local,
    label: marker === null ? "open" : "no-cloud",
  });
}

interface Rules {
  home: string;
  userHome: string | null;
  local: boolean;
  /** At the start. */
  label: Label;
}

class DiskWorkspace implements Workspace {
  readonly #roots: Roots;
  readonly #rules: Rules;
  /** Only ever rises. */
  #label: Label;

  constructor(roots: Roots, rules: Rules) {
    this.#roots = roots;
    this.#rules = rules;
    this.#label = rules.label;
  }

  get root(): string {
    return this.#roots.root;
  }

  get additional(): readonly string[] {
    return this.#roots.additional;
  }

  get cwd(): string {
    return this.#roots.cwd;
  }

  get ambientLabel(): Label {
    return this.#label;
  }

  resolve(path: string): Promise<ResolvedPath | Refusal> {
    return resolvePath(path, this.#roots);
  }

  async read(path: ResolvedPath, range: { offset?: number; limit?: number } = {}): Promise<LabelledBytes | Refusal> {
    const object = (real: string) => this.#objection(real, path.display);
    const early = this.#outOfReach(path.real, path.display);
    if (early !== null) return early;
    const read = await readRegularFile(path.path, { ...range, display: path.display, object });
    if ("refused" in read) return read;
    return { bytes: read.bytes, more: read.more, label: this.#label, status: read.status };
  }

  async status(path: ResolvedPath): Promise<FileStatus | null> {
    try {
      return await stat(path.real);
    } catch (error) {
      systemReason(error);
      return null;
    }
  }

  async list(path: ResolvedPath): Promise<DirectoryEntry[] | Refusal> {
    try {
      const real = await realPath(path.path);
      if (real === null) return { refused: "absent", message: `${path.display} does not exist` };
      const objection = await this.#objection(normalise(real), path.display);
      if (objection !== null) return objection;
      if ((await stat(real))?.kind !== "directory") {
        return { refused: "not_a_directory", message: `${path.display} is not a directory` };
      }
      const entries = await listDirectory(real) ?? [];
      return entries.sort((one, other) => one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
    } catch (error) {
      return { refused: "unreadable", message: `${path.display} cannot be listed: ${systemReason(error)}` };
    }
  }

  async writable(path: ResolvedPath): Promise<Refusal | null> {
    return this.#outOfReach(path.real, path.display) ??
      await checkWritable(path, { userHome: this.#rules.userHome });
  }

  async write(path: ResolvedPath, bytes: Uint8Array<ArrayBuffer>): Promise<FileStatus | Refusal> {
    return await this.writable(path) ?? await replaceFile(path, bytes);
  }

  /** Refuses what lies outside of the roots, in the tool's home, or among the files of the system. */
  #outOfReach(real: string, display: string): Refusal | null {
    if (rootOf(real, this.#roots) === null) {
      return { refused: "outside", message: `${display} leads out of the project` };
    }
    if (isWithin(foldedPath(this.#rules.home), foldedPath(real))) {
      return { refused: "protected", message: `${display} belongs to agentcli itself; tools do not use it` };
    }
    if (SYSTEM_DIRECTORIES.some((directory) => isWithin(directory, real))) {
      return { refused: "protected", message: `${display} belongs to the system; tools do not use it` };
    }
    return null;
  }

  /**
   * Asked with the real path of what is open or about to be listed. Looks for markers upward from there, so one below
   * the root, or one that appeared since the start, counts.
   */
  async #objection(real: string, display: string): Promise<Refusal | null> {
    const unreachable = this.#outOfReach(real, display);
    if (unreachable !== null || this.#label === "no-cloud") return unreachable;
    const marker = (await markersAbove(real))[0];
    if (marker === undefined) return null;
    if (this.#rules.local) {
      this.#label = "no-cloud";
      return null;
    }
    return {
      refused: "protected",
      message: `${display} is protected by ${marker}, and this model is not local; tell the user to use a local model`,
    };
  }
}
