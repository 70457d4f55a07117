/** The sandbox of a session, made when the first command needs it: most sessions of most projects never do. */
import type { BackendOptions } from "./backends.ts";
import type { KnownProject } from "../policy/project_record_files.ts";
import type { SandboxedCommand, SandboxRefusal, SandboxRequest, SandboxSettings } from "./request.ts";

/** What a session's sandbox is made from. */
export interface SessionSandboxOptions extends BackendOptions {
  settings: SandboxSettings;
  /** Real paths of the project and of additional directories. */
  roots: readonly string[];
  /** The user's home; undefined when unknown. */
  userHome: string | undefined;
  /** The value of PATH. */
  path: string;
  /** Projects of this user that have protected paths: whether there are any, and which; without it there are none. */
  projects?: { any(): Promise<boolean>; all(): Promise<readonly KnownProject[]> } | undefined;
}

/** Runs commands in a sandbox. */
export interface SessionSandbox {
  readonly settings: SandboxSettings;
  /** What was told once, and is not again. */
  readonly told: Set<string>;
  /** Whether some project of this user has protected paths. */
  protectsElsewhere(): Promise<boolean>;
  /** The command in the sandbox, or why there is none; it must not run then. */
  wrapCommand(request: SandboxRequest): Promise<SandboxedCommand | SandboxRefusal>;
}

/** A sandbox that costs nothing until it is used. */
export function createSessionSandbox(options: SessionSandboxOptions): SessionSandbox {
  let opened: Promise<Pick<SessionSandbox, "wrapCommand">> | null = null;
  const open = () => opened ??= import("./open_sandbox.ts").then(({ openSandbox }) => openSandbox(options));
  return {
    settings: options.settings,
    told: new Set(),
    protectsElsewhere: async () => await options.projects?.any() ?? false,
    wrapCommand: async (request) => (await open()).wrapCommand(request),
  };
}
