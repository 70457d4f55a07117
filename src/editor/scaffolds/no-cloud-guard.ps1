# no-cloud-guard: blocks an action of the assistant that touches what .agentclisecret protects.
# Exit 2 blocks. Whatever goes wrong here is exit 2 too: an editor lets the action pass on any other code.
param([string]$hookEvent)
$agentcli = 'agentcli'
$limitSeconds = '20'

$ErrorActionPreference = 'Stop'
try {
    $program = (Get-Command -Name $agentcli -CommandType Application | Select-Object -First 1).Source
    $words = "editor hook no-cloud-guard $hookEvent"
    $start = New-Object System.Diagnostics.ProcessStartInfo
    # The input is not redirected: the child reads what the editor wrote, byte for byte.
    $start.UseShellExecute = $false
    if ($program -match '\.(cmd|bat)$') {
        $start.FileName = $env:ComSpec
        $start.Arguments = '/d /s /c ""' + $program + '" ' + $words + '"'
    } else {
        $start.FileName = $program
        $start.Arguments = $words
    }
    $process = [System.Diagnostics.Process]::Start($start)
    if (-not $process.WaitForExit([int]$limitSeconds * 1000)) {
        & taskkill.exe /T /F /PID $process.Id 2>&1 | Out-Null
        [Console]::Error.WriteLine('no-cloud-guard: agentcli gave no answer in time; the action is blocked')
        exit 2
    }
    if ($process.ExitCode -eq 0) { exit 0 }
    exit 2
} catch {
    [Console]::Error.WriteLine("no-cloud-guard: $_; the action is blocked")
    exit 2
}
