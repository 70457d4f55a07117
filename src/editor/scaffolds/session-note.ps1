# session-note: adds the assistant's answers to a file of notes. An answer with protected content is left out.
param([string]$hookEvent)
$agentcli = 'agentcli'
# A file of the project.
$file = 'session-notes.md'

& $agentcli editor hook session-note $hookEvent --set "file=$file"
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
