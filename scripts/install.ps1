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
    # A release: an https address, or a folder. Default: the folder of this script.
    [string]$From = '',
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
# The bar of Windows PowerShell makes downloads many times slower.
$ProgressPreference = 'SilentlyContinue'

# Written in by a release that has an address.
$ReleaseAddress = ''

function Stop-Install([string]$Message) {
    [Console]::Error.WriteLine("agentcli: $Message")
    exit 1
}

if ($PSVersionTable.PSVersion.Major -ge 6 -and -not $IsWindows) { Stop-Install 'on this system use install.sh' }

$programs = Join-Path $env:LOCALAPPDATA 'Programs\agentcli'
if ($Bin -eq '') { $Bin = $programs }
$Bin = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Bin)
$list = Join-Path $programs 'installed'
$begin = '# >>> agentcli >>>'
$end = '# <<< agentcli <<<'

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

# One letter a byte, so that whatever the encoding of the profile is, the rest of it stays as it is.
$bytes = [Text.Encoding]::GetEncoding(28591)

# Null when it is UTF-16, where our lines would be no lines.
function Get-Profile {
    if (-not (Test-Path -LiteralPath $PROFILE)) { return '' }
    $text = $bytes.GetString([IO.File]::ReadAllBytes($PROFILE))
    if ($text -match '^(\xff\xfe|\xfe\xff)') { return $null }
    $text
}

function Set-Profile([string]$Text) { [IO.File]::WriteAllBytes($PROFILE, $bytes.GetBytes($Text)) }

# The profile without our lines; null when it cannot be changed.
function Get-OtherLines {
    $text = Get-Profile
    if ($null -eq $text) { return $null }
    [regex]::Replace($text, "(?ms)^$([regex]::Escape($begin))`r?`n.*?^$([regex]::Escape($end))`r?`n", '')
}

if ($Uninstall) {
    if (-not (Test-Path -LiteralPath $list)) { Stop-Install "nothing is installed: there is no $list" }
    $folders = @()
    foreach ($path in @(Get-Content -LiteralPath $list)) {
        if ($path -eq '') { continue }
        Remove-Item -LiteralPath $path -Force -ErrorAction SilentlyContinue
        if (Test-Path -LiteralPath $path) { Stop-Install "$path is in use; end agentcli and try again" }
        $folders += Split-Path -Parent $path
    }
    $others = Get-OtherLines
    if ($null -eq $others) { "Take the lines of agentcli out of $PROFILE by hand, if there are any." }
    elseif ($others -ne (Get-Profile)) { Set-Profile $others }
    $parts = @((Get-UserPath) -split ';' | Where-Object { $_ -ne '' -and $folders -notcontains $_ })
    Set-UserPath ($parts -join ';')
    Remove-Item -LiteralPath $list -Force
    'agentcli is uninstalled. Settings, keys and sessions stay in .agentcli of your home.'
    exit 0
}

if ($From -eq '') { $From = $ReleaseAddress }
if ($From -eq '' -and $PSScriptRoot) { $From = $PSScriptRoot }
$remote = $From -match '^[a-z]+://'
$loopback = $From -match '^http://(127\.0\.0\.1|localhost|\[::1\])([:/]|$)'
# A password in an address is not shown.
$place = $From -replace '//[^/@]*@', '//'
if ($remote -and $From -notlike 'https://*' -and -not $loopback) {
    Stop-Install "$place is not encrypted, so its sums prove nothing; use https"
}
if (-not $remote -and -not ($From -ne '' -and (Test-Path -LiteralPath (Join-Path $From 'SHA256SUMS')))) {
    Stop-Install 'name the release: -From ADDRESS or -From FOLDER'
}

