/** Runs a plan with bubblewrap. Source: the line measured in the specification of the boundary, "Commands". */
import {
  asVariables,
  type BackendOptions,
  CLOSE_FILES,
  closingShell,
  type PlanStep,
  type SandboxBackend,
  trustedProgram,
} from "./backend.ts";

/** The arguments for each step. */
const STEP: Readonly<Record<PlanStep["kind"], (path: string, source: string) => string[]>> = {
  read: (path, source) => ["--ro-bind", source, path],
  write: (path, source) => ["--bind", source, path],
  freeze: (path) => ["--ro-bind", path, path],
  pin: (path) => ["--bind", path, path],
  link: (path, target) => ["--symlink", target, path],
  scratch: (path) => ["--tmpfs", path],
  // Bound without device access, so that opening it fails instead of reading as empty.
  hide_file: (path) => ["--ro-bind", "/dev/null", path],
  hide_directory: (path) => ["--perms", "0000", "--tmpfs", path, "--remount-ro", path],
  empty_directory: (path) => ["--tmpfs", path, "--remount-ro", path],
};

/**
 * Returns the ways to start bubblewrap, the tightest first: without `proc` if a container forbids a fresh `/proc`, and
 * not `sealed` (no user namespaces inside) for versions before 0.8. It gets its arguments through a pipe and starts
 * with an empty environment, because `--clearenv` alone leaves `/proc/1/environ` readable inside (measured).
 */
export function bubblewrapBackends({ programs }: BackendOptions): SandboxBackend[] {
  const program = trustedProgram("bwrap", { places: programs });
  const shell = closingShell();
  const sh = trustedProgram("sh");
  if (program === null || shell === null || sh === null) return [];
  const forms = [[true, true], [true, false], [false, true], [false, false]] as const;
  return forms.map(([proc, sealed]) => ({
    name: "bubblewrap",
    line(plan) {
      const options = [
        "--unshare-all",
        ...plan.network ? ["--share-net"] : [],
        // For root, `--unshare-all` does not imply these two (measured).
        "--unshare-user",
        "--unshare-pid",
        ...sealed ? ["--disable-userns"] : [],
        "--die-with-parent",
        // Our shell is process 1: with bubblewrap's own, its end would be reported while left-over processes still die.
        "--as-pid-1",
        "--new-session",
        "--clearenv",
        ...Object.entries(plan.env).flatMap(([name, value]) => ["--setenv", name, value]),
        "--dev",
        "/dev",
        ...proc ? ["--proc", "/proc"] : ["--dir", "/proc"],
        ...plan.steps.flatMap(({ kind, path, source }) => STEP[kind](path, source ?? path)),
        "--chdir",
        plan.cwd,
        "--cap-drop",
        "ALL",
      ];
      const words = options.map((option) => `${option.replaceAll("\\", "\\\\")}\\0000`).join("");
      const { env, text, forget } = asVariables(words);
      const script = `${CLOSE_FILES}\nexec 4<&0; printf %b "${text}" | { ${forget}; exec "$@" 3<&0 0<&4 4<&-; }`;
      // The shell that becomes process 1 is a small one, which starts faster.
      const inner = [sh, "-c", '"$@"; exit $?', "sh", ...plan.argv];
      return { argv: [shell, "-c", script, "sh", program, "--args", "3", "--", ...inner], env };
    },
  }));
}
