/** Runs a plan with `unshare`, `mount` and `setpriv`, if bubblewrap is not installed. */
import { shellQuoted } from "../../shell/quote.ts";
import { statSync } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";
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

/** The first starts the script, which takes the others in this order. */
const PROGRAMS = ["unshare", "mount", "pivot_root", "umount", "setpriv", "setsid"] as const;

/** Where the new root can be built: the first existing one that contains no path of a step. */
const BUILDING_PLACES: readonly string[] = ["/mnt", "/media", "/srv", "/opt", "/var/tmp", "/tmp", "/home"];

/**
 * Reads steps as `kind path other` from its arguments up to `--`, builds the new root, and becomes process 1 as the
 * parent of the command, so that all other processes end with it. Every step must succeed. The new root covers a
 * directory in this mount namespace only.
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
    empty_directory) "$MOUNT" -t tmpfs -o mode=0755,ro,nosuid,nodev sandbox "$N$2";;
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

/** Returns the ways to start the programs: with a fresh `/proc`, and without it if a container forbids that. */
export function unshareBackends({ programs }: BackendOptions): SandboxBackend[] {
  const [program, ...helpers] = PROGRAMS.map((name) => trustedProgram(name, { places: programs }))
    .filter((path) => path !== null);
  const shell = closingShell();
  if (program === undefined || shell === null || helpers.length < PROGRAMS.length - 1) return [];
  const places = BUILDING_PLACES.filter((place) => quietly(() => statSync(place))?.kind === "directory");
  return [true, false].map((proc) => ({
    name: "unshare",
    line({ steps, env: variables, network, cwd, argv }) {
      const holds = (place: string) => steps.some(({ kind, path }) => kind !== "scratch" && isWithin(place, path));
      const place = places.find((one) => !holds(one));
      if (place === undefined) return null;
      const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuoted(value)};`);
      // The shell gets the steps and the command's variables through its environment.
      const { env, text, forget } = asVariables(
        `variables() { : ; ${exports.join(" ")} }; set -- ${steps.flatMap(words).map(shellQuoted).join(" ")} -- "$@"`,
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

/** Returns a step as words. System settings are copied: they are small, and each mount costs two processes here. */
function words({ kind, path, source = path }: PlanStep): string[] {
  return [kind === "read" && /^\/etc\/[\w./-]+$/.test(path) ? "copy" : kind, path, source];
}
