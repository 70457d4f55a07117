# audit-log: one line of JSON for each action of the assistant, without content and without protected names.
param([string]$hookEvent)
$agentcli = 'agentcli'
# home: below the home of agentcli. project: beside the hooks of the project.
$log = 'home'

& $agentcli editor hook audit-log $hookEvent --set "log=$log"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
