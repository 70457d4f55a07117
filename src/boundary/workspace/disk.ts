/** The workspace on the disk: paths, reads and writes of tools under the rules of the boundary. */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import { type DirectoryEntry, type FileStatus, listDirectory, realPath, stat } from "../../platform/files.ts";
import { isAbsolute, isWithin, normalize, relativeTo } from "../../platform/path.ts";
import { realOrNamed } from "../../platform/real_path.ts";
import { foldedPath } from "../../platform/case_folded.ts";
import type { Label } from "../policy/label.ts";
import { isLocal } from "../policy/locality.ts";
import { endpointsThatCount, realDirectory, recordSeen } from "../policy/project.ts";
import { findMarkers } from "../policy/path_rules.ts";
import type { ProjectRecord } from "../policy/project_record.ts";
import type { DerivedFile } from "../policy/project_record_files.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { describeRule, isOfGit, type ProtectionRule, ruleOfGit } from "../policy/protection_rule.ts";
import { type FileBytes, readRegularFile } from "../reader.ts";
import type { EntryChange } from "./entry.ts";
import { checkWritable, refuse, resolvePath, rootOf } from "./paths.ts";
import { isOfSystem } from "../policy/listing.ts";
import { writeProtectionOnDisk } from "../policy/write_protected.ts";
import type { ByteRange, LabeledBytes, Refusal, ResolvedPath, Workspace } from "./workspace.ts";

/** Largest protected file that is shown in another way than it is, in bytes. */
const VIEW_LIMIT = 4 * 1024 * 1024;

/** How protected files are shown and changed in another way than they are; each is read from its beginning for it. */
export interface FileView {
  /** Returns a range of what is shown. */
  shown(whole: FileBytes | Refusal, path: ResolvedPath, range: ByteRange): FileBytes | Refusal;
  /** Returns what is written where somebody who saw that writes these bytes. */
  restored(whole: FileBytes | Refusal, path: ResolvedPath, bytes: Uint8Array<ArrayBuffer>):
    | Uint8Array<ArrayBuffer>
    | Refusal;
}

/** The options of {@link openWorkspace}. */
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
  /** Our variables, of which git takes where its settings lie. */
  env?: ((name: string) => string | undefined) | undefined;
  /** The values of `local-endpoints:` that have an effect, from `openProject`. */
  localEndpoints: readonly string[];
  /** The records in the home of the root and the additional directories. */
  records?: readonly ProjectRecord[];
  /** Of a session that goes on here, with what it has seen; taken where the roots are the same. */
  protection?: ProtectedSet | undefined;
  /** Told when the search for what is protected takes long, or finds something. */
  notify?: ((message: string) => void) | undefined;
  /** `baseUrl`: the effective one, classified anew at each refresh; without it `local` holds as it is. */
  provider: { local: boolean; name: string; baseUrl?: string };
  /** Shows protected files in another way than they are; absent: as they are. */
  view?: FileView | undefined;
  /** Returns why a tool may not change this path, though nothing else keeps it; null when it may. Absent: it may. */
  narrow?: ((path: ResolvedPath, rule: ProtectionRule | null) => Refusal | null) | undefined;
  /** As for `HoldOptions`; false when absent. */
  ownProcess?: boolean;
}

/** The way on for a person whose provider is not local. */
const WAY_ON = "use a local model, or, when that server is yours: agentcli secrets add --local-endpoint <its host>";

/** Returns the refusal of a provider that is not local. A command of an earlier session may have left the marker. */
function damagedMarker(rule: ProtectionRule, { root, provider }: { root: string; provider: string }): AgentcliError {
  const { damaged, marker } = rule;
  const repair = damaged?.startsWith("line ") ? `repair that line of ${marker}` : `make ${marker} a readable text file`;
  const reason = `so everything counts as protected, and the provider "${provider}" is not local`;
  return new AgentcliError("policy_refused", `${describeRule(rule, root)}; ${reason}`, {
    hint: `${repair}; if you did not write it, remove it: what was protected before stays so ` +
      "(agentcli doctor names every such file). A local model may be used meanwhile",
  });
}

