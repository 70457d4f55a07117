#!/bin/sh
# Builds llama-server for the tests that drive a real one, and prints where it is; the chat templates of its source are
# kept beside it. Built once for each version; takes about six minutes on two cores. Plain CPU, no TLS, no web page:
# loopback needs none of them.
# The source is the one that the npm package node-llama-cpp carries as a git bundle, so npm is all the network it takes.
# Usage: sh scripts/llama/build_server.sh
# AGENTCLI_LLAMA_SERVER names a llama-server that is there already; then nothing is fetched or built, and templates/
# beside it is looked for.
set -eu

package=node-llama-cpp@3.22.1 # carries llama.cpp v0.5.0

if [ -n "${AGENTCLI_LLAMA_SERVER:-}" ]; then
  if ! [ -x "$AGENTCLI_LLAMA_SERVER" ]; then
    echo "AGENTCLI_LLAMA_SERVER names no program that can be run: $AGENTCLI_LLAMA_SERVER" >&2
    exit 1
  fi
  printf '%s\n' "$AGENTCLI_LLAMA_SERVER"
  exit 0
fi

folder=${XDG_CACHE_HOME:-$HOME/.cache}/agentcli/llama/${package#*@}
server=$folder/llama-server
if [ -x "$server" ] && [ -d "$folder/templates" ]; then
  printf '%s\n' "$server"
  exit 0
fi

for tool in npm git cmake make c++; do
  command -v "$tool" >/dev/null 2>&1 && continue
  echo "building llama-server needs $tool; or name a llama-server with AGENTCLI_LLAMA_SERVER" >&2
  exit 1
done

mkdir -p "$folder"
# Beside the result, for the move at the end; of this process alone, so that two builds cannot mix.
work=$folder/build.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work"

echo "Fetching $package ..." >&2
(
  cd "$work"
  npm pack --ignore-scripts --silent "$package" >/dev/null
  tar -xzf ./*.tgz package/llama/gitRelease.bundle
  git -c advice.detachedHead=false clone --quiet package/llama/gitRelease.bundle source >/dev/null 2>clone.log ||
    { cat clone.log >&2; exit 1; }
)

rm -rf "$folder/templates"
cp -R "$work/source/models/templates" "$work/templates"
mv "$work/templates" "$folder/templates"
if [ -x "$server" ]; then
  printf '%s\n' "$server"
  exit 0
fi

echo "Building llama-server into $folder (once, about six minutes) ..." >&2
log=$work/build.log
{
  nice -n 10 cmake -S "$work/source" -B "$work/out" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DGGML_OPENMP=OFF \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF &&
    nice -n 10 cmake --build "$work/out" --target llama-server --parallel "${AGENTCLI_BUILD_JOBS:-2}"
} >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  echo "llama-server could not be built" >&2
  exit 1
}
mv "$work/out/bin/llama-server" "$server"
printf '%s\n' "$server"
