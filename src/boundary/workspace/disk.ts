/** The workspace on the disk: paths, reads and writes of tools under the rules of the boundary. */
import { AgentcliError } from "../../errors.ts";
import { systemReason } from "../../platform/disk_failure.ts";
import { type DirectoryEntry, type FileStatus, listSync, realPathSync, statSync } from "../../platform/files.ts";
import { isWithin, normalize, relativeTo } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { foldedPath } from "../../platform/case_folded.ts";
import type { GitUser } from "../../shell/git.ts";
import type { Label } from "../policy/label.ts";
import { isLocal } from "../policy/locality.ts";
import { endpointsThatCount, linksTo, realDirectory, recordSeen } from "../policy/project.ts";
import { findMarkers } from "../policy/path_rules.ts";
import type { ProjectRecord } from "../policy/project_record.ts";
import { ProtectedSet } from "../policy/protected.ts";
import { describeRule, isOfGit, type ProtectionRule, repairOf, ruleOfGit } from "../policy/protection_rule.ts";
import { type FileBytes, readRegularFile } from "../reader.ts";
import type { EntryChange } from "./entry.ts";
import { checkWritable, refuse, resolvePath, rootOf } from "./paths.ts";
import { isOfSystem, isUnjudged } from "../policy/listing.ts";
import { writeProtectionOnDisk } from "../policy/write_protected.ts";
import type { ByteRange, LabeledBytes, Refusal, ResolvedPath, Workspace } from "./workspace.ts";

/** Largest protected file that a {@link FileView} can show, in bytes. */
const VIEW_LIMIT = 4 * 1024 * 1024;

/** Shows protected files in another form, and maps edits back. Each file is read as a whole for it. */
export interface FileView {
  /** Returns a range of what is shown. */
  shown(whole: FileBytes | Refusal, path: ResolvedPath, range: ByteRange): FileBytes | Refusal;
  /** Returns the bytes to write, given an edit of the shown form. */
  restored(whole: FileBytes | Refusal, path: ResolvedPath, bytes: Uint8Array<ArrayBuffer>):
    | Uint8Array<ArrayBuffer>
    | Refusal;
}

/** The options of {@link openWorkspace}. */
interface WorkspaceOptions {
  /** The project root, a real path. */
  root: string;
  /** Directories of `--add-dir`, absolute. */
  additional: readonly string[];
  /** Where relative paths start, inside a root. */
  cwd: string;
  /** The tool's own home: never read, never written by tools. */
  home: string;
  /** Whose start-up files and settings of git are write-protected; by default, files named like them are everywhere. */
  user?: GitUser;
  /** The values of `local-endpoints:` that have an effect, from `openProject`. */
  localEndpoints: readonly string[];
  /** The records in the home: of the root first, then of the additional directories; none without a home. */
  records?: readonly ProjectRecord[];
  /** The protected set of a continued session, used if the roots are the same. */
  protection?: ProtectedSet | undefined;
  /** Called when the search for protected files takes long or finds something. */
  notify?: ((message: string) => void) | undefined;
  /** `baseUrl` is classified again at each refresh; without it, `local` stays as given. */
  provider: { local: boolean; name: string; baseUrl?: string };
  /** Shows protected files in another form. */
  view?: FileView | undefined;
  /** Returns why a tool may not change this path, beyond all other rules, or null. */
  narrow?: ((path: ResolvedPath, rule: ProtectionRule | null) => Refusal | null) | undefined;
  /** As in `HoldOptions`; false by default. */
  ownProcess?: boolean;
}

/** Advice for a user whose provider is not local. */
const WAY_ON = "use a local model, or, when that server is yours: agentcli secrets add --local-endpoint <its host>";