if ($Bundle) {
    $name = 'agentcli.js'
    $deno = Get-Command deno -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($null -eq $deno) { Stop-Install '-Bundle needs Deno 2.7.11 or later, and there is no deno on PATH' }
    $version = if ("$(& $deno.Source --version)" -match '^deno (\d+\.\d+\.\d+)') { [version]$Matches[1] } else { [version]'0.0.0' }
    if ($version -lt [version]'2.7.11') { Stop-Install "Deno $version is too old, 2.7.11 is needed: deno upgrade" }
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

try { New-Item -ItemType Directory -Force -Path $Bin, $programs | Out-Null } catch { Stop-Install "$Bin cannot be made; choose another place with -Bin" }
$command = Join-Path $Bin $(if ($Bundle) { 'agentcli.cmd' } else { 'agentcli.exe' })
$known = if (Test-Path -LiteralPath $list) { @(Get-Content -LiteralPath $list) } else { @() }
if ((Test-Path -LiteralPath $command) -and $known -notcontains $command) {
    Stop-Install "$command is there and was not installed by this script; remove it, or choose another place with -Bin"
}
# Beside the result, so that it is put in place in one step.
$work = Join-Path $Bin ".agentcli-install.$PID"

function Receive-File([string]$File) {
    $target = Join-Path $work $File
    try {
        if ($remote) {
            [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
            Invoke-WebRequest -UseBasicParsing -Uri "$($From.TrimEnd('/'))/$File" -OutFile $target
        } else {
            Copy-Item -LiteralPath (Join-Path $From $File) -Destination $target
        }
    } catch [System.Management.Automation.ItemNotFoundException] {
        Stop-Install "$place has no ${File}: it is no release of agentcli, or not one for this system"
    } catch {
        # 0x70 and 0x27: the disk is full.
        if (@(0x70, 0x27) -contains ($_.Exception.HResult -band 0xffff)) { Stop-Install "no space left in $Bin (the binary needs about 100 MB)" }
        $response = if ($_.Exception.PSObject.Properties['Response']) { $_.Exception.Response } else { $null }
        if ($null -ne $response) { Stop-Install "$place has no ${File}: it is no release of agentcli, or not one for this system" }
        if ($remote) { Stop-Install "$place cannot be reached (no network, or a wrong address)" }
        Stop-Install "$File cannot be copied to $Bin"
    }
    $target
}

try {
    New-Item -ItemType Directory -Path $work | Out-Null
    $wanted = ''
    foreach ($line in @(Get-Content -LiteralPath (Receive-File 'SHA256SUMS'))) {
        if ($line -match '^([0-9a-f]{64}) [ *](.+)$' -and $Matches[2] -eq $name) { $wanted = $Matches[1] }
    }
    if ($wanted -eq '') { Stop-Install "$place has no $name in its SHA256SUMS: it is no release for this system" }
    $file = Receive-File $name
    if ((Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash -ne $wanted) {
        Stop-Install "$name is damaged: its SHA-256 is not the one in SHA256SUMS; nothing was installed"
    }
    $installed = @()
    if ($Bundle) {
        $module = Join-Path $Bin 'agentcli.js'
        Move-Item -Force -LiteralPath $file -Destination $module
        $lines = @('@echo off', 'setlocal', 'set DENO_NO_UPDATE_CHECK=1', "`"$($deno.Source)`" run --quiet -A --no-config `"$module`" %*")
        # The code page of cmd, so that a name beyond ASCII is found.
        Set-Content -LiteralPath $command -Value $lines -Encoding Oem
        $installed = @($command, $module)
    } else {
        $said = try { & $file --version } catch { $null }
        if ($null -eq $said) { Stop-Install "$name does not run on this system" }
        try { Move-Item -Force -LiteralPath $file -Destination $command } catch { Stop-Install "$command is in use; end agentcli and try again" }
        $installed = @($command)
    }
    # An install in another form before this one leaves nothing behind.
    foreach ($path in $known) {
        if ($path -ne '' -and $installed -notcontains $path) { Remove-Item -LiteralPath $path -Force -ErrorAction SilentlyContinue }
    }
    Set-Content -LiteralPath $list -Value $installed -Encoding UTF8
} finally {
    Remove-Item -Recurse -Force -LiteralPath $work -ErrorAction SilentlyContinue
}

"agentcli is installed: $command"
if ($NoShell) { exit 0 }
$userPath = Get-UserPath
if (@($userPath -split ';') -notcontains $Bin) {
    Set-UserPath "$Bin;$userPath"
    'Open a new window: PATH has changed.'
}
$line = 'if (Get-Command agentcli -ErrorAction SilentlyContinue) { agentcli completions powershell | Out-String | Invoke-Expression }'
$others = Get-OtherLines
if ($null -eq $others) {
    "For completions add to ${PROFILE}: $line"
} else {
    if ($others -ne '' -and -not $others.EndsWith("`n")) { $others += "`r`n" }
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $PROFILE) | Out-Null
    Set-Profile "$others$begin`r`n$line`r`n$end`r`n"
}
"Try it: agentcli run --model demo 'What is here?'"
