/** A plan as a script for `unshare`, `mount` and `setpriv`: the second choice, where bubblewrap is not installed. */
import { stat } from "../../platform/files.ts";
import { isWithin } from "../../platform/path.ts";
import {
  asVariables,
  type BackendOptions,
  CLOSE_FILES,
  closingShell,
  type PlanStep,
  type SandboxBackend,
  trustedProgram,
} from "./backend.ts";

/** In the order in which the script takes those behind the first. */
const PROGRAMS = ["unshare", "mount", "pivot_root", "umount", "setpriv", "setsid"] as const;

/** Where the new root may be built: the first that is there and holds nothing that a step names. */
const BUILDING_PLACES: readonly string[] = ["/mnt", "/media", "/srv", "/opt", "/var/tmp", "/tmp", "/home"];

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
# A session of its own: a terminal of ours takes no input from it.
set -- "$SETSID" "$SETPRIV" --bounding-set -all --inh-caps -all --ambient-caps -all --no-new-privs -- "$@"
unset PATH OLDPWD
variables
"$@"
exit $?
`;

/** Returns how the programs can be started; without `proc` where a container forbids a fresh `/proc`. */
export async function unshareBackends({ programs }: BackendOptions): Promise<SandboxBackend[]> {
  const found = await Promise.all(PROGRAMS.map((name) => trustedProgram(name, { places: programs })));
  const [program, ...helpers] = found.filter((path) => path !== null);
  const shell = await closingShell();
  if (program === undefined || shell === null || helpers.length < PROGRAMS.length - 1) return [];
  const present = await Promise.all(BUILDING_PLACES.map((place) => stat(place).catch(() => null)));
  const places = BUILDING_PLACES.filter((_, index) => present[index]?.kind === "directory");
  return [true, false].map((proc) => ({
    name: "unshare",
    line({ steps, env: variables, network, cwd, argv }) {
      const holds = (place: string) => steps.some(({ kind, path }) => kind !== "scratch" && isWithin(place, path));
      const place = places.find((one) => !holds(one));
      if (place === undefined) return null;
      const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`).join("; ");
      // The steps and the variables of the command come by the environment of the shell.
      const { env, text, forget } = asVariables(
        `variables() { ${exports || ":"}; }; set -- ${steps.flatMap(words).map(quoted).join(" ")} -- "$@"`,
      );
      const script = `${CLOSE_FILES}
MOUNT=$1 PIVOT=$2 UMOUNT=$3 SETPRIV=$4 SETSID=$5 PROC=$6 CWD=$7 N=$8; shift 8
ALL="${text}"; ${forget}; eval "$ALL"; unset ALL
${SCRIPT}`;
      const namespaces = "--user --map-root-user --mount --pid --ipc --uts --fork --kill-child".split(" ");
      const given = [...helpers, proc ? "yes" : "no", cwd, place, ...argv];
      return {
        argv: [program, ...namespaces, ...network ? [] : ["--net"], "--", shell, "-c", script, "sandbox", ...given],
        env,
      };
    },
  }));
}

/** A word as the shell reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Settings of the system are copied, not mounted: each mount is two processes here, and they are small. */
function words({ kind, path, source = path }: PlanStep): string[] {
  return [kind === "read" && /^\/etc\/[\w./-]+$/.test(path) ? "copy" : kind, path, source];
}
