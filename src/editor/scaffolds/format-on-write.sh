#!/usr/bin/env bash
# format-on-write: runs a formatter on the file that the assistant wrote. Protected files are left alone.
agentcli='agentcli'
# The command; the file becomes its last word. Words are parted by spaces.
formatter='deno fmt --quiet'

file=$("$agentcli" editor hook format-on-write "${1-}") || exit 1
read -r -a words <<<"$formatter"
# Said even where there is nothing to format, so that it is known before there is.
command -v -- "${words[0]}" >/dev/null || { echo "format-on-write: there is no program ${words[0]}" >&2; exit 1; }
[ -n "$file" ] || exit 0
"${words[@]}" "$file" || exit 1
