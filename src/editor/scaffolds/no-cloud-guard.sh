#!/usr/bin/env bash
# no-cloud-guard: blocks an action of the assistant that touches what .agentclisecret protects.
# Exit 2 blocks. Whatever goes wrong here is exit 2 too: an editor lets the action pass on any other code.
agentcli='agentcli'
limit_seconds='20'
# Whether refusals name the tool ask_private, which the MCP server of agentcli has.
ask_private='no'

trap 'exit 2' HUP INT TERM
answer=$(
  # Its own process group, so that a hanging one is ended with all that it started.
  set -m
  "$agentcli" editor hook no-cloud-guard "$@" --set "agentcli=$agentcli" --set "ask_private=$ask_private" <&0 &
  guard=$!
  (
    trap 'kill "$pause" 2>/dev/null; exit 0' TERM
    sleep "$limit_seconds" &
    pause=$!
    wait "$pause"
    kill -KILL -- "-$guard" 2>/dev/null
  ) </dev/null >/dev/null 2>&1 &
  watch=$!
  wait "$guard"
  code=$?
  kill -TERM -- "-$watch" 2>/dev/null
  exit "$code"
)
code=$?
# Exit 0 alone says little: whatever is called agentcli, or shows its help, ends so. Behind this line stands what the
# assistant takes besides the exit code.
decision=${answer%%$'\n'*}
case $decision in "no-cloud-guard: pass ${1-}" | "no-cloud-guard: blocked ${1-}") printf '%s' "${answer#"$decision"}" ;; esac
[ "$code" -eq 0 ] && [ "$decision" = "no-cloud-guard: pass ${1-}" ] && exit 0
[ "$code" -eq 2 ] || echo "no-cloud-guard: agentcli gave no answer (exit $code); the action is blocked" >&2
exit 2
