/** The completion scripts. */
import { type Shell, SHELLS } from "../program_commands.ts";
import type { Invocation } from "../command.ts";

// Works with the bash 3.2 of macOS. Bash has split the line at `:` and `=` already and replaces the last part alone.
const BASH = `_agentcli() {
  local current=\${COMP_WORDS[COMP_CWORD]} line rest=none
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) rest=\${line#:} ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(agentcli __complete --line="\${COMP_LINE:0:COMP_POINT}" --breaks="$COMP_WORDBREAKS" 2>/dev/null)
  [[ $rest == none ]] && return
  [[ $current == "=" ]] && current=
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(if [[ $rest == file ]]; then compgen -f -- "$current"; else compgen -d -- "$current"; fi)
}
complete -F _agentcli agentcli
`;

const ZSH = `#compdef agentcli
_agentcli() {
  local line rest=none
  local -a previous values shown
  previous=("\${(@Q)words[2,CURRENT-1]}")
  while IFS= read -r line; do
    case $line in
      (:*) rest=\${line#:} ;;
      (*)
        values+=("\${line%%$'\\t'*}")
        shown+=("\${line//$'\\t'/  }")
        ;;
    esac
  done < <(agentcli __complete --word="\${(Q)PREFIX}" -- "\${previous[@]}" 2>/dev/null)
  (( \${#values} )) && compadd -l -d shown -- "\${values[@]}"
  case $rest in
    (file) compset -P '--*='; _files ;;
    (directory) compset -P '--*='; _files -/ ;;
  esac
}
if [[ \${funcstack[1]} == _agentcli ]]; then _agentcli "$@"; else compdef _agentcli agentcli; fi
`;

const FISH = `function __agentcli_complete
    set -l previous (commandline -opc)
    set -l current (commandline -ct)
    set -e previous[1]
    for line in (agentcli __complete --word="$current" -- $previous 2>/dev/null)
        switch $line
            case ':file'
                __fish_complete_path "$current"
            case ':directory'
                __fish_complete_directories "$current"
            case ':*'
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c agentcli -e
complete -c agentcli -f -a '(__agentcli_complete)'
`;

// Without a result PowerShell offers files by itself. Not run on Windows yet.
const POWERSHELL = `Register-ArgumentCompleter -Native -CommandName agentcli -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $previous = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    agentcli __complete "--word=$wordToComplete" '--' @previous 2>$null |
        Where-Object { $_ -notlike ':*' } | ForEach-Object {
            $value, $brief = $_ -split "\`t", 2
            if (-not $brief) { $brief = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $brief)
        }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };

/** Runs the command. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const shell = SHELLS.find((name) => name === words[0]) ?? "bash";
  await context.io.stdout.write(SCRIPTS[shell]);
}
