/**
 * What a sandbox is asked and what it answers. A sandbox runs a command so that protected paths are not there for it.
 * Source: specification of the boundary, "Commands".
 */
import type { NamelessFile } from "../policy/inode_index.ts";

/** Existing protected paths: one entry for a directory that is protected as a whole, none for what lies in it. */
export interface HiddenPaths {
  /** Absolute. */
  files: readonly string[];
  /** Absolute. */
  directories: readonly string[];
  /** Protected files that none of the paths names: their other names are hidden. */
  nameless?: readonly NamelessFile[];
}

/** What the sandbox needs of the rules that protect a project. */
export interface ProtectedPlaces {
  /** Whether anything at all is protected. */
  readonly any: boolean;
  /** The markers, absolute. */
  readonly markers: readonly string[];
  hidden(): Promise<HiddenPaths>;
  /** Looks at the disk and the markers again, from the next question on. */
  refresh(): void;
  /** Something when a rule covers the absolute path, whether or not anything stands there; null when none does. */
  rule(path: string): unknown;
}

/** One command to be run in a sandbox. All paths are absolute. */
export interface SandboxRequest {
  /** The project, a real path. */
  root: string;
  /** More roots of the session, real paths. */
  additional: readonly string[];
  /** Where the command starts; inside of a root. */
  cwd: string;
  argv: readonly [string, ...string[]];
  /** The variables of the command: without keys already. */
  env: Readonly<Record<string, string>>;
  hide: HiddenPaths;
  /** What must not be changed besides what {@link ./tamper_check.ts} finds by itself: the markers. */
  readOnly: readonly string[];
  /** Whether the history of git may be seen; `sandboxed` hides every place below the roots where git keeps content. */
  git: "open" | "hidden";
  network: boolean;
  /** Whether the roots can be written; `write` when absent. */
  access?: "read" | "write";
  /** More places, absolute real paths: of a repository that lies elsewhere, or that may be written in roots that may not. */
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
  /** What the command will miss, one sentence each. */
  notices: string[];
  /**
   * To be called when the command has ended: undoes what it must not have made. Tells what was undone, and whether a
   * hidden path was replaced meanwhile, so that the output cannot be trusted.
   */
  finish(): Promise<TamperReport>;
}

/** What was found after a command. */
export interface TamperReport {
  /** Absolute paths that were made by the command and are gone again. */
  undone: string[];
  /** Hidden paths that are no longer what was hidden. */
  replaced: string[];
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
  /** `always`: also where nothing is protected. */
  mode: "auto" | "always";
  network: boolean;
  /** Absolute directories that commands may read. */
  read: readonly string[];
  /** Absolute directories that commands may write. */
  write: readonly string[];
}