/**
 * Opens the part of the disk that tools may use. What the markers cover is `no-cloud` for a local provider and refused to
 * others; everything else is open. A marker that cannot be used (at the root, above, below, in an additional directory)
 * protects everything, and is `policy_refused` for a provider that is not local. Throws `usage` for directories that are
 * none.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const additional = await Promise.all(options.additional.map(realDirectory));
  const [root, cwd] = [await realDirectory(options.root), await realDirectory(options.cwd)];
  const workspace = new DiskWorkspace({ ...options, root, cwd, additional });
  await workspace.refresh();
  return workspace;
}

/** A {@link Workspace}. */
export class DiskWorkspace {
  readonly #options: WorkspaceOptions;
  readonly #records: readonly ProjectRecord[];
  /** Folded. */
  readonly #home: string;
  /** A real path. */
  readonly #userHome: string | null;
  /** A real path, as those below. */
  readonly root: string;
  readonly additional: readonly string[];
  /** Where relative paths start. */
  readonly cwd: string;
  /** Of the project in the home; undefined where there is no home. */
  readonly record: ProjectRecord | undefined;
  /** Which paths are protected, for sandboxes and scans. */
  readonly protection: ProtectedSet;
  /** Whether the provider counts as local now; within a session it can only stop to. */
  local: boolean;
  #localEndpoints: readonly string[];
  /** The version of the protected set that the home knows. */
  #remembered = -1;
  readonly #used = new Set<string>();
  /** Real paths of files outside of the roots that may be read. */
  readonly lent = new Set<string>();

  /** Its directories are real paths. */
  constructor(options: WorkspaceOptions) {
    const { root, additional, cwd, records = [], protection, userHome = "" } = this.#options = options;
    this.root = root;
    this.additional = additional;
    this.cwd = cwd;
    this.#records = records;
    this.record = records[0];
    this.#home = foldedPath(realOrNamed(normalize(options.home)));
    this.#userHome = isAbsolute(userHome) ? realOrNamed(normalize(userHome)) : null;
    this.local = options.provider.local;
    this.#localEndpoints = options.localEndpoints;
    const roots = [root, ...additional];
    this.protection = protection?.isOf(roots) ? protection : new ProtectedSet(roots);
    this.protection.remember(records);
  }

  /** Label of things that are not one file: names, listings, command output. Protected when a marker cannot be used. */
  get ambientLabel(): Label {
    return this.protection.damaged === null ? "open" : "no-cloud";
  }

  /**
   * Called first and before each request: reads the markers (for a provider that is not local also those below the roots,
   * since one may be damaged) and classifies the provider's address anew. What was protected stays so. Throws
   * `policy_refused` when a marker cannot be used and the provider is not local.
   */
  async refresh(signal?: AbortSignal): Promise<void> {
    await this.protection.reread();
    this.protection.refresh();
    // Where a marker was met, and for a provider that is not local, all that is protected is known from then on.
    const isKnown = !this.local || this.protection.met;
    await this.#remember(isKnown ? await this.protection.settle({ signal, onSlow: this.#options.notify }) : []);
    if (this.#localEndpoints.length > 0) {
      // What is no longer in the marker has no effect, and what is new in it has none in this session.
      const rules = findMarkers(this.root);
      const { baseUrl } = this.#options.provider;
      const now = this.#records.length === 0 ? rules.standingEndpoints : endpointsThatCount(rules, this.#records).count;
      this.#localEndpoints = this.#localEndpoints.filter((value) => now.includes(value));
      this.local &&= baseUrl === undefined || this.countsAsLocal(baseUrl);
    }
    this.#refuseUnsafe();
  }

  /**
   * Called before each call of a tool: takes what other sessions have recorded since. Before one that `changes` files the
   * project is recorded, as it stood when it was opened.
   */
  async beforeCall({ changes }: { changes: boolean }): Promise<void> {
    await this.protection.reread();
    // What a local model reads is stored before the next request looks anew.
    if (this.local) this.protection.refresh();
    for (const record of changes ? this.#records : []) await record.note();
  }

  /** Whether an address counts as local now: within a session it can only stop to. */
  countsAsLocal(baseUrl: string): boolean {
    return isLocal(baseUrl, this.#localEndpoints);
  }

  /** The provider was found not to run its model here: for the rest of the session it does not count as local. */
  becomeRemote(): void {
    this.local = false;
    this.#refuseUnsafe();
  }

  async #remember(found: readonly DerivedFile[]): Promise<void> {
    const { version } = this.protection;
    await recordSeen(this.protection, this.#records, { found, isNew: version !== this.#remembered });
    this.#remembered = version;
    if (found.length === 0) return;
    const names = found.map(({ path }) => isWithin(this.root, path) ? relativeTo(this.root, path) : path).join(", ");
    this.#options.notify?.(
      `protected from now on, since they are or hold what was protected: ${names} (agentcli secrets trust releases them)`,
    );
  }

  #refuseUnsafe(): void {
    if (this.local) return;
    const { provider } = this.#options;
    const { damaged } = this.protection;
    if (damaged !== null) throw damagedMarker(damaged, { root: this.root, provider: provider.name });
    const problem = this.#records.find((record) => record.problem !== null)?.problem;
    if (problem === undefined || problem === null) return;
    const hint = problem.hint ?? "make the home a directory that can be written (agentcli doctor)";
    throw new AgentcliError(
      "policy_refused",
      `what the markers of this project say cannot be remembered (${problem.message}), and the provider ` +
        `"${provider.name}" is not local`,
      { hint: `${hint}; or use a local model` },
    );
  }

