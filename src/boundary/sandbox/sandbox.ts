/**
 * The sandbox of a session: its requests and answers. In it a command runs without protected paths. It is made when the
 * first command needs it; most sessions never do. Source: specification of the boundary, "A view that fails closed".
 */
import { AgentcliError } from "../../errors.ts";
import { listSync } from "../../platform/files.ts";
import { userHomeOf } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { isAbsolute, join } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import type { GitUser } from "../../shell/git.ts";
import type { ProtectedProjects } from "../policy/project.ts";
import type { Label } from "../policy/label.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { BackendOptions } from "./backend.ts";
import type { openSandbox, SandboxRequest } from "./open_sandbox.ts";
import type { OpenJudge } from "./unfinished.ts";
import type { WatchedProgram } from "./watched_run.ts";

/** Directory in the home with one note for each running program. */
export const UNFINISHED = "unfinished";

/** A command in its sandbox. */
export interface SandboxedCommand extends WatchedProgram {
  kind: "ready";
  /** New notices about what the command cannot see, one sentence each. */
  notices: string[];
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

/** Makes a refusal. */
export function refuse(
  reason: string,
  hint = "start in the directory of one project, or protect less of it",
): SandboxRefusal {
  return { kind: "refused", reason, hint };
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
  // An endpoint that this project trusts is nothing to others.
  return !workspace.isHere && await sandbox.protectsElsewhere() ? "external" : null;
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
export interface SessionSandboxOptions extends Omit<BackendOptions, "os"> {
  settings: SandboxSettings;
  /** Real paths of the project and of additional directories. */
  roots: readonly string[];
  /** The system and our environment: PATH, the user's home and git's settings. */
  io: Pick<Io, "os" | "env">;
  projects?: ProtectedProjects | undefined;
}

/** Runs commands in a sandbox. */
export type SessionSandbox = ReturnType<typeof createSessionSandbox>;

/** Returns whose settings count; the home is a real path. */
export function gitUserOf(io: Pick<Io, "os" | "env">): GitUser {
  const named = userHomeOf(io) ?? "";
  return { userHome: isAbsolute(named) ? realOrNamed(named) : null, env: io.env };
}

/** Returns a sandbox, which costs nothing until it is used. */
export function createSessionSandbox(options: SessionSandboxOptions) {
  let opened: ReturnType<typeof openSandbox> | null = null;
  /** Notices that were already shown. */
  const shown = new Set<string>();
  return {
    settings: options.settings,
    shown,
    /** Returns whether any project of this user has protected paths. */
    protectsElsewhere: async () => await options.projects?.any() ?? false,
    /** Judges what programs of dead agentcli processes left; see `unfinished.ts`. */
    async recoverUnfinished(root: string, openJudge: OpenJudge): Promise<string[]> {
      const { home, io } = options;
      if (!quietly(() => listSync(join(home, UNFINISHED)))?.length) return [];
      const { recoverUnfinished } = await import("./unfinished.ts");
      return await recoverUnfinished({ home, root, userHome: gitUserOf(io).userHome }, openJudge);
    },
    /** Returns the wrapped command, or why it must not run. */
    async wrapCommand(request: SandboxRequest): Promise<SandboxedCommand | SandboxRefusal> {
      try {
        const wrap = await (opened ??= import("./open_sandbox.ts").then(({ openSandbox }) => openSandbox(options)));
        const wrapped = typeof wrap === "function" ? await wrap(request) : wrap;
        if (wrapped.kind === "refused") return wrapped;
        const notices = wrapped.notices.filter((notice) => !shown.has(notice));
        for (const notice of notices) shown.add(notice);
        return { ...wrapped, notices };
      } catch (error) {
        // Without a place to test a sandbox, or for the quarantine, commands are refused; everything else works.
        if (!(error instanceof AgentcliError)) throw error;
        return refuse(error.message, error.hint ?? "see agentcli doctor");
      }
    },
  };
}
