#!/bin/sh
# Drives the program against a real llama-server, which is built first if there is none (about six minutes, once).
# Not part of the default tests: it needs npm, git, a C++ compiler and a model.
# Usage: sh scripts/llama/test.sh [files or options of deno test]
# AGENTCLI_TINY_MODEL names the model (a GGUF file), AGENTCLI_LLAMA_SERVER a llama-server that is there already.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
model=${AGENTCLI_TINY_MODEL:-$root/../shared/models/tiny-agent.gguf}
if ! [ -f "$model" ]; then
  cat >&2 <<END
There is no model at $model.
Name one: AGENTCLI_TINY_MODEL=/path/to/model.gguf deno task test-llama
Any small chat model will do whose template knows tools; the tests ask nothing of its answers.
END
  exit 1
fi
. "$root/scripts/with_deno.sh"
cd "$root"
AGENTCLI_LLAMA_SERVER=$(sh scripts/llama/build_server.sh)
AGENTCLI_TINY_MODEL=$model
export AGENTCLI_LLAMA_SERVER AGENTCLI_TINY_MODEL

agentcli_fetch_packages main.ts
# Their names do not end in _test.ts, so `deno test` finds them only when they are named.
case "${1:-}" in
  "" | -*) set -- "$@" tests/live/*_live.ts ;;
esac
exec "$DENO" test -A --quiet "$@"
