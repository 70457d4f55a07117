#!/bin/sh
# Sets up and runs all tests. Once the packages are cached, no network is needed.
# Usage: sh scripts/test.sh [files or options of deno test]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/with_deno.sh"
cd "$root"
NO_COLOR=1
export NO_COLOR

# The tests start the program as a child, so its packages have to be there as well; in the versions that `deno test`
# takes from the lock.
agentcli_fetch_packages --lock=deno.lock main.ts tests/property.ts

work=$(mktemp -d "${TMPDIR:-/tmp}/agentcli-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
{
  status=0
  "$DENO" task --quiet test "$@" || status=$?
  echo "$status" >"$work/status"
} 2>&1 | tee "$work/log"

if grep -q '\.\.\. ignored' "$work/log"; then
  echo "Skipped here:"
  sed -n 's/ \.\.\. ignored.*//p' "$work/log" | sed 's/^\(.* => \)\{0,1\}/  /'
fi
for tool in rg bwrap git; do
  command -v "$tool" >/dev/null 2>&1 || echo "$tool is not installed: tests that compare with it are left out"
done
exit "$(cat "$work/status")"
