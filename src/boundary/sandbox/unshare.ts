/** A plan in the words of `unshare`, `mount` and `setpriv`: the second choice, where bubblewrap is not installed. */
import { asVariables, CLOSE_FILES, type PlanStep, type SandboxPlan, type StartLine } from "./plan.ts";

/** What the second way needs. */
export const UNSHARE_PROGRAMS = ["unshare", "setpriv", "mount", "umount", "pivot_root"] as const;

/** The programs, absolute, from `trustedProgram`, and how far this machine lets them go. */
export interface UnshareForm {
  programs: Readonly<Record<typeof UNSHARE_PROGRAMS[number], string>>;
  /** Any shell of the POSIX kind. */
  shell: string;
  /** False where a container forbids a fresh `/proc`: there is none then. */
  proc: boolean;
}

/** Where the new root may be built: the first that is there and holds nothing that a step names. */
export const BUILDING_PLACES: readonly string[] = ["/mnt", "/media", "/srv", "/opt", "/var/tmp", "/tmp", "/home"];

/**
 * Reads `kind path other` three words at a time from its arguments up to `--`, builds the new root and becomes the
 * command's parent: process 1, which takes all others with it. Every step must succeed: half a sandbox is none. The new root
 * is built on a directory that is hidden by that, in this mount namespace alone.
 */
const SCRIPT = `
set -eu
PATH=/usr/bin:/bin:/usr/sbin:/sbin; umask 022
"$MOUNT" -t tmpfs -o mode=0755,nosuid,nodev sandbox "$N"
cd "$N"
mkdir -p dev proc tmp .old
place() { if [ -d "$2" ]; then mkdir -p "$N$1"; else mkdir -p "$N\${1%/*}"; [ -e "$N$1" ] || : > "$N$1"; fi; }
fix() { "$MOUNT" -o "remount,bind,$2" "$N$1" 2>/dev/null || "$MOUNT" -o "remount,bind,$2,noexec" "$N$1"; }
for d in null zero full random urandom; do : > "dev/$d"; "$MOUNT" --bind "/dev/$d" "dev/$d"; done
ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/0 dev/stdin; ln -s /proc/self/fd/1 dev/stdout; ln -s /proc/self/fd/2 dev/stderr
mkdir dev/shm
[ "$PROC" = no ] || "$MOUNT" -t proc -o nosuid,nodev,noexec proc proc
ETC=
copied() { [ -z "$ETC" ] || cp -rP --parents $ETC "$N" || :; ETC=; }
while [ "$1" != -- ]; do
  [ "$1" = copy ] || copied
  case $1 in
    copy) ETC="$ETC $2";;
    read) place "$2" "$3"; "$MOUNT" --rbind "$3" "$N$2"; fix "$2" ro,nosuid,nodev;;
    write) place "$2" "$3"; "$MOUNT" --rbind "$3" "$N$2"; fix "$2" nosuid,nodev;;
    pin) "$MOUNT" --rbind "$N$2" "$N$2";;
    freeze) "$MOUNT" --rbind "$N$2" "$N$2"; fix "$2" ro,nosuid,nodev;;
    link) mkdir -p "$N\${2%/*}"; ln -s "$3" "$N$2";;
    scratch) mkdir -p "$N$2"; "$MOUNT" -t tmpfs -o mode=0755,nosuid,nodev sandbox "$N$2";;
    hide_file) "$MOUNT" --bind /dev/null "$N$2"; fix "$2" ro,nosuid,nodev;;
    hide_directory) "$MOUNT" -t tmpfs -o mode=0000,ro,nosuid,nodev sandbox "$N$2";;
    *) exit 125;;
  esac
  shift 3
done; shift
copied
"$PIVOT" . .old
cd /
"$UMOUNT" -l /.old
rmdir /.old
cd "$CWD"
set +e
set -- "$SETPRIV" --bounding-set -all --inh-caps -all --ambient-caps -all --no-new-privs -- "$@"
unset PATH OLDPWD
variables
"$@"
exit $?
`;

/** What to start; the steps and the variables of the command come by the environment of the shell. */
export function unshareLine(plan: SandboxPlan, form: UnshareForm & { place: string }): StartLine {
  const steps = plan.steps.flatMap(words).map(quoted).join(" ");
  const exports = Object.entries(plan.env).map(([name, value]) => `export ${name}=${quoted(value)}`).join("; ");
  const { env, text, forget } = asVariables(
    `variables() { ${exports || ":"}; }; set -- ${steps} -- "$@"`,
  );
  const script = `${CLOSE_FILES}
MOUNT=$1 PIVOT=$2 UMOUNT=$3 SETPRIV=$4 PROC=$5 CWD=$6 N=$7; shift 7
ALL="${text}"; ${forget}; eval "$ALL"; unset ALL
${SCRIPT}`;
  const { unshare, mount, pivot_root, umount, setpriv } = form.programs;
  const namespaces = [
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--ipc",
    "--uts",
    ...plan.network ? [] : ["--net"],
  ];
  const given = [mount, pivot_root, umount, setpriv, form.proc ? "yes" : "no", plan.cwd, form.place];
  return {
    argv: [
      unshare,
      ...namespaces,
      "--fork",
      "--kill-child",
      "--",
      form.shell,
      "-c",
      script,
      "sandbox",
      ...given,
      ...plan.argv,
    ],
    env,
  };
}

/** A word as the shell reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Settings of the system are copied, not mounted: each mount is two processes here, and they are small. */
function words(step: PlanStep): string[] {
  if (step.kind === "read" && /^\/etc\/[\w./-]+$/.test(step.path)) return ["copy", step.path, "-"];
  const other = step.kind === "link"
    ? step.target
    : step.kind === "read" || step.kind === "write"
    ? step.source ?? step.path
    : "-";
  return [step.kind, step.path, other];
}
