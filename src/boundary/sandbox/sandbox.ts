/**
 * The sandbox of a session: what it is asked and what it answers. It runs a command so that protected paths are not there
 * for it, and is made when the first command needs it: most sessions never do. Source: specification of the boundary, "A
 * view that fails closed".
 */
import { listDirectory } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import type { KnownProject } from "../policy/project_record_files.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import type { Label } from "../policy/label.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { BackendOptions } from "./backend.ts";

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
  /** Its paths are not there for the command, and its markers cannot be changed. */
  protection: Pick<ProtectedSet, "refresh" | "hidden" | "markers" | "rule">;
  git: GitAccess;
  network: boolean;
  /**
   * Of the Git tool alone, which runs nothing that a repository names, and so is not looked after: how the roots are seen,
   * and what of repositories besides, and which files of these must not be changed; absolute.
   */
  gitTool?: {
    roots: "read" | "write";
    places: readonly { kind: "read" | "write"; path: string }[];
    readOnly: readonly string[];
  };
}

/** The request as something that can be started. */
export interface SandboxedCommand {
  kind: "ready";
  argv: [string, ...string[]];
  /** Of the program that makes the sandbox, not of the command: that must not find ours. */
  env: Record<string, string>;
  /** Of the same program. */
  cwd: string;
  /** Names what the command will miss, one sentence each; what was said before is left out. */
  notices: string[];
  /**
   * To be called while it runs and when it has ended: moves away what the command must not have made, and reports it.
   * Where it throws, nobody knows what the command can see.
   */
  look(): Promise<LookReport>;
  /** Real paths of what `sandbox.write` names. */
  written: readonly string[];
  /**
   * To be called when it has ended and could see what it must not: moves away what came to be since the last look that
   * found nothing exposed, but what a rule of before names in full.
   */
  takeAway(): Promise<QuarantineEntry | null>;
  /** To be called after the last look. */
  close(): Promise<void>;
}

/** The result of a look at the project. */
export interface LookReport {
  /** The files that the command made and that could run code later; null when there are none. */
  quarantined: QuarantineEntry | null;
  /** Hidden paths that are no longer what was hidden, and protected ones that came to be: the command can see them. */
  exposed: string[];
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
  /** Whether their command could see a protected path: they can hold its content in any form. */
  isSecret: boolean;
}

/** Returns what a person is told of files in quarantine. */
export function quarantineNotice(program: string, { id, paths }: QuarantineEntry): string {
  return `${program} made ${paths.join(", ")}, which could run code later: moved to quarantine; ` +
    `to put it back: agentcli quarantine restore ${id}`;
}

/** Returns what a person is told of what a command made that could see a path; the names can hold its content. */
export function takenNotice({ id, paths }: QuarantineEntry, exposed: string): string {
  return `${exposed} was created or replaced meanwhile: what came to be since (${paths.length}) was moved to quarantine; ` +
    `look through it (agentcli quarantine list), then put it back: agentcli quarantine restore ${id}`;
}

/** Why there is no sandbox; the command must not run then. */
export interface SandboxRefusal {
  kind: "refused";
  /** One sentence, without the final stop. */
  reason: string;
  /** One sentence: what the user can do. */
  hint: string;
  /** This machine can make none, for whatever command: nothing that stands in the project or the home is the reason. */
  missing?: true;
}

/** Why programs run in a sandbox. */
export const SANDBOX_REASONS = {
  project: "this project has protected paths",
  always: "sandbox.mode is always",
  external: "other projects of the user have protected paths",
};
export type SandboxReason = keyof typeof SANDBOX_REASONS;

/** Returns why a program has to run in a sandbox now; null where it does not. */
export async function sandboxReason(
  { workspace, sandbox, sessionLabel = "open" }: {
    workspace: Workspace;
    sandbox?: SessionSandbox | undefined;
    /** The highest label of what the session holds: what came from a server stands in no file that a rule covers. */
    sessionLabel?: Label | undefined;
  },
): Promise<SandboxReason | null> {
  // An earlier command of the same request can have made what is protected.
  workspace.protection.refresh();
  if (sessionLabel !== "open" || workspace.ambientLabel !== "open" || workspace.protection.any) return "project";
  if (sandbox === undefined || sandbox.settings.mode === "never") return null;
  if (sandbox.settings.mode === "always") return "always";
  return !workspace.local && await sandbox.protectsElsewhere() ? "external" : null;
}

/** Returns what a program in a sandbox sees of repositories. */
export function gitAccess(reason: SandboxReason, label: Label): GitAccess {
  return reason !== "project" ? "open" : label === "open" ? "hidden" : "read-only";
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

/** The options of {@link createSessionSandbox}. */
export interface SessionSandboxOptions extends BackendOptions {
  settings: SandboxSettings;
  /** Real paths of the project and of additional directories. */
  roots: readonly string[];
  /** The user's home; undefined when unknown. */
  userHome: string | undefined;
  /** The value of PATH. */
  path: string;
  /** Our variables, of which git takes where its settings lie. */
  env?: ((name: string) => string | undefined) | undefined;
  /** Projects of this user that have protected paths: whether there are any, and which; without it there are none. */
  projects?: { any(): Promise<boolean>; all(): Promise<readonly KnownProject[]> } | undefined;
}

/** Runs commands in a sandbox. */
export interface SessionSandbox {
  readonly settings: SandboxSettings;
  /** The notices that were given once, and are not again. */
  readonly told: Set<string>;
  /** Whether some project of this user has protected paths. */
  protectsElsewhere(): Promise<boolean>;
  /** Moves to quarantine what commands made in a project whose end this program did not live to see. */
  recoverUnfinished(root: string): Promise<QuarantineEntry[]>;
  /** Returns the command in the sandbox, or why there is none; it must not run then. */
  wrapCommand(request: SandboxRequest): Promise<SandboxedCommand | SandboxRefusal>;
}

/** Returns a sandbox that costs nothing until it is used. */
export function createSessionSandbox(options: SessionSandboxOptions): SessionSandbox {
  let opened: Promise<SessionSandbox["wrapCommand"]> | null = null;
  const open = () => opened ??= import("./open_sandbox.ts").then(({ openSandbox }) => openSandbox(options));
  const told = new Set<string>();
  return {
    settings: options.settings,
    told,
    protectsElsewhere: async () => await options.projects?.any() ?? false,
    async recoverUnfinished(root) {
      const { home, userHome } = options;
      const notes = await listDirectory(join(home, "unfinished")).catch(() => null);
      return notes === null || notes.length === 0
        ? []
        : await (await import("./quarantine.ts")).recoverUnfinished({ home, root, userHome: userHome ?? null });
    },
    async wrapCommand(request) {
      const wrapped = await (await open())(request);
      if (wrapped.kind === "refused") return wrapped;
      const notices = wrapped.notices.filter((notice) => !told.has(notice));
      for (const notice of notices) told.add(notice);
      return { ...wrapped, notices };
    },
  };
}
