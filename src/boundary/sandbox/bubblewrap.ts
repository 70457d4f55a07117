/** A plan in the words of bubblewrap. Source: the line measured in the specification of the boundary, "Commands". */
import { CLOSE_FILES, type PlanStep, type SandboxPlan } from "./plan.ts";

/** How far this machine lets bubblewrap go. */
export interface BubblewrapForm {
  /** Absolute, from `trustedProgram`. */
  program: string;
  /** Absolute; becomes process 1 in the sandbox. */
  shell: string;
  /** False where a container forbids a fresh `/proc`: there is none then. */
  proc: boolean;
  /** No user namespaces inside of the sandbox; versions before 0.8 do not know it. */
  sealed: boolean;
  /** Shares the network of the caller: only when that is one made for the command. */
  network: boolean;
}

/**
 * The argument list. The program itself must be started with an empty environment: `--clearenv` alone leaves
 * `/proc/1/environ` readable inside (measured).
 */
export function bubblewrapArgv(plan: SandboxPlan, form: BubblewrapForm): [string, ...string[]] {
  return [
    form.program,
    "--unshare-all",
    ...form.network ? ["--share-net"] : [],
    // As root these two are not implied (measured).
    "--unshare-user",
    "--unshare-pid",
    ...form.sealed ? ["--disable-userns"] : [],
    "--die-with-parent",
    // Ours is process 1: bubblewrap's own would be reported as ended while what the command left behind is still dying,
    // and it shows the names of hidden paths in its command line.
    "--as-pid-1",
    "--new-session",
    "--clearenv",
    ...Object.entries(plan.env).flatMap(([name, value]) => ["--setenv", name, value]),
    "--dev",
    "/dev",
    ...form.proc ? ["--proc", "/proc"] : ["--dir", "/proc"],
    ...plan.steps.flatMap(words),
    "--chdir",
    plan.cwd,
    "--cap-drop",
    "ALL",
    "--",
    form.shell,
    "-c",
    `${CLOSE_FILES}\n"$@"; exit $?`,
    "sh",
    ...plan.argv,
  ];
}

function words(step: PlanStep): string[] {
  const { path } = step;
  switch (step.kind) {
    case "read":
    case "freeze":
      return ["--ro-bind", path, path];
    case "write":
    case "pin":
      return ["--bind", path, path];
    case "link":
      return ["--symlink", step.target, path];
    case "scratch":
      return ["--tmpfs", path];
    case "hide_file":
      // Bound without devices, so that opening it is refused and not merely empty.
      return ["--ro-bind", "/dev/null", path];
    case "hide_directory":
      return ["--perms", "0000", "--tmpfs", path, "--remount-ro", path];
  }
}
