/**
 * The sandbox of a session: its requests and answers. In it a command runs without protected paths. It is made when the
 * first command needs it; most sessions never do. Source: specification of the boundary, "A view that fails closed".
 */
import { listDirectory } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import type { KnownProject } from "../policy/project_record_files.ts";
import type { ProtectedSet } from "../policy/protected.ts";
import type { Label } from "../policy/label.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { BackendOptions } from "./backend.ts";

/**
 * What commands see of repositories. `hidden`: nothing. `read-only`: for sessions with protected content, which are
 * local. `open`: in roots without a marker, where git and its settings work as outside a sandbox.
 */
export type GitAccess = "hidden" | "read-only" | "open";

/** A command to run in a sandbox. All paths are absolute. */
export interface SandboxRequest {
  /** The project, a real path. */
  root: string;
  /** More roots of the session, real paths. */
  additional: readonly string[];
  /** The working directory, inside a root. */
  cwd: string;
  argv: readonly [string, ...string[]];
  /** The variables of the command, from `sandboxEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** The command cannot see its paths or change its markers. */
  protection: Pick<ProtectedSet, "refresh" | "hidden" | "markers" | "rule">;
  git: GitAccess;
  network: boolean;
  /**
   * Only for the Git tool, which runs no program that a repository names and so is not watched: how it sees the roots,
   * which directories of repositories it sees, and which files there must not change. Absolute paths.
   */
  gitTool?: {
    roots: "read" | "write";
    places: readonly { kind: "read" | "write"; path: string }[];
    readOnly: readonly string[];
  };
}

/** A wrapped command, ready to start. */
export interface SandboxedCommand {
  kind: "ready";
  argv: [string, ...string[]];
  /** The environment of the sandbox program, not of the command, which must not see ours. */
  env: Record<string, string>;
  /** The working directory of the sandbox program. */
  cwd: string;
  /** New notices about what the command cannot see, one sentence each. */
  notices: string[];
  /**
   * Called while the command runs and after it ends: quarantines what the command must not create, and reports exposed
   * paths. If it throws, assume that the command can see protected paths.
   */
  look(): Promise<LookReport>;
  /** Real paths of the `sandbox.write` directories. */
  written: readonly string[];
  /**
   * Called after a command that could see a protected path: quarantines everything that appeared since the last clean
   * look, except files that an older rule names in full.
   */
  takeAway(): Promise<QuarantineEntry | null>;
  /** Called after the last look. */
  close(): Promise<void>;
}

/** The result of a look at the project. */
export interface LookReport {
  /** The files that the command made and that could run code later, or null. */
  quarantined: QuarantineEntry | null;
  /** Paths that the command can see now: hidden ones that were replaced, and newly protected ones. */
  exposed: string[];
}

/** Files that were moved to quarantine together. */
export interface QuarantineEntry {
  /** The id for `agentcli quarantine`. */
  id: string;
  /** Milliseconds since 1970. */
  time: number;
  /** The project that they were in. */
  root: string;
  /** Their original absolute paths. */
  paths: string[];
  /** True if their command could see a protected path: they can contain its content in any form. */
  isSecret: boolean;
}

/** Returns the notice for the user about files in quarantine. */
export function quarantineNotice(program: string, { id, paths }: QuarantineEntry): string {
  return `${program} made ${paths.join(", ")}, which could run code later: moved to quarantine; ` +
    `to put it back: agentcli quarantine restore ${id}`;
}

/** Returns the notice about everything that a command made after it could see a path. Omits names, which can hold content. */
export function takenNotice({ id, paths }: QuarantineEntry, exposed: string): string {
  return `${exposed} was created or replaced meanwhile: what came to be since (${paths.length}) was moved to quarantine; ` +
    `look through it (agentcli quarantine list), then put it back: agentcli quarantine restore ${id}`;
}

/** Why there is no sandbox. The command must not run. */
export interface SandboxRefusal {
  kind: "refused";
  /** One sentence, without a final period. */
  reason: string;
  /** Advice for the user. */
  hint: string;
  /** True if this machine can make no sandbox for any command, whatever is in the project and the home. */
  missing?: true;
}

/** Why programs run in a sandbox. */
export const SANDBOX_REASONS = {
  project: "this project has protected paths",
  always: "sandbox.mode is always",
  external: "other projects of the user have protected paths",
};
export type SandboxReason = keyof typeof SANDBOX_REASONS;

/** Returns why a program has to run in a sandbox now, or null. */
export async function sandboxReason(
  { workspace, sandbox, sessionLabel = "open" }: {
    workspace: Workspace;
    sandbox?: SessionSandbox | undefined;
    /** The highest label in the session, since content can also come from an MCP server. */
    sessionLabel?: Label | undefined;
  },
): Promise<SandboxReason | null> {
  // An earlier command of the same request can have created something protected.
  workspace.protection.refresh();
  if (sessionLabel !== "open" || workspace.ambientLabel !== "open" || workspace.protection.any) return "project";
  if (sandbox === undefined || sandbox.settings.mode === "never") return null;
  if (sandbox.settings.mode === "always") return "always";
  return !workspace.local && await sandbox.protectsElsewhere() ? "external" : null;
}

/** Returns what a sandboxed program sees of repositories. */
export function gitAccess(reason: SandboxReason, label: Label): GitAccess {
  return reason !== "project" ? "open" : label === "open" ? "hidden" : "read-only";
}

/** The user's settings for sandboxes. */
export interface SandboxSettings {
  /** `always`: even if nothing is protected. `never`: only in projects with something protected. */
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
  /** The user's home, if known. */
  userHome: string | undefined;
  /** The value of PATH. */
  path: string;
  /** Our environment, which tells where git's settings are. */
  env?: ((name: string) => string | undefined) | undefined;
  /** The user's projects with protected paths: whether there are any, and which. */
  projects?: { any(): Promise<boolean>; all(): Promise<readonly KnownProject[]> } | undefined;
}

/** Runs commands in a sandbox. */
export interface SessionSandbox {
  readonly settings: SandboxSettings;
  /** Notices that were already shown. */
  readonly told: Set<string>;
  /** Returns whether any project of this user has protected paths. */
  protectsElsewhere(): Promise<boolean>;
  /** Quarantines what commands of a killed agentcli left in a project. */
  recoverUnfinished(root: string): Promise<QuarantineEntry[]>;
  /** Returns the wrapped command, or why it must not run. */
  wrapCommand(request: SandboxRequest): Promise<SandboxedCommand | SandboxRefusal>;
}

/** Returns a sandbox, which costs nothing until it is used. */
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
