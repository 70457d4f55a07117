<#
.SYNOPSIS
Installs agentcli for one user: the standalone binary, or the bundle for a Deno that is there already. No administrator.
.EXAMPLE
powershell -ExecutionPolicy Bypass -File install.ps1 -From C:\Downloads\agentcli-release
.EXAMPLE
powershell -ExecutionPolicy Bypass -File install.ps1 -Uninstall
.NOTES
Every file is compared with its sum in SHA256SUMS before anything is put in place.
#>
[CmdletBinding()]
param(
    # A release: an address (https, or http on this machine) or a folder. Default: the folder of this script.
    [string]$From = '',
    # What the SHA-256 of SHA256SUMS has to be, as you know it from elsewhere.
    [string]$Sums = '',
    # agentcli.js, run by Deno 2.7.11 or later, in place of the binary.
    [switch]$Bundle,
    # Where the command goes.
    [string]$Bin = '',
    # Leave PATH and the profile of PowerShell alone.
    [switch]$NoShell,
    # Take away what was installed; settings and sessions stay.
    [switch]$Uninstall
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
# What a program's exit code means is said here.
$PSNativeCommandUseErrorActionPreference = $false

# Written in by a release that has an address.
$ReleaseAddress = ''

function Stop-Install([string]$Message) {
    [Console]::Error.WriteLine("agentcli: $Message")
    exit 1
}

if ($PSVersionTable.PSVersion.Major -ge 6 -and -not $IsWindows) { Stop-Install 'on this system use install.sh' }
if (-not $env:LOCALAPPDATA) { Stop-Install 'LOCALAPPDATA names no folder; set it to yours' }

# From the folder that this PowerShell is in; that of the process is another.
function Get-FullPath([string]$Path) {
    try { $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path) } catch { Stop-Install "$Path is no place for files" }
}

$programs = Join-Path $env:LOCALAPPDATA 'Programs\agentcli'
if ($Bin -eq '') { $Bin = $programs }
$Bin = Get-FullPath $Bin
$list = Join-Path $programs 'installed'
# The folder that was put on PATH; no such file where it was there before.
$pathNote = Join-Path $programs 'path'
$begin = '# >>> agentcli >>>'
$end = '# <<< agentcli <<<'

# --- the shell ---

# As it is stored: what it refers to (%USERPROFILE%) stays a reference.
function Get-UserPath {
    "$((Get-Item -LiteralPath 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames'))"
}

function Set-UserPath([string]$Value) {
    New-ItemProperty -LiteralPath 'HKCU:\Environment' -Name Path -Value $Value -PropertyType ExpandString -Force | Out-Null
    # This way of setting a variable tells programs that run, such as the taskbar; the one above does not.
    [Environment]::SetEnvironmentVariable('AGENTCLI_INSTALL', '1', 'User')
    [Environment]::SetEnvironmentVariable('AGENTCLI_INSTALL', $null, 'User')
}

# The folders on PATH but for the one that an install put there.
function Get-OtherFolders {
    $ours = if (Test-Path -LiteralPath $pathNote) { "$(Get-Content -LiteralPath $pathNote -Encoding UTF8)" } else { '' }
    (Get-UserPath) -split ';' | Where-Object { $_ -ne '' -and $_ -ne $ours }
}

# One letter a byte, so that whatever the encoding of the profile is, the rest of it stays as it is.
$bytes = [Text.Encoding]::GetEncoding(28591)

# Null when it cannot be read, or is UTF-16, where our lines would be no lines.
function Get-Profile {
    if (-not (Test-Path -LiteralPath $PROFILE)) { return '' }
    $text = try { $bytes.GetString([IO.File]::ReadAllBytes($PROFILE)) } catch { $null }
    if ($null -eq $text -or $text -match '^(\xff\xfe|\xfe\xff)') { return $null }
    $text
}

# The profile without our lines; null when it cannot be changed, also for one of the two marks without the other.
function Get-OtherLines {
    $text = Get-Profile
    if ($null -eq $text) { return $null }
    $others = [regex]::Replace($text, "(?ms)^$([regex]::Escape($begin))`r?`n.*?^$([regex]::Escape($end))(`r?`n|\z)", '')
    if ($others.Contains($begin) -or $others.Contains($end)) { return $null }
    $others
}

# Whether it could be written.
function Set-Profile([string]$Text) {
    try {
        New-Item -ItemType Directory -Force -Path (Split-Path -Parent $PROFILE) | Out-Null
        [IO.File]::WriteAllBytes($PROFILE, $bytes.GetBytes($Text))
        $true
    } catch { $false }
}

# What an install that was killed has left.
function Remove-Unfinished([string]$Folder) {
    Get-ChildItem -LiteralPath $Folder -Filter '.agentcli-install.*' -Force -ErrorAction SilentlyContinue |
        Remove-Item -Recurse -Force -ErrorAction SilentlyContinue
}

