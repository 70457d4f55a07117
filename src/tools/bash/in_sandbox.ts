/** A command where paths are protected: run behind the session's sandbox, or not at all. */
import { labelOf } from "../../boundary/policy/label.ts";
import type { HiddenPaths, ProtectedPlaces, SandboxedCommand, TamperReport } from "../../boundary/sandbox/request.ts";
import type { ToolContext } from "../tool.ts";

/** What to start, and what to do when it has ended. */
export interface StartedAs {
  argv: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
  /** For the result, one sentence each. */
  notices: string[];
  finish(): Promise<TamperReport>;
}

/** Nothing to hide: `sandbox.mode: always` in a project without a marker. */
const NOTHING: HiddenPaths = { files: [], directories: [] };

/** Whether the command must run in a sandbox. */
export function needsSandbox({ workspace, sandbox }: ToolContext): boolean {
  // An earlier command of the same request can have made what is protected.
  workspace.protection?.refresh();
  return workspace.ambientLabel !== "open" || workspace.protection?.any === true || sandbox?.settings.mode === "always";
}

/** The command in the sandbox; or, as text for the model, why it does not run. */
export async function inSandbox(
  argv: [string, ...string[]],
  command: { env: Record<string, string>; context: ToolContext },
): Promise<StartedAs | string> {
  const { workspace, sandbox, sessionLabel } = command.context;
  const protection = workspace.protection;
  if (sandbox === undefined || (protection === undefined && workspace.ambientLabel !== "open")) {
    return "Commands are refused in a project with protected paths: they could read past the protection. " +
      "Use Read, Grep and Glob to look, Edit and Write to change.";
  }
  const roots = [workspace.root, ...workspace.additional];
  const hide = protection?.any === true ? await protection.hidden() : NOTHING;
  const sandboxed = await sandbox.wrapCommand({
    root: workspace.root,
    additional: workspace.additional,
    cwd: workspace.root,
    argv,
    env: command.env,
    hide,
    readOnly: protection?.markers ?? [],
    git: protection?.any === true ? await sandbox.gitVisibility(roots, protection) : "open",
    network: sandbox.settings.network && labelOf({ label: sessionLabel }) === "open",
  });
  if (sandboxed.kind === "refused") {
    return `The command was not run: this project has protected paths, and ${sandboxed.reason}. Tell the user: ` +
      `${sandboxed.hint}. Use Read, Grep and Glob to look, Edit and Write to change.`;
  }
  return { ...sandboxed, finish: () => finish(sandboxed, { hide, protection }) };
}

/** Also what came to be protected while the command ran: it could have seen it. */
async function finish(
  sandboxed: SandboxedCommand,
  { hide, protection }: { hide: HiddenPaths; protection: ProtectedPlaces | undefined },
): Promise<TamperReport> {
  const report = await sandboxed.finish();
  if (protection === undefined) return report;
  protection.refresh();
  const now = await protection.hidden();
  const before = new Set([...hide.files, ...hide.directories]);
  const added = [...now.files, ...now.directories].filter((path) => !before.has(path));
  return { ...report, replaced: [...report.replaced, ...added] };
}
