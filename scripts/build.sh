#!/bin/sh
# Makes dist/agentcli.js, or the standalone binaries, with Deno from npm if there is none.
# Usage: sh scripts/build.sh [bundle | compile [options]]        default: bundle
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; }
[ $# -gt 0 ] || set -- bundle
case "$1 $#" in
  "bundle 1" | compile\ *) ;;
  -h\ * | --help\ *)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
. "$root/scripts/with_deno.sh"
cd "$root"
# First, as one line says what is missing then. A task looks for every package of the lock: those of the tests too.
agentcli_fetch_packages --lock=deno.lock main.ts "scripts/$1/$1.ts" tests/property.ts
# The bundler itself comes with the first text that is bundled.
agentcli_fetch bundle --quiet --no-config src/cli/version.ts
exec "$DENO" task --quiet "$@"
