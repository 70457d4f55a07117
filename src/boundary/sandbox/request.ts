/**
 * What a sandbox is asked and what it answers. A sandbox runs a command so that protected paths are not there for it.
 * Source: specification of the boundary, "A view that fails closed".
 */
import type { ProtectedPlaces } from "../policy/protected_tree.ts";

/** What a view must not show as it is. */
export type HiddenPlaces = Pick<ProtectedPlaces, "files" | "directories"> & Partial<ProtectedPlaces>;

/**
 * What commands see of repositories. `hidden`: nothing. `read-only`: for sessions that hold protected content, and so run
 * here. `open`: in roots without a marker, where git and its settings are the user's as they are outside of a sandbox.
 */
export type GitAccess = "hidden" | "read-only" | "open";

/** One command to be run in a sandbox. All paths are absolute. */
export interface SandboxRequest {
  /** The project, a real path. */
  root: string;
  /** More roots of the session, real paths. */
  additional: readonly string[];
  /** Where the command starts; inside of a root. */
  cwd: string;
  argv: readonly [string, ...string[]];
  /** The variables of the command, from `sandboxEnvironment`. */
  env: Readonly<Record<string, string>>;
  hide: HiddenPlaces;
  /** What must not be changed besides what {@link ./tamper_check.ts} finds by itself: the markers. */
  readOnly: readonly string[];
  git: GitAccess;
  network: boolean;
  /** Whether the roots can be written; `write` when absent. */
  access?: "read" | "write";
  /** More places, absolute: of a repository that lies elsewhere, or that may be written in roots that may not. */
  more?: readonly { kind: "read" | "write"; path: string }[];
}

/** The request as something that can be started. */
export interface SandboxedCommand {
  kind: "ready";
  argv: [string, ...string[]];
  /** Of the program that makes the sandbox, not of the command: that must not find ours. */
  env: Record<string, string>;
  /** Where the program that makes the sandbox starts. */
  cwd: string;
  /** What the command will miss, one sentence each; what was told before is left out. */
  notices: string[];
  /**
   * To be called when the command has ended, with what must not be shown now: moves away what it must not have made. Tells
   * what was moved, and what could have been seen because it was not hidden yet, so that the output cannot be trusted.
   */
  finish(after: HiddenPlaces): Promise<TamperReport>;
}

/** What was found after a command. */
export interface TamperReport {
  /** What the command made that could run code later; null when there is none. */
  quarantined: QuarantineEntry | null;
  /** Hidden paths that are no longer what was hidden, and protected ones that came to be meanwhile. */
  replaced: string[];
  /** Of those, the ones that the command found hidden: only somebody else can have replaced them. */
  slipped: string[];
}

/** Files that were moved out of a project together. */
export interface QuarantineEntry {
  /** Names it for `agentcli quarantine`. */
  id: string;
  /** Milliseconds since 1970. */
  time: number;
  /** The project they were in. */
  root: string;
  /** Absolute paths that they stood at. */
  paths: string[];
}

/** Why there is no sandbox; the command must not run then. */
export interface SandboxRefusal {
  kind: "refused";
  /** One sentence, without the final stop. */
  reason: string;
  /** What the user can do, one sentence. */
  hint: string;
}

/** The user's settings for sandboxes. */
export interface SandboxSettings {
  /** `always`: also where nothing is protected. `never`: only there where something is. */
  mode: "auto" | "always" | "never";
  network: boolean;
  /** Absolute directories that commands may read. */
  read: readonly string[];
  /** Absolute directories that commands may write. */
  write: readonly string[];
  /** Names of further variables that commands get. */
  env: readonly string[];
}
