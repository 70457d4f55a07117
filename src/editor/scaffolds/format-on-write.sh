#!/usr/bin/env bash
# format-on-write: runs a formatter on the file that the assistant wrote. Protected files are left alone.
agentcli='agentcli'
# The command; the file becomes its last word. Words are parted by spaces.
formatter='deno fmt --quiet'

file=$("$agentcli" editor hook format-on-write "${1-}") || exit 1
[ -n "$file" ] || exit 0
read -r -a words <<<"$formatter"
"${words[@]}" "$file" || exit 1
