# setup-worktree: copies into a new worktree what git does not bring. A protected file is copied only when it is listed.
param([string]$hookEvent)
$agentcli = 'agentcli'
# Files and directories of the project, joined by commas.
$copy = ''

& $agentcli editor hook setup-worktree $hookEvent --set "copy=$copy"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
