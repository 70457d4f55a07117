# session-note: adds the assistant's answers to a file of notes. An answer with protected content is left out.
param([string]$hookEvent)
$agentcli = 'agentcli'
# A file of the project.
$file = 'session-notes.md'

# The input may have been read by the shell already; it goes on in the encoding that it was read with.
$OutputEncoding = [Console]::InputEncoding
$text = @($input) -join "`n"
if (-not $text) { $text = [Console]::In.ReadToEnd() }
$program = (Get-Command -Name $agentcli -CommandType Application -ErrorAction Stop | Select-Object -First 1).Source
$text | & $program editor hook session-note $hookEvent --set "file=$file"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