  /** The rule that covers a place, or the open file of this status; a link can be covered by its own name too. */
  ruleAt({ path, real }: Pick<ResolvedPath, "path" | "real">, status?: FileStatus): ProtectionRule | null {
    const rule = status === undefined ? this.protection.rule(real) : this.protection.ruleOfFile(status, real);
    const found = rule ?? this.#ruleOfGit(real);
    return found !== null || path === real ? found : this.protection.rule(path) ?? this.#ruleOfGit(path);
  }

  /** A local session looks no further than the markers it has met. */
  #ruleOfGit(path: string): ProtectionRule | null {
    const { protection } = this;
    // An added directory may itself lie in what git keeps.
    if (!isOfGit(isWithin(this.root, path) ? path.slice(this.root.length) : path)) return null;
    return (this.local ? protection.anySoon : protection.any) ? ruleOfGit(protection.markers) : null;
  }

  resolve(path: string): Promise<ResolvedPath | Refusal> {
    return resolvePath(path, this);
  }

  // deno-lint-ignore require-await -- done synchronously; a promise, so that callers need not know
  async read(path: ResolvedPath, range: ByteRange = {}): Promise<LabeledBytes | Refusal> {
    const read = this.#read(path, range);
    // Since it was resolved, a link can have come or gone.
    if (!("refused" in read)) this.noteUsed({ path: path.path, real: read.real });
    return read;
  }

  /** Lets tools read one file outside of the roots, by its real path: the rest of a long result. */
  lend(path: string): void {
    this.lent.add(path);
  }

  /** Notes a file of which content is used: one that {@link readAll} gave, or that another workspace read. */
  noteUsed({ path, real }: Pick<ResolvedPath, "path" | "real">): void {
    this.#used.add(real).add(path);
  }

  /**
   * Returns the files of which content was read or written since this was last asked, for the item that holds it: real
   * paths, and links that led there, from the root where they lie in it. They tell later what was read before it was protected.
   */
  takeUsed(): readonly string[] {
    const used = [...this.#used].map((path) => isWithin(this.root, path) ? relativeTo(this.root, path) : path);
    this.#used.clear();
    return used;
  }

  /** Reads many, each when it is asked for; {@link noteUsed} tells which were of use. */
  *readAll(paths: readonly ResolvedPath[], range: ByteRange = {}): Generator<LabeledBytes | Refusal> {
    for (const path of paths) yield this.#read(path, range);
  }

  #read(path: ResolvedPath, range: ByteRange): LabeledBytes | Refusal {
    const { display } = path;
    let rule: ProtectionRule | null = null;
    const precheck = (real: string, status: FileStatus): Refusal | null => {
      rule = this.ruleAt({ path: path.path, real }, status);
      return (real === path.real ? null : this.#outOfReach(real, display)) ?? this.#redacted(rule, display);
    };
    const read = this.#outOfReach(path.real, display) ??
      readRegularFile(path.path, { ...range, display, precheck });
    if ("refused" in read) return read;
    // The reader has asked `precheck`, which the compiler cannot see.
    const found = rule as ProtectionRule | null;
    const view = found === null ? undefined : this.#options.view;
    // Seen as a whole: no part of a file tells how it is made.
    const seen = view?.shown(readRegularFile(path.path, { limit: VIEW_LIMIT, display, precheck }), path, range) ?? read;
    if ("refused" in seen) return seen;
    return { ...seen, ...found === null ? { label: "open" } : { label: "no-cloud", rule: found } };
  }

  async status(path: ResolvedPath): Promise<FileStatus | null> {
    return await stat(path.real).catch(() => null);
  }

  /** Sorted by name. */
  async list(path: ResolvedPath): Promise<DirectoryEntry[] | Refusal> {
    try {
      const real = await realPath(path.path);
      if (real === null) {
        return { refused: "absent", message: `${path.display} does not exist; list the directory above it` };
      }
      const refused = this.#outOfReach(normalize(real), path.display);
      if (refused !== null) return refused;
      if ((await stat(real))?.kind !== "directory") {
        return { refused: "not_a_directory", message: `${path.display} is not a directory; call Read with it` };
      }
      const entries = await listDirectory(real) ?? [];
      return entries.sort((one, other) => one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
    } catch (error) {
      const reason = systemReason(error);
      return { refused: "unreadable", message: `${path.display} cannot be listed: ${reason}; go on without it` };
    }
  }

  /** Whether this path may be written by a tool; asked before permission, so that nobody is asked in vain. */
  async writable(path: ResolvedPath): Promise<Refusal | null> {
    return await this.#changeable(path) ?? await checkWritable(path);
  }

  async #changeable(path: ResolvedPath): Promise<Refusal | null> {
    const rule = this.ruleAt(path);
    const refused = this.#outOfReach(path.real, path.display, { isWritten: true }) ??
      this.#redacted(rule, path.display) ?? this.#options.narrow?.(path, rule) ?? null;
    if (refused !== null) return refused;
    const protection = await this.writeProtection(path);
    return protection === null
      ? null
      : refuse(path.display, `${protection}; only the user changes it: tell the user what to change`);
  }

  /** Makes an entry what it was, whatever its kind and mode; null when it is. See {@link restoreEntry}. */
  async restore(path: ResolvedPath, change: EntryChange): Promise<Refusal | null> {
    const { restoreEntry } = await import("./entry.ts");
    return await this.#changeable(path) ?? restoreEntry(path, change, this.#options);
  }

  /** Why no tool may change a path, whatever it is called, a few words; null when one may. */
  writeProtection(path: Pick<ResolvedPath, "path" | "real">): Promise<string | null> {
    const { roots, markers } = this.protection;
    return writeProtectionOnDisk(path, { roots, markers, user: { userHome: this.#userHome, env: this.#options.env } });
  }

  /** Replaces or creates the file, parents included; never through a symlink; the mode of an existing file is kept. */
  async write(path: ResolvedPath, bytes: Uint8Array<ArrayBuffer>): Promise<FileStatus | Refusal> {
    const { replaceFile } = await import("./entry.ts");
    const refused = await this.writable(path);
    if (refused !== null) return refused;
    const { view } = this.#options;
    const whole = () => readRegularFile(path.path, { limit: VIEW_LIMIT, display: path.display });
    const content = view === undefined || this.ruleAt(path) === null ? bytes : view.restored(whole(), path, bytes);
    if ("refused" in content) return content;
    this.noteUsed(path);
    return replaceFile(path, content, this.#options);
  }

  /** Refuses what lies outside of the roots, in the tool's home, or among the files of the system. */
  #outOfReach(real: string, display: string, { isWritten = false } = {}): Refusal | null {
    if (this.lent.has(real) && !isWritten) return null;
    if (rootOf(real, this) === null) {
      return { refused: "outside", message: `${display} leads out of the project; give a path below ${this.root}` };
    }
    if (isWithin(this.#home, foldedPath(real))) {
      return { refused: "protected", message: `${display} belongs to agentcli itself; go on without it` };
    }
    if (isOfSystem(real)) {
      return { refused: "protected", message: `${display} belongs to the system; go on without it` };
    }
    return null;
  }

  /** Why this provider's models do not get the content; null when they may. */
  #redacted(rule: ProtectionRule | null, display: string): Refusal | null {
    if (rule === null || (this.local && rule.tier === "no-cloud")) return null;
    const [reason, hint] = rule.tier === "list-only"
      ? [": its content is for no model", "leave the file out"]
      : [`, and the provider "${this.#options.provider.name}" is not local`, WAY_ON];
    const message = `${display} is protected (${describeRule(rule, this.root)})${reason}`;
    // The model is never told how to loosen a rule: that is for the person alone.
    return { refused: "protected", message: `${message}; go on without it`, forUser: { message, hint } };
  }
}
