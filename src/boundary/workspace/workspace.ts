/** The part of the disk a session works on, as tools see it: paths resolved, files read and written under the rules. */
import type { Label } from "../policy/label.ts";
import type { ProtectionRule } from "../policy/protection_rule.ts";
import type { FileBytes } from "../reader.ts";
import type { DiskWorkspace } from "./disk.ts";

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
export interface LabeledBytes extends FileBytes {
  label: Label;
  /** The line of a marker that covers the file; with it the label is `no-cloud`. */
  rule?: ProtectionRule | undefined;
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

/** Where tools read and write. Everything returned is labeled; everything refused says why. */
export type Workspace = Pick<DiskWorkspace, keyof DiskWorkspace>;
