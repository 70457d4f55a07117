#!/usr/bin/env bash
# The one step of action.yml: a turn of agentcli in the workspace. The inputs are AGENTCLI_ACTION_*; AGENTCLI_ACTION_COMMAND
# names another program than the npm package. Exit codes are those of `agentcli run`.
set -euo pipefail
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/agentcli.XXXXXX")
transcript=$work/events.jsonl
export AGENTCLI_HOME=$work/home
if [ -z "${AGENTCLI_ACTION_COMMAND:-}" ]; then
  # Not in the workspace: what is checked out there must not choose the registry, or see the key.
  (cd "$work" && env -u AGENTCLI_ACTION_KEY npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" \
    "agentcli@$AGENTCLI_ACTION_VERSION" >&2)
  AGENTCLI_ACTION_COMMAND=$work/node_modules/.bin/agentcli
fi
agentcli() { "$AGENTCLI_ACTION_COMMAND" "$@"; }
key=none
# shellcheck disable=SC2016 # agentcli reads the variable when it needs the key
[ -z "${AGENTCLI_ACTION_KEY:-}" ] || key='$AGENTCLI_ACTION_KEY'
agentcli --quiet providers add server --base-url "$AGENTCLI_ACTION_ENDPOINT" --api-key "$key" --model "$AGENTCLI_ACTION_MODEL"
options=(--model "server:$AGENTCLI_ACTION_MODEL" --permission-mode "$AGENTCLI_ACTION_MODE"
  --max-turns "$AGENTCLI_ACTION_TURNS" --output-format stream-json)
[ -z "${AGENTCLI_ACTION_TOOLS:-}" ] || options+=(--allowed-tools "$AGENTCLI_ACTION_TOOLS")
status=0
printf '%s' "$AGENTCLI_ACTION_PROMPT" | agentcli run "${options[@]}" - >"$transcript" || status=$?
# The last event is the result; node is there, as npm is.
result=$(tail -n 1 "$transcript" | node -e '
  const event = JSON.parse(require("node:fs").readFileSync(0, "utf8") || "{}");
  process.stdout.write(String(event.result ?? event.errors?.join("\n") ?? ""));') || result=
mark=agentcli-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf 'result<<%s\n%s\n%s\ntranscript=%s\n' "$mark" "$result" "$mark" "$transcript" >>"$GITHUB_OUTPUT"
printf '%s\n' "$result" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$status"
