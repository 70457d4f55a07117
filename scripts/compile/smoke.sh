#!/bin/sh
# Compiles dist/agentcli.js with npm as the only network (scripts/compile/bases.sh) and tries the result.
# Usage: sh scripts/compile/smoke.sh [--all] [folder for the result]        Needs dist/agentcli.js: deno task bundle
#   --all  also ARM Linux, macOS and Windows on Intel: built twice and compared, looked into, and run where it is
#          possible (ARM Linux: qemu-aarch64-static or qemu-aarch64, with the libraries of libc6-arm64-cross below
#          QEMU_LD_PREFIX or /usr/aarch64-linux-gnu); prints for each target what was done
# Exit 75 when the packages cannot be had or this is another system: nothing was tried then, and it is said.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
all=no
case ${1:-} in
  --all)
    all=yes
    shift
    ;;
  -h | --help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
result=${1:-}
case $result in
  -*)
    echo "smoke.sh: unknown option $result; see --help" >&2
    exit 2
    ;;
esac

skip() {
  echo "compile smoke skipped: $1"
  exit 75
}

[ -f "$root/dist/agentcli.js" ] || { echo "there is no dist/agentcli.js: deno task bundle" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[ -n "$result" ] || result=$work/release

bases=$work/bases
[ "$all" = yes ] || set -- "$bases" x86_64-unknown-linux-gnu
[ "$all" = no ] || set -- "$bases"
made=$(sh "$root/scripts/compile/bases.sh" "$@" 2>"$work/why") || skip "$(cat "$work/why")"
targets=$(printf '%s\n' "$made" | sed 's/^/--target /')
deno=$bases/deno
DENO_NO_UPDATE_CHECK=1
DENO_DIR=$work/cache
export DENO_NO_UPDATE_CHECK DENO_DIR
# shellcheck disable=SC2086 # words
"$deno" run --no-config --no-lock --no-npm -A "$root/scripts/compile/compile.ts" $targets --bases "$bases" \
  --bundle "$root/dist/agentcli.js" --output "$result"
echo "each built twice: the same, byte for byte"
"$deno" run --no-config --no-lock -R "$root/scripts/compile/inspect.ts" "$result"

# Alone: nothing of the checkout, no cache, an empty home.
result=$(cd "$result" && pwd)
mkdir "$work/project"
cd "$work/project"
echo "# Binary" >README.md
tried() { env -i PATH=/usr/bin:/bin HOME="$work/home" $runner "$agentcli" "$@" </dev/null; }
# The binary for the target $1, started by the words that follow.
try_binary() {
  agentcli=$result/agentcli-$1
  shift
  runner=$*
  rm -rf "$work/home"
  mkdir "$work/home"
  tried version
  [ "$(tried version | sed -n 's/.*\(binary\).*/\1/p')" = binary ]
  tried help exit-codes | grep -q 130
  tried config schema | grep -q '"properties"'
  tried run --model demo "Read README.md" 2>/dev/null | grep -q "headings: Binary"
}

try_binary x86_64-unknown-linux-gnu

# Installed from the folder, as on a machine without network, and taken away again.
env -i PATH=/usr/bin:/bin HOME="$work/home" SHELL=/bin/bash sh "$root/scripts/install.sh" --from "$result"
env -i PATH=/usr/bin:/bin HOME="$work/home" bash -c '. ~/.bashrc && agentcli version && complete -p agentcli' </dev/null
env -i PATH=/usr/bin:/bin HOME="$work/home" sh "$root/scripts/install.sh" --uninstall
echo "x86_64-unknown-linux-gnu: run alone: version, help, schema, a turn with tools; installed and uninstalled"
[ "$all" = yes ] || exit 0

emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
libraries=${QEMU_LD_PREFIX:-/usr/aarch64-linux-gnu}
if [ -n "$emulator" ] && [ -e "$libraries/lib/ld-linux-aarch64.so.1" ]; then
  try_binary aarch64-unknown-linux-gnu "$emulator" -L "$libraries"
  echo "aarch64-unknown-linux-gnu: run under qemu: version, help, schema, a turn with tools"
else
  echo "aarch64-unknown-linux-gnu: not run: no qemu-aarch64 with libraries (QEMU_LD_PREFIX) here"
fi
echo "x86_64-apple-darwin: not run: there is no macOS here"
echo "aarch64-apple-darwin: not run: there is no macOS here"
echo "x86_64-pc-windows-msvc: not run: there is no Windows here"
echo "aarch64-pc-windows-msvc: not built: npm has no base binary for it"
