# no-cloud-guard: blocks an action of the assistant that touches what .agentclisecret protects.
# Exit 2 blocks. Whatever goes wrong here is exit 2 too: an editor lets the action pass on any other code.
param([string]$hookEvent, [string]$assistant)
$agentcli = 'agentcli'
$limitSeconds = '20'
# Whether refusals name the tool ask_private, which the MCP server of agentcli has.
$askPrivate = 'no'

$ErrorActionPreference = 'Stop'
try {
    # The shell may have read the input already. The same encoding gives its bytes back, unless its code page does not hold
    # all bytes: then a question mark may stand for what was lost, and a path would be judged that nobody named.
    $encoding = [Console]::InputEncoding
    $text = @($input) -join "`n"
    $bytes = $encoding.GetBytes($text)
    if ($encoding.CodePage -ne 65001 -and $text -match '\?' -and $text -match '[^\x00-\x7f]') {
        $all = [byte[]](128..255)
        $back = $encoding.GetBytes($encoding.GetString($all))
        if ([System.BitConverter]::ToString($back) -ne [System.BitConverter]::ToString($all)) {
            throw 'the input cannot be read in this code page; set it to UTF-8 (chcp 65001)'
        }
    }
    if ($bytes.Length -eq 0) {
        $memory = New-Object System.IO.MemoryStream
        [Console]::OpenStandardInput().CopyTo($memory)
        $bytes = $memory.ToArray()
    }
    $program = (Get-Command -Name $agentcli -CommandType Application | Select-Object -First 1).Source
    $words = "editor hook no-cloud-guard $hookEvent $assistant --set ask_private=$askPrivate"
    # The name that a refusal gives to the assistant; one that a command line could change is left out.
    if ($agentcli -notmatch '["%^&|<>]|\\$') { $words += " --set `"agentcli=$agentcli`"" }
    $start = New-Object System.Diagnostics.ProcessStartInfo
    $start.UseShellExecute = $false
    $start.RedirectStandardInput = $true
    $start.RedirectStandardOutput = $true
    if ($program -match '\.(cmd|bat)$') {
        $start.FileName = $env:ComSpec
        $start.Arguments = '/d /s /c ""' + $program + '" ' + $words + '"'
    } else {
        $start.FileName = $program
        $start.Arguments = $words
    }
    $process = [System.Diagnostics.Process]::Start($start)
    $limit = [int]$limitSeconds * 1000
    $answer = $process.StandardOutput.ReadToEndAsync()
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
    # Exit 0 alone says little: whatever is called agentcli, or shows its help, ends so. Behind this line stands what the
    # assistant takes besides the exit code.
    $lines = @('')
    if ($answer.Wait($limit)) { $lines = @($answer.Result.Trim() -split '\r?\n', 2) }
    $isDecision = $lines[0] -ceq "no-cloud-guard: pass $hookEvent" -or $lines[0] -ceq "no-cloud-guard: blocked $hookEvent"
    if ($isDecision -and $lines.Count -gt 1) { [Console]::Out.WriteLine($lines[1]) }
    $passed = $process.ExitCode -eq 0 -and $lines[0] -ceq "no-cloud-guard: pass $hookEvent"
    if ($passed) { exit 0 }
    if ($process.ExitCode -ne 2) {
        [Console]::Error.WriteLine("no-cloud-guard: agentcli gave no answer (exit $($process.ExitCode)); the action is blocked")
    }
    exit 2
} catch {
    [Console]::Error.WriteLine("no-cloud-guard: $_; the action is blocked")
    exit 2
}
