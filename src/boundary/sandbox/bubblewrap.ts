/** A plan in the words of bubblewrap. Source: the line measured in the specification of the boundary, "Commands". */
import { asVariables, CLOSE_FILES, type PlanStep, type SandboxPlan, type StartLine } from "./plan.ts";

/** How far this machine lets bubblewrap go. */
export interface BubblewrapForm {
  /** Absolute, from `trustedProgram`. */
  program: string;
  /** Absolute. */
  shell: string;
  /** Absolute; becomes process 1 in the sandbox: a small one starts sooner. */
  sh: string;
  /** False where a container forbids a fresh `/proc`: there is none then. */
  proc: boolean;
  /** No user namespaces inside of the sandbox; versions before 0.8 do not know it. */
  sealed: boolean;
}

/**
 * What to start. The arguments reach bubblewrap by a pipe, and the program itself starts with an empty environment:
 * `--clearenv` alone leaves `/proc/1/environ` readable inside (measured).
 */
export function bubblewrapLine(plan: SandboxPlan, form: BubblewrapForm): StartLine {
  const options = [
    "--unshare-all",
    ...plan.network ? ["--share-net"] : [],
    // As root these two are not implied (measured).
    "--unshare-user",
    "--unshare-pid",
    ...form.sealed ? ["--disable-userns"] : [],
    "--die-with-parent",
    // Ours is process 1: bubblewrap's own would be reported as ended while what the command left behind is still dying.
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
  ];
  const { env, text, forget } = asVariables(
    options.map((option) => `${option.replaceAll("\\", "\\\\")}\\0000`).join(""),
  );
  const script = `${CLOSE_FILES}\nexec 4<&0; printf %b "${text}" | { ${forget}; exec "$@" 3<&0 0<&4 4<&-; }`;
  const inner = [form.sh, "-c", '"$@"; exit $?', "sh", ...plan.argv];
  return { argv: [form.shell, "-c", script, "sh", form.program, "--args", "3", "--", ...inner], env };
}

function words(step: PlanStep): string[] {
  const { path } = step;
  switch (step.kind) {
    case "read":
      return ["--ro-bind", step.source ?? path, path];
    case "write":
      return ["--bind", step.source ?? path, path];
    case "freeze":
      return ["--ro-bind", path, path];
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
