#!/usr/bin/env bash
# audit-log: one line of JSON for each action of the assistant, without content and without protected names.
agentcli='agentcli'
# home: below the home of agentcli. project: beside the hooks of the project.
log='home'

"$agentcli" editor hook audit-log "${1-}" --set "log=$log" || exit 1
