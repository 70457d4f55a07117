/** The sandbox of a session, made when the first command needs it: most sessions of most projects never do. */
import type { BackendOptions } from "./backends.ts";
import type { ProtectedPlaces, SandboxedCommand, SandboxRefusal, SandboxRequest, SandboxSettings } from "./request.ts";

/** What a session's sandbox is made from. */
export interface SessionSandboxOptions extends BackendOptions {
  settings: SandboxSettings;
  /** Real paths of the project and of additional directories. */
  roots: readonly string[];
  /** The user's home; undefined when unknown. */
  userHome: string | undefined;
  /** The value of PATH. */
  path: string;
}

/** Sandboxes commands. */
export interface SessionSandbox {
  readonly settings: SandboxSettings;
  /** The command in the sandbox, or why there is none; it must not run then. */
  wrapCommand(request: SandboxRequest): Promise<SandboxedCommand | SandboxRefusal>;
  /** Whether commands may see the repositories of the roots; asked anew when index, history or rules have changed. */
  gitVisibility(roots: readonly string[], protection: ProtectedPlaces): Promise<"open" | "hidden">;
}

/** A sandbox that costs nothing until it is used. */
export function createSessionSandbox(options: SessionSandboxOptions): SessionSandbox {
  let opened: Promise<SessionSandbox> | null = null;
  const open = () => opened ??= import("./open_sandbox.ts").then(({ openSandbox }) => openSandbox(options));
  return {
    settings: options.settings,
    wrapCommand: async (request) => (await open()).wrapCommand(request),
    gitVisibility: async (roots, protection) => (await open()).gitVisibility(roots, protection),
  };
}
