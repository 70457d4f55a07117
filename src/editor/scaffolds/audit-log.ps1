# audit-log: one line of JSON for each action of the assistant, without content and without protected names.
param([string]$hookEvent)
$agentcli = 'agentcli'
# home: below the home of agentcli. project: beside the hooks of the project.
$log = 'home'

# The input may have been read by the shell already; it goes on in the encoding that it was read with.
$OutputEncoding = [Console]::InputEncoding
$text = @($input) -join "`n"
if (-not $text) { $text = [Console]::In.ReadToEnd() }
$program = (Get-Command -Name $agentcli -CommandType Application -ErrorAction Stop | Select-Object -First 1).Source
$text | & $program editor hook audit-log $hookEvent --set "log=$log"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