if ($Uninstall) {
    if (-not (Test-Path -LiteralPath $list)) { Stop-Install "nothing is installed: there is no $list" }
    foreach ($path in @(Get-Content -LiteralPath $list -Encoding UTF8)) {
        if ($path -eq '') { continue }
        Remove-Item -LiteralPath $path -Force -ErrorAction SilentlyContinue
        if (Test-Path -LiteralPath $path) { Stop-Install "$path is in use; end agentcli and try again" }
        Remove-Unfinished (Split-Path -Parent $path)
    }
    $others = Get-OtherLines
    if ($null -eq $others -or ($others -ne (Get-Profile) -and -not (Set-Profile $others))) {
        "$PROFILE cannot be changed: take the lines of agentcli out by hand, if there are any"
    }
    if (Test-Path -LiteralPath $pathNote) {
        Set-UserPath (@(Get-OtherFolders) -join ';')
        Remove-Item -LiteralPath $pathNote -Force
    }
    Remove-Item -LiteralPath $list -Force
    if (@(Get-ChildItem -LiteralPath $programs -Force).Count -eq 0) { Remove-Item -LiteralPath $programs -Force -ErrorAction SilentlyContinue }
    $settings = if ($env:AGENTCLI_HOME) { $env:AGENTCLI_HOME } else { Join-Path $env:USERPROFILE '.agentcli' }
    "agentcli is uninstalled. Settings, keys and sessions stay in $settings"
    exit 0
}

# --- what is fetched, and from where ---

if ($From -eq '') { $From = $ReleaseAddress }
if ($From -eq '' -and $PSScriptRoot -and (Test-Path -LiteralPath (Join-Path $PSScriptRoot 'SHA256SUMS'))) { $From = $PSScriptRoot }
if ($From -eq '') { Stop-Install 'name the release: -From ADDRESS or -From FOLDER' }
$remote = $From -match '^[a-z]+://'
if ($remote) { $From = $From.TrimEnd('/') }
# A password in an address is not shown.
$place = $From -replace '//[^/@]*@', '//'
if ($remote) {
    if ($From -match '^http://' -and $From -notmatch '^http://(127\.0\.0\.1|localhost|\[::1\])([:/]|$)') {
        Stop-Install "$place is not encrypted, so its sums prove nothing; use https"
    }
    if ($From -notmatch '^https?://') { Stop-Install "${place}: only https addresses and folders are possible" }
    # Part of Windows since 2018. Invoke-WebRequest follows a redirect from https to http, and waits minutes for a download that stalls.
    $curl = Get-Command curl.exe -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1 -ExpandProperty Source
    if ($null -eq $curl) { Stop-Install 'there is no curl.exe here; download the release and use -From FOLDER' }
} else {
    $From = Get-FullPath $From
    if (-not (Test-Path -LiteralPath (Join-Path $From 'SHA256SUMS'))) { Stop-Install "$place has no SHA256SUMS: it is no folder of a release" }
}

$kept = ''
if ($Bundle) {
    $name = 'agentcli.js'
    $deno = Get-Command deno -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1 -ExpandProperty Source
    # The one that a checkout's scripts have fetched.
    if ($null -eq $deno) {
        $deno = Get-Item "$env:USERPROFILE\.cache\agentcli\deno-*\bin\deno.exe" -ErrorAction SilentlyContinue |
            Select-Object -Last 1 -ExpandProperty FullName
        if ($null -eq $deno) { Stop-Install '-Bundle needs Deno 2.7.11 or later, and there is no deno on PATH' }
        $kept = "It runs with $deno, which has to stay there."
    }
    $version = if ("$(& $deno --version)" -match '^deno (\d+\.\d+\.\d+)') { [version]$Matches[1] } else { [version]'0.0.0' }
    if ($version -lt [version]'2.7.11') { Stop-Install "Deno $version is too old, 2.7.11 is needed: deno upgrade, or install the binary without -Bundle" }
} else {
    # A 32-bit PowerShell says x86 of itself and the truth in the second variable.
    $processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    $machine = switch ($processor) {
        'AMD64' { 'x86_64' }
        'ARM64' { 'aarch64' }
        default { '' }
    }
    if ($machine -eq '') { Stop-Install "there is no binary for $processor processors; with Deno for it, use -Bundle" }
    $name = "agentcli-$machine-pc-windows-msvc.exe"
}

$command = Join-Path $Bin $(if ($Bundle) { 'agentcli.cmd' } else { 'agentcli.exe' })
$known = if (Test-Path -LiteralPath $list) { @(Get-Content -LiteralPath $list -Encoding UTF8) } else { @() }
if ((Test-Path -LiteralPath $command) -and $known -notcontains $command) {
    Stop-Install "$command is there and was not installed by this script; remove it, or choose another place with -Bin"
}
# Beside the result, so that it is put in place in one step.
$work = Join-Path $Bin ".agentcli-install.$PID"
try {
    New-Item -ItemType Directory -Force -Path $Bin, $programs | Out-Null
    New-Item -ItemType Directory -Path $work | Out-Null
} catch { Stop-Install "$Bin or $programs cannot be made or written to; choose another place with -Bin" }

function Stop-Missing([string]$File) { Stop-Install "$place has no ${File}: it is no release of agentcli, or not one for this system" }
function Stop-Full { Stop-Install "no space left in $Bin (the binary needs about 100 MB)" }

