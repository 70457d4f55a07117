# format-on-write: runs a formatter on the file that the assistant wrote. Protected files are left alone.
param([string]$hookEvent)
$agentcli = 'agentcli'
# The command; the file becomes its last word. Words are parted by spaces.
$formatter = 'deno fmt --quiet'

# The input may have been read by the shell already; it goes on in the encoding that it was read with.
$OutputEncoding = [Console]::InputEncoding
$text = @($input) -join "`n"
if (-not $text) { $text = [Console]::In.ReadToEnd() }
[Console]::OutputEncoding = [System.Text.Encoding]::UTF8
$program = (Get-Command -Name $agentcli -CommandType Application -ErrorAction Stop | Select-Object -First 1).Source
$file = $text | & $program editor hook format-on-write $hookEvent
if ($LASTEXITCODE -ne 0) { exit 1 }
$words = @($formatter -split ' ' | Where-Object { $_ })
# Said even where there is nothing to format, so that it is known before there is.
if (-not (Get-Command -Name $words[0] -ErrorAction SilentlyContinue)) {
    [Console]::Error.WriteLine("format-on-write: there is no program $($words[0])")
    exit 1
}
if (-not $file) { exit 0 }
$rest = @($words | Select-Object -Skip 1) + @($file)
& $words[0] $rest
if ($LASTEXITCODE -ne 0) { exit 1 }
exit 0