/**
 * Opens the part of the disk that tools may use. Files that markers cover are labeled `no-cloud` for a local provider
 * and refused to others; everything else is open. An unusable marker (at the root, above, below, in an additional
 * directory) protects everything and is `policy_refused` for a remote provider. Throws `usage` if a path is not a
 * directory.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const workspace = new DiskWorkspace({
    ...options,
    root: realDirectory(options.root),
    cwd: realDirectory(options.cwd),
    additional: options.additional.map(realDirectory),
  });
  for (const link of linksTo([options.cwd, ...options.additional], options.user ?? {})) workspace.protection.rule(link);
  await workspace.refresh();
  return workspace;
}

/** A {@link Workspace}. */
export class DiskWorkspace {
  readonly #options: WorkspaceOptions;
  /** Folded. */
  readonly #home: string;
  /** As in {@link WorkspaceOptions}, real paths. */
  readonly root: string;
  readonly additional: readonly string[];
  readonly cwd: string;
  readonly records: readonly ProjectRecord[];
  /** Which paths are protected, for sandboxes and scans. */
  readonly protection: ProtectedSet;
  /** Whether the provider counts as local now. Within a session this can only become false. */
  local: boolean;
  #localEndpoints: readonly string[];
  /** The version of the protected set that was last recorded in the home. */
  #remembered = -1;
  readonly #used = new Set<string>();
  /** Real paths of files outside the roots that tools may read: the rest of long results. */
  readonly lent = new Set<string>();
  /** Returns why the home cannot remember something of the project, or null. */
  readonly #problem = () => this.records.find(({ problem }) => problem !== null)?.problem ?? null;

  /** Its directories are real paths. */
  constructor(options: WorkspaceOptions) {
    const { root, additional, cwd, records = [], protection } = this.#options = options;
    this.root = root;
    this.additional = additional;
    this.cwd = cwd;
    this.records = records;
    this.#home = foldedPath(realOrNamed(normalize(options.home)));
    this.local = options.provider.local;
    this.#localEndpoints = options.localEndpoints;
    const roots = [root, ...additional];
    this.protection = protection?.isOf(roots) ? protection : new ProtectedSet(roots);
    this.protection.remember(records);
  }

  /** The label of what is from no single file: names, listings, command output. Protected if a marker is unusable. */
  get ambientLabel(): Label {
    return this.protection.damaged === null ? "open" : "no-cloud";
  }