# Copies a file of the release into the work folder and gives its path.
function Receive-File([string]$File) {
    $target = Join-Path $work $File
    if (-not $remote) {
        $source = Join-Path $From $File
        if (-not (Test-Path -LiteralPath $source)) { Stop-Missing $File }
        try { Copy-Item -LiteralPath $source -Destination $target } catch {
            # 0x70 and 0x27: the disk is full.
            if (@(0x70, 0x27) -contains ($_.Exception.HResult -band 0xffff)) { Stop-Full }
            Stop-Install "$File cannot be copied to $Bin"
        }
        return $target
    }
    # As install.sh calls it: a redirect from https leads to https alone, half a minute of almost nothing is the end.
    $null = & $curl -s -f -L --proto '=https,http' --proto-redir '=https' --connect-timeout 20 --speed-limit 1000 --speed-time 30 -o $target "$From/$File"
    switch ($LASTEXITCODE) {
        0 { return $target }
        22 { Stop-Missing $File }
        23 { Stop-Full }
        28 { Stop-Install "$place does not answer, or stopped sending; try again, or download the release and use -From FOLDER" }
        default { Stop-Install "$place cannot be reached (no network, a wrong address, or a proxy that HTTPS_PROXY does not name)" }
    }
}

try {
    $wanted = ''
    $sumsFile = Receive-File 'SHA256SUMS'
    if ($Sums -ne '' -and (Get-FileHash -Algorithm SHA256 -LiteralPath $sumsFile).Hash -ne $Sums) {
        Stop-Install "SHA256SUMS of $place is another one: its SHA-256 is not that of -Sums; nothing was installed"
    }
    foreach ($line in @(Get-Content -LiteralPath $sumsFile)) {
        if ($line -match '^([0-9a-f]{64}) [ *](.+)$' -and $Matches[2] -eq $name) { $wanted = $Matches[1] }
    }
    if ($wanted -eq '') { Stop-Install "$place has no $name in its SHA256SUMS: it is no release for this system" }
    if ($remote) { "Downloading $place/$name ..." }
    $file = Receive-File $name
    if ((Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash -ne $wanted) {
        Stop-Install "$name is damaged: its SHA-256 is not the one in SHA256SUMS; nothing was installed"
    }
    # --- put in place ---
    if ($Bundle) {
        $env:DENO_NO_UPDATE_CHECK = '1'
        $said = try { & $deno run -A --no-config $file --version } catch { $null }
        if (-not $said) { Stop-Install "$name does not run with $deno" }
        $module = Join-Path $Bin 'agentcli.js'
        Move-Item -Force -LiteralPath $file -Destination $module
        $start = "`"$deno`" run --quiet -A --no-config `"$module`"".Replace('%', '%%')
        $lines = @('@echo off', 'setlocal', 'set DENO_NO_UPDATE_CHECK=1', "$start %*")
        # The code page of cmd, so that a name beyond ASCII is found.
        Set-Content -LiteralPath $command -Value $lines -Encoding Oem
        $installed = @($command, $module)
    } else {
        $said = try { & $file --version } catch { $null }
        if (-not $said) { Stop-Install "$name does not run on this system; with Deno 2.7.11 or later use -Bundle" }
        try { Move-Item -Force -LiteralPath $file -Destination $command } catch { Stop-Install "$command is in use; end agentcli and try again" }
        $installed = @($command)
    }
    # An install in another form or place before this one leaves nothing behind.
    foreach ($path in $known) {
        if ($path -ne '' -and $installed -notcontains $path) { Remove-Item -LiteralPath $path -Force -ErrorAction SilentlyContinue }
    }
    Set-Content -LiteralPath $list -Value $installed -Encoding UTF8
} finally {
    Remove-Item -Recurse -Force -LiteralPath $work -ErrorAction SilentlyContinue
}

"$said is installed: $command"
if ($kept -ne '') { $kept }
if ($NoShell) {
    if (@($env:Path -split ';') -notcontains $Bin) { "$Bin is not on PATH" }
} else {
    $folders = @(Get-OtherFolders)
    if ($folders -notcontains $Bin) {
        $userPath = (@($Bin) + $folders) -join ';'
        if ($userPath -ne (Get-UserPath)) {
            Set-UserPath $userPath
            'Open a new window: PATH has changed.'
        }
        Set-Content -LiteralPath $pathNote -Value $Bin -Encoding UTF8
    }
    $line = 'if (Get-Command agentcli -ErrorAction SilentlyContinue) { agentcli completions powershell | Out-String | Invoke-Expression }'
    $others = Get-OtherLines
    $set = $false
    if ($null -ne $others) {
        if ($others -ne '' -and -not $others.EndsWith("`n")) { $others += "`r`n" }
        $set = Set-Profile "$others$begin`r`n$line`r`n$end`r`n"
    }
    if (-not $set) { "The profile is not set up; for completions add to ${PROFILE}: $line" }
}
"Try it: agentcli run --model demo 'What is here?'"
