# setup-worktree: copies into a new worktree what git does not bring. A protected file is copied only when it is listed.
param([string]$hookEvent)
$agentcli = 'agentcli'
# Files and directories of the project, joined by commas.
$copy = ''

# The input may have been read by the shell already; it goes on in the encoding that it was read with.
$OutputEncoding = [Console]::InputEncoding
$text = @($input) -join "`n"
if (-not $text) { $text = [Console]::In.ReadToEnd() }
$program = (Get-Command -Name $agentcli -CommandType Application -ErrorAction Stop | Select-Object -First 1).Source
$text | & $program editor hook setup-worktree $hookEvent --set "copy=$copy"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
