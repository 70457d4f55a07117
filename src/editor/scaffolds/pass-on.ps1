# {name}: {about}
param([string]$hookEvent)
$agentcli = 'agentcli'
# {note}
${parameter} = '{value}'

# The input may have been read by the shell already; it goes on in the encoding that it was read with.
$OutputEncoding = [Console]::InputEncoding
$text = @($input) -join "`n"
if (-not $text) { $text = [Console]::In.ReadToEnd() }
$program = (Get-Command -Name $agentcli -CommandType Application -ErrorAction Stop | Select-Object -First 1).Source
$text | & $program editor hook {name} $hookEvent --set "{parameter}=${parameter}"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
