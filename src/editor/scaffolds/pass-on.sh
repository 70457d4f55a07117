#!/usr/bin/env bash
# {name}: {about}
agentcli='agentcli'
# {note}
{parameter}='{value}'

"$agentcli" editor hook {name} "${1-}" --set "{parameter}=${parameter}" || exit 1
