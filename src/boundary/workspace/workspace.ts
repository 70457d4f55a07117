/** The part of the disk a session works on, as tools see it: paths resolved, files read and written under the rules. */
import type { DirectoryEntry, FileStatus } from "../../platform/files.ts";
import type { Label } from "../policy/label.ts";
import type { ProjectRecord } from "../policy/project_record.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import type { ProtectionRule } from "../policy/protection_rule.ts";

/** A path that passed the rules of where tools may go. */
export interface ResolvedPath {
  /** Absolute, normalized, as addressed (links not resolved). */
  path: string;
  /** With links resolved; equals `path` for what does not exist yet below a real directory. */
  real: string;
  /** For messages: relative to the project root (`.` for itself); absolute in an additional root. */
  display: string;
}

/** Content with its label. */
export interface LabelledBytes {
  bytes: Uint8Array<ArrayBuffer>;
  /** True when the file is longer than what was asked for. */
  more: boolean;
  label: Label;
  /** The line of a marker that covers the file; with it the label is `no-cloud`. */
  rule?: ProtectionRule | undefined;
  status: FileStatus;
}

/** At most `limit` bytes from `offset`; when absent, as many as the reader gives from the first. */
export interface ByteRange {
  offset?: number;
  limit?: number;
}

/** Why something was not done; `message` is for the model and says what to do next. */
export interface Refusal {
  refused: "outside" | "absent" | "not_a_file" | "not_a_directory" | "protected" | "write_protected" | "unreadable";
  /** For the model. */
  message: string;
  /** Set for a place outside of the project whose first two names lead nowhere. */
  unknown?: boolean;
  /** For the user, where the model's words would not do: what it is, and what to do. */
  forUser?: { message: string; hint: string };
}

/** Where tools read and write. Everything returned is labelled; everything refused says why. */
export interface Workspace {
  /** Absolute real path of the project root. */
  readonly root: string;
  /** Roots of `--add-dir`, absolute real paths. */
  readonly additional: readonly string[];
  /** Where relative paths start. */
  readonly cwd: string;
  /** Label of things that are not one file: names, listings, command output. Protected when a marker cannot be used. */
  readonly ambientLabel: Label;
  /** Whether the provider counts as local now; within a session it can only stop to. */
  readonly local: boolean;
  /** Which paths are protected, for sandboxes and scans; undefined where there is no disk. */
  readonly protection?: ProtectedSet | undefined;
  /** The project's record in the home; undefined where there is no home or no disk. */
  readonly record?: ProjectRecord | undefined;
  /**
   * Called before each request: reads the markers again and classifies the provider's address anew. What was protected
   * stays so. Throws `policy_refused` when a marker cannot be used and the provider is not local.
   */
  refresh(signal?: AbortSignal): Promise<void>;
  /**
   * Called before each call of a tool: takes what other sessions have recorded since. Before one that `changes` files the
   * project is recorded, as it stood when it was opened.
   */
  beforeCall(options: { changes: boolean }): Promise<void>;
  /** Whether an address counts as local now: within a session it can only stop to. */
  countsAsLocal(baseUrl: string): boolean;
  /** The provider was found not to run its model here: for the rest of the session it does not count as local. */
  becomeRemote(): void;
  /** The rule that covers a path, for marks in listings; null when none does. */
  ruleAt(path: ResolvedPath): ProtectionRule | null;
  resolve(path: string): Promise<ResolvedPath | Refusal>;
  read(path: ResolvedPath, range?: ByteRange): Promise<LabelledBytes | Refusal>;
  /** The same for many, each read when it is asked for; {@link noteUsed} tells which were of use. */
  readAll(paths: readonly ResolvedPath[], range?: ByteRange): Iterable<LabelledBytes | Refusal>;
  /** Notes a file of which content is used: one that {@link readAll} gave, or that another workspace read. */
  noteUsed(path: Pick<ResolvedPath, "path" | "real">): void;
  /**
   * Returns the files of which content was read or written since this was last asked, for the item that holds it: real
   * paths, and links that led there, from the root where they lie in it. They tell later what was read before it was protected.
   */
  takeUsed(): readonly string[];
  /** Lets tools read one file outside of the roots, by its real path: the rest of a long result. */
  lend?(path: string): void;
  status(path: ResolvedPath): Promise<FileStatus | null>;
  /** Sorted by name. */
  list(path: ResolvedPath): Promise<DirectoryEntry[] | Refusal>;
  /**
   * Why no tool may change a path that other programs believe or run, a few words; null when one may: by its names, by other
   * names of the same file, and by what git says it would run.
   */
  writeProtection(path: Pick<ResolvedPath, "path" | "real">): Promise<string | null>;
  /** Whether this path may be written by a tool; asked before permission, so that nobody is asked in vain. */
  writable(path: ResolvedPath): Promise<Refusal | null>;
  /** Replaces or creates the file, parents included; never through a symlink; the mode of an existing file is kept. */
  write(path: ResolvedPath, bytes: Uint8Array<ArrayBuffer>): Promise<FileStatus | Refusal>;
  /** Removes a regular file that may be written; null when it is gone, or was not there. */
  remove(path: ResolvedPath): Promise<Refusal | null>;
}
