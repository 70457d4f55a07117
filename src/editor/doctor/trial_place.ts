/** Where hooks are tried: a small project with something protected, and if needed a git worktree of it. */
import { gitLine } from "../../shell/git.ts";
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import type { Io } from "../../platform/io.ts";
import { lstatSync, statSync } from "../../platform/files.ts";
import { isWithin, join, resolve } from "../../platform/path.ts";
import { findProgram } from "../../boundary/programs.ts";
import { run } from "../../platform/process.ts";
import type { TemporaryDirectory } from "../../platform/temporary.ts";
import { DIALECT_IDS, DIALECTS } from "../dialect.ts";
import { lookAt } from "../plan/disk.ts";
import { parametersOf } from "../hooks/scaffold.ts";
import type { ScaffoldId } from "../hooks/events.ts";

/** Scaffolds that write their input into the project: they are tried in a project of their own. */
const WRITERS: readonly string[] = ["audit-log", "session-note", "setup-worktree"] satisfies ScaffoldId[];

/** One call of git may take this long, in milliseconds. */
const GIT_LIMIT_MS = 10_000;

/** A project made for the trial. `secret` is protected in it, `open` is not. */
export interface TrialPlace {
  directory: string;
  /** The home of agentcli for what is tried: the user's keeps nothing of it. */
  home: string;
  open: string;
  secret: string;
  /** A linked worktree of it with none of its files; null where there is no git, or no hook runs in one. */
  worktree: string | null;
  /** The files of the user's project that `setup-worktree` copies. */
  copied: readonly string[];
}

/** Returns whether a hook of ours is run in the trial's own project, and not in the user's. */
export function isTriedApart({ ours, name }: { ours: boolean; name: string }): boolean {
  return ours && WRITERS.includes(name);
}

/** Creates the place. `root` is the user's project, where the scripts of {@link isTriedApart} are. */
export async function makeTrialPlace(
  temporary: TemporaryDirectory,
  { root, io, needsWorktree }: { root: string; io: Io; needsWorktree: boolean },
): Promise<TrialPlace> {
  const directory = join(temporary.path, "project");
  const write = (name: string, text: string) => temporary.write(join("project", name), text);
  for (const { projectDirectory } of DIALECT_IDS.map((id) => DIALECTS[id])) {
    for (const name of WRITERS.flatMap((id) => [`${id}.sh`, `${id}.ps1`])) {
      const script = join(projectDirectory, "hooks", name);
      const text = lookAt(join(root, script));
      if (text !== null) write(script, text);
    }
  }
  write(MARKER_NAME, "no-cloud: protected.txt\n");
  write("protected.txt", "nothing of yours\n");
  write("open.txt", "one\n");
  write("transcript.jsonl", "{}\n");
  const worktree = needsWorktree ? await makeWorktree(directory, join(temporary.path, "worktree"), { root, io }) : null;
  const copied = copiedNames(root);
  for (const name of copied) {
    if (lstatSync(join(directory, name)) !== null) continue;
    write(statSync(join(root, name))?.kind === "directory" ? join(name, "one.txt") : name, "one\n");
  }
  return {
    directory,
    home: join(temporary.path, "home"),
    open: join(directory, "open.txt"),
    secret: join(directory, "protected.txt"),
    worktree,
    copied,
  };
}

/** Returns what the installed script of `setup-worktree` copies, if the project has it. */
function copiedNames(root: string): string[] {
  const scripts = DIALECT_IDS.flatMap((id) =>
    lookAt(join(root, DIALECTS[id].projectDirectory, "hooks", "setup-worktree.sh")) ?? []
  );
  const names = scripts.flatMap((text) => parametersOf("setup-worktree", text).get("copy")?.split(",") ?? []);
  return names.map((name) => name.trim()).filter((name) => {
    const path = resolve(root, name);
    return path !== root && isWithin(root, path) && statSync(path) !== null;
  });
}

/** Makes a directory a repository with an empty linked worktree. Null without a usable git. */
async function makeWorktree(
  top: string,
  worktree: string,
  { root, io }: { root: string; io: Io },
): Promise<string | null> {
  const git = await findProgram("git", { path: io.env("PATH") ?? "", roots: [top, root], io });
  if (git === null) return null;
  const steps = [
    ["init", "--quiet"],
    ["commit", "--quiet", "--allow-empty", "--message=trial"],
    ["worktree", "add", "--quiet", "--detach", worktree],
  ];
  for (const args of steps) {
    // In a repository of our own, which nobody has changed yet.
    const line = gitLine({ git, top, directory: join(top, ".git") }, {
      args,
      settings: { "user.name": "agentcli", "user.email": "agentcli@localhost" },
    });
    const { code } = await run({ ...line, cwd: top, timeoutMs: GIT_LIMIT_MS, onOutput() {} });
    if (code !== 0) return null;
  }
  return worktree;
}