  /**
   * Rereads the markers (for a remote provider also those below the roots, since one may be damaged) and classifies the
   * provider's address again. Called at first and before each request. What was protected stays protected. Throws
   * `policy_refused` if a marker is unusable and the provider is remote.
   */
  async refresh(signal?: AbortSignal): Promise<void> {
    await this.protection.reread();
    this.protection.refresh();
    // With a marker, and for every remote provider, the whole protected set is known from here on.
    const isKnown = !this.local || this.protection.met;
    if (isKnown) await this.protection.settle({ signal, onSlow: this.#options.notify });
    await this.#remember();
    if (this.#localEndpoints.length > 0) {
      // An endpoint removed from the marker loses its effect; one added now has none in this session.
      const rules = findMarkers(this.root);
      const now = this.records.length === 0 ? rules.standingEndpoints : endpointsThatCount(rules, this.records).count;
      this.#localEndpoints = this.#localEndpoints.filter((value) => now.includes(value));
      this.local &&= this.countsAsLocal();
    }
    this.#refuseUnsafe();
  }

  /** Called before each tool call: rereads what other sessions recorded, and records that the project was seen. */
  async beforeCall(): Promise<void> {
    await this.protection.reread();
    // What a model reads is stored before the next request refreshes the rules.
    this.protection.refresh();
    for (const record of this.records) await record.note();
  }

  /** Does the same as {@link ProtectedSet.lasts}, once everything that was seen is recorded. */
  async lasts({ real }: Pick<ResolvedPath, "real">): Promise<boolean> {
    await this.#remember();
    return this.protection.lasts(real);
  }

  /** Returns whether an address, by default the provider's, counts as local now. */
  countsAsLocal(baseUrl = this.#options.provider.baseUrl): boolean {
    return baseUrl === undefined || isLocal(baseUrl, this.#localEndpoints);
  }

  /** Whether the model counts as one of this machine, not only of a host that a `local-endpoints:` line names. */
  get isHere(): boolean {
    return this.local && isLocal(this.#options.provider.baseUrl ?? "http://localhost", []);
  }

  /** Called when the provider turns out not to run its model here: for the rest of the session it is remote. */
  becomeRemote(): void {
    this.local = false;
    this.#refuseUnsafe();
  }

  async #remember(): Promise<void> {
    const { version } = this.protection;
    const before = this.#problem();
    if (version !== this.#remembered || this.protection.linked.length > 0) {
      await recordSeen(this.protection, this.records);
    }
    this.#remembered = version;
    const problem = this.local && before === null ? this.#problem() : null;
    if (problem !== null) this.#options.notify?.(`what is protected here cannot be remembered: ${problem.message}`);
  }

  #refuseUnsafe(): void {
    const { damaged } = this.protection;
    const problem = this.#problem();
    if (this.local || damaged === null && problem === null) return;
    const reason = `the provider "${this.#options.provider.name}" is not local`;
    const [what, hint] = damaged !== null
      ? [`${describeRule(damaged, this.root)}; so everything counts as protected`, repairOf(damaged)]
      : [
        `what the markers of this project say cannot be remembered (${problem?.message})`,
        `${problem?.hint ?? "make the home a directory that can be written (agentcli doctor)"}; or use a local model`,
      ];
    throw new AgentcliError("policy_refused", `${what}, and ${reason}`, { hint });
  }

  /** Returns the rule that covers a path, or an open file with this status. A link's own name can be covered, too. */
  ruleAt({ path, real }: Pick<ResolvedPath, "path" | "real">, status?: FileStatus): ProtectionRule | null {
    const rule = status === undefined ? this.protection.rule(real) : this.protection.ruleOfFile(status, real);
    const found = rule ?? this.#ruleOfGit(real);
    return found !== null || path === real ? found : this.protection.rule(path) ?? this.#ruleOfGit(path);
  }

  /** For speed, a local session looks only at the markers found so far. */
  #ruleOfGit(path: string): ProtectionRule | null {
    const { protection } = this;
    // An additional directory can itself lie inside a `.git`.
    if (!isOfGit(relativeTo(this.root, path))) return null;
    return (this.local ? protection.anySoon : protection.any) ? ruleOfGit(protection.markers) : null;
  }

  // Synchronous inside, as those below; promises, so that callers do not depend on it.
  resolve(path: string): Promise<ResolvedPath | Refusal> {
    return Promise.resolve(resolvePath(path, this));
  }

  read(path: ResolvedPath, range: ByteRange = {}): Promise<LabeledBytes | Refusal> {
    const read = this.peek(path, range);
    // Links can have changed since the path was resolved.
    if (!("refused" in read)) this.noteUsed({ path: path.path, real: read.real });
    return Promise.resolve(read);
  }

  /** Notes a file whose content is used, after {@link peek} or a read by another workspace. */
  noteUsed({ path, real }: Pick<ResolvedPath, "path" | "real">): void {
    this.#used.add(real).add(path);
  }

  /**
   * Returns the files whose content was read or written since the last call, for the item that holds it: real paths and
   * the links to them, relative to the root if inside it. A stored item with a file that is protected later is found by
   * them.
   */
  takeUsed(): readonly string[] {
    const used = [...this.#used].map((path) => relativeTo(this.root, path));
    this.#used.clear();
    return used;
  }

  /** Reads a file at once. If its content is used, the caller reports that with {@link noteUsed}. */
  peek(path: ResolvedPath, range: ByteRange = {}): LabeledBytes | Refusal {
    const { display } = path;
    let rule: ProtectionRule | null = null;
    const precheck = (real: string, status: FileStatus): Refusal | null => {
      rule = this.ruleAt({ path: path.path, real }, status);
      return (real === path.real ? null : this.#outOfReach(real, display)) ?? this.#redacted(rule, display);
    };
    const read = this.#outOfReach(path.real, display) ??
      readRegularFile(path.path, { ...range, display, precheck });
    if ("refused" in read) return read;
    // The compiler cannot see that the reader called `precheck`.
    const found = rule as ProtectionRule | null;
    const view = found === null ? undefined : this.#options.view;
    // A view needs the whole file, because a part does not show its structure.
    const seen = view?.shown(readRegularFile(path.path, { limit: VIEW_LIMIT, display, precheck }), path, range) ?? read;
    if ("refused" in seen) return seen;
    return { ...seen, ...found === null ? { label: "open" } : { label: "no-cloud", rule: found } };
  }

  status(path: ResolvedPath): Promise<FileStatus | null> {
    return Promise.resolve(quietly(() => statSync(path.real)));
  }

  /** Lists a directory, sorted by name. */
  // deno-lint-ignore require-await -- as for `resolve`
  async list(path: ResolvedPath): Promise<DirectoryEntry[] | Refusal> {
    try {
      const real = realPathSync(path.path);
      if (real === null) {
        return { refused: "absent", message: `${path.display} does not exist; list the directory above it` };
      }
      const refused = this.#outOfReach(normalize(real), path.display);
      if (refused !== null) return refused;
      if (statSync(real)?.kind !== "directory") {
        return { refused: "not_a_directory", message: `${path.display} is not a directory; call Read with it` };
      }
      const entries = listSync(real) ?? [];
      return entries.sort((one, other) => one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
    } catch (error) {
      const reason = systemReason(error);
      return { refused: "unreadable", message: `${path.display} cannot be listed: ${reason}; go on without it` };
    }
  }

  /** Returns why a tool may not write this path, or null. Called before permission is asked, to save questions. */
  async writable(path: ResolvedPath): Promise<Refusal | null> {
    return await this.#changeable(path) ?? checkWritable(path);
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

  /** Restores an entry of any kind, with its mode; returns null on success. See {@link restoreEntry}. */
  async restore(path: ResolvedPath, change: EntryChange): Promise<Refusal | null> {
    const { restoreEntry } = await import("./entry.ts");
    return await this.#changeable(path) ?? restoreEntry(path, change, this.#options);
  }

  /** Returns why no tool may change a path, by any name, in a few words, or null. */
  writeProtection(path: Pick<ResolvedPath, "path" | "real">): Promise<string | null> {
    const { roots, markers } = this.protection;
    return writeProtectionOnDisk(path, { roots, markers, user: this.#options.user ?? { userHome: null } });
  }

  /** Creates or replaces a file and its parent directories. Writes through no link; keeps the mode of an old file. */
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

  /** Refuses paths outside the roots, in agentcli's home or system directories, and for remote models unjudged ones. */
  #outOfReach(real: string, display: string, { isWritten = false } = {}): Refusal | null {
    if (this.lent.has(real) && !isWritten) return null;
    if (rootOf(real, this) === null) {
      return { refused: "outside", message: `${display} leads out of the project; give a path below ${this.root}` };
    }
    const owner = isWithin(this.#home, foldedPath(real)) ? "agentcli itself" : isOfSystem(real) ? "the system" : null;
    const reason = owner ? `belongs to ${owner}` : this.local || !isUnjudged(real) ? null : "is too long or not UTF-8";
    if (reason === null) return null;
    return { refused: "protected", message: `${display} ${reason}; go on without it` };
  }

  /** Returns why this provider's models may not read the content, or null. */
  #redacted(rule: ProtectionRule | null, display: string): Refusal | null {
    if (rule === null || (this.local && rule.tier === "no-cloud")) return null;
    const [reason, hint] = rule.tier === "list-only"
      ? [": its content is for no model", "leave the file out"]
      : [`, and the provider "${this.#options.provider.name}" is not local`, WAY_ON];
    const message = `${display} is protected (${describeRule(rule, this.root)})${reason}`;
    // How to loosen a rule is for the user to know, never for the model.
    return { refused: "protected", message: `${message}; go on without it`, forUser: { message, hint } };
  }
}
