#!/bin/sh
# An agent turn with tools on the directory it is run in, with the demo model: no server, no account, no key.
# Usage: sh scripts/try.sh ["prompt"]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/with_deno.sh"

agentcli() { "$DENO" run --quiet -A --no-config "$root/main.ts" "$@"; }

agentcli_fetch_packages "$root/main.ts"
[ $# -gt 0 ] || set -- "What is in this directory? Read what matters and give me an outline."
echo "agentcli run --model demo \"$*\"" >&2
# Standard input is part of the prompt when it is no terminal; a script's is nobody's prompt.
if [ -t 0 ]; then agentcli run --model demo "$*"; else agentcli run --model demo "$*" </dev/null; fi

cat >&2 <<END

That was the whole program with a scripted model. With a model on this machine (Ollama, LM Studio, vLLM, llama.cpp):
  alias agentcli='$agentcli_settings "$DENO" run -A --no-config "$root/main.ts"'
  agentcli chat                         # finds the servers that run here and asks which model to use
  agentcli run "Explain what this does" # one turn; see agentcli run --help
END
