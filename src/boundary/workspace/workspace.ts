/** The part of the disk that a session works on, as tools see it. */
import type { Label } from "../policy/label.ts";
import type { ProtectionRule } from "../policy/protection_rule.ts";
import type { FileBytes } from "../reader.ts";
import type { DiskWorkspace } from "./disk.ts";

/** A path inside the places that tools may use. */
export interface ResolvedPath {
  /** Absolute and normalized, links not resolved. */
  path: string;
  /** With links resolved. Equals `path` for a missing file below a real directory. */
  real: string;
  /** For messages: relative to the project root (`.` for the root itself), absolute in an additional root. */
  display: string;
}

/** Content with its label. */
export interface LabeledBytes extends FileBytes {
  label: Label;
  /** The rule that covers the file, if any; the label is then `no-cloud`. */
  rule?: ProtectionRule | undefined;
}

/** At most `limit` bytes from `offset`. Defaults: from the first byte, up to the reader's limit. */
export interface ByteRange {
  offset?: number;
  limit?: number;
}

/** Why something was not done. */
export interface Refusal {
  refused: "outside" | "absent" | "not_a_file" | "not_a_directory" | "protected" | "write_protected" | "unreadable";
  /** For the model, with what to do next. */
  message: string;
  /** True for a path outside the project whose first two names do not exist. */
  unknown?: boolean;
  /** For the user, if that differs from the message for the model. */
  forUser?: { message: string; hint: string };
}

/** Where tools read and write. All results are labeled, and all refusals have a reason. */
export type Workspace = Pick<DiskWorkspace, keyof DiskWorkspace>;
