# no-cloud-guard: blocks an action of the assistant that touches what .agentclisecret protects.
# Exit 2 blocks. Whatever goes wrong here is exit 2 too: an editor lets the action pass on any other code.
param([string]$hookEvent)
$agentcli = 'agentcli'
$limitSeconds = '20'

$ErrorActionPreference = 'Stop'
try {
    # The shell may have read the input already. The same encoding gives its bytes back; bytes that it could not hold are
    # no UTF-8 afterwards, and agentcli blocks then.
    $bytes = [Console]::InputEncoding.GetBytes((@($input) -join "`n"))
    if ($bytes.Length -eq 0) {
        $memory = New-Object System.IO.MemoryStream
        [Console]::OpenStandardInput().CopyTo($memory)
        $bytes = $memory.ToArray()
    }
    $program = (Get-Command -Name $agentcli -CommandType Application | Select-Object -First 1).Source
    $words = "editor hook no-cloud-guard $hookEvent"
    $start = New-Object System.Diagnostics.ProcessStartInfo
    $start.UseShellExecute = $false
    $start.RedirectStandardInput = $true
    if ($program -match '\.(cmd|bat)$') {
        $start.FileName = $env:ComSpec
        $start.Arguments = '/d /s /c ""' + $program + '" ' + $words + '"'
    } else {
        $start.FileName = $program
        $start.Arguments = $words
    }
    $process = [System.Diagnostics.Process]::Start($start)
    $limit = [int]$limitSeconds * 1000
    $stream = $process.StandardInput.BaseStream
    $inTime = $stream.WriteAsync($bytes, 0, $bytes.Length).Wait($limit)
    if ($inTime) {
        $stream.Close()
        $inTime = $process.WaitForExit($limit)
    }
    if (-not $inTime) {
        [Console]::Error.WriteLine('no-cloud-guard: agentcli gave no answer in time; the action is blocked')
        & taskkill.exe /T /F /PID $process.Id | Out-Null
        exit 2
    }
    if ($process.ExitCode -eq 0) { exit 0 }
    exit 2
} catch {
    [Console]::Error.WriteLine("no-cloud-guard: $_; the action is blocked")
    exit 2
}
