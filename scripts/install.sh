#!/bin/sh
# Installs agentcli for one user: the standalone binary, or the bundle for a Deno that is there already. No root.
#
# Usage: sh install.sh [--from ADDRESS|FOLDER] [--sums SHA256] [--bundle] [--bin FOLDER] [--no-shell] [--uninstall]
#   --from      a release: an address (https, or http on this machine) or a folder; default: the folder of this script
#   --sums      what the SHA-256 of SHA256SUMS has to be, as you know it from elsewhere
#   --bundle    agentcli.js, run by Deno 2.7.11 or later, in place of the binary (which has 100 MB)
#   --bin       where the command goes; default: ~/.local/bin
#   --no-shell  leave the start-up file of the shell alone: no PATH, no completions
#   --uninstall take away what was installed; settings and sessions in ~/.agentcli stay
#
# Every file is compared with its sum in SHA256SUMS before anything is put in place.
set -eu

# Written in by a release that has an address.
release_address=

fail() {
  printf 'agentcli: %s\n' "$1" >&2
  exit 1
}

from=$release_address
form=binary
sums=
bin=
shell_setup=yes
uninstall=no
while [ $# -gt 0 ]; do
  case $1 in
    --from | --bin | --sums)
      [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value"
      case $1 in
        --from) from=$2 ;;
        --bin) bin=$2 ;;
        *) sums=$(printf '%s' "$2" | tr A-F a-f) ;;
      esac
      shift
      ;;
    --bundle) form=bundle ;;
    --no-shell) shell_setup=no ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
      [ -f "$0" ] || fail "save install.sh to a file to read what it takes: sh install.sh --help"
      sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      printf 'agentcli: unknown option %s; see: sh install.sh --help\n' "$1" >&2
      exit 2
      ;;
  esac
  shift
done

[ -n "${HOME:-}" ] && [ -d "$HOME" ] || fail "HOME names no directory; set it to yours"
[ -n "$bin" ] || bin=$HOME/.local/bin
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
share=${XDG_DATA_HOME:-$HOME/.local/share}/agentcli
command=$bin/agentcli

# --- the shell ---

begin="# >>> agentcli >>>"
end="# <<< agentcli <<<"

# Text as one word of the shell.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

shell_name() { basename "${SHELL:-sh}"; }

# The file that the user's shell reads when it starts.
start_file() {
  case $(shell_name) in
    zsh) printf '%s/.zshrc' "${ZDOTDIR:-$HOME}" ;;
    bash) if [ "$(uname -s)" = Darwin ]; then printf '%s/.bash_profile' "$HOME"; else printf '%s/.bashrc' "$HOME"; fi ;;
    fish) printf '%s/fish/conf.d/agentcli.fish' "${XDG_CONFIG_HOME:-$HOME/.config}" ;;
    *) printf '%s/.profile' "$HOME" ;;
  esac
}

# Why our lines cannot be put into the file $1, or taken out of it; nothing where they can.
trouble_with() {
  folder=$1
  while [ ! -e "$folder" ] && [ ! -L "$folder" ]; do folder=$(dirname "$folder"); done
  if [ "$folder" != "$1" ]; then
    [ -d "$folder" ] && [ -w "$folder" ] || printf '%s cannot be written to' "$folder"
  elif [ ! -f "$1" ] || [ ! -w "$1" ]; then
    printf '%s cannot be written to' "$1"
  elif grep -qF "$begin" "$1" && ! grep -qF "$end" "$1"; then
    printf "%s has the line '%s' and not '%s'" "$1" "$begin" "$end"
  fi
}

# Takes our lines out of $1. Written in place, so that a link stays a link.
remove_lines() {
  [ -f "$1" ] && grep -qF "$begin" "$1" || return 0
  rest=$(awk -v begin="$begin" -v end="$end" '$0 == begin { inside = 1 } !inside { print } $0 == end { inside = 0 }' "$1"
    printf x)
  printf '%s' "${rest%x}" >"$1"
}

add_lines() {
  file=$(start_file)
  mkdir -p "$(dirname "$file")"
  # Noted, so that an empty file of the user's own stays when our lines go.
  [ -e "$file" ] || [ -L "$file" ] || printf '%s\n' "$file" >>"$share/made"
  if [ "$(shell_name)" = fish ]; then
    remove_lines "$file"
    {
      printf '%s\ncontains -- %s $PATH; or set -gx PATH %s $PATH\n' "$begin" "$(quoted "$bin")" "$(quoted "$bin")"
      printf 'test -r %s; and source %s\n%s\n' "$(quoted "$share/completions.fish")" "$(quoted "$share/completions.fish")" "$end"
    } >>"$file"
  else
    remove_lines "$file"
    # A last line without an end would swallow our first one.
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
    {
      printf '%s\ncase ":$PATH:" in *:%s:*) ;; *) PATH=%s:$PATH; export PATH ;; esac\n' \
        "$begin" "$(quoted "$bin")" "$(quoted "$bin")"
      # zsh has no place for completions before compinit ran; who runs it elsewhere pays nothing here.
      [ "$(shell_name)" != zsh ] || echo '[ -n "${functions[compdef]-}" ] || { autoload -Uz compinit && compinit; }'
      case $(shell_name) in
        bash | zsh) printf '[ ! -r %s ] || . %s\n' "$(quoted "$share/completions.$(shell_name)")" \
          "$(quoted "$share/completions.$(shell_name)")" ;;
      esac
      printf '%s\n' "$end"
    } >>"$file"
  fi
}

if [ "$uninstall" = yes ]; then
  [ -f "$share/installed" ] || fail "nothing is installed: there is no $share/installed"
  while IFS= read -r path; do
    [ -n "$path" ] || continue
    rm -f "$path"
    # What an installation that was killed has left.
    rm -rf "$(dirname "$path")"/.agentcli-install.*
  done <"$share/installed"
  rm -rf "$share"/.agentcli-install.*
  for file in "${ZDOTDIR:-$HOME}/.zshrc" "$HOME/.bashrc" "$HOME/.bash_profile" "$HOME/.profile"; do
    [ -f "$file" ] && grep -qF "$begin" "$file" || continue
    trouble=$(trouble_with "$file")
    if [ -z "$trouble" ]; then
      remove_lines "$file"
      [ -s "$file" ] || ! grep -qxF "$file" "$share/made" 2>/dev/null || rm -f "$file"
    else
      printf 'agentcli: %s: take our lines out by hand\n' "$trouble" >&2
    fi
  done
  rm -f "${XDG_CONFIG_HOME:-$HOME/.config}/fish/conf.d/agentcli.fish" "$share"/completions.* "$share/installed" "$share/made"
  rmdir "$share" 2>/dev/null || true
  echo "agentcli is uninstalled. Settings, keys and sessions stay in ${AGENTCLI_HOME:-$HOME/.agentcli}"
  exit 0
fi

# What root makes in somebody's home its owner cannot change any more. sudo keeps HOME on some systems, and with -E.
is_own() {
  place=$1
  while [ ! -e "$place" ]; do place=$(dirname "$place"); done
  [ -O "$place" ]
}
[ "$(id -u 2>/dev/null)" != 0 ] || { is_own "$bin" && is_own "$share"; } ||
  fail "$bin or $share belongs to another user, and this is root; run it without sudo, it needs no root, or set HOME to the home of root"

# --- what is fetched, and from where ---

if [ -z "$from" ]; then
  from=$(cd "$(dirname "$0")" 2>/dev/null && pwd) || from=
  [ -n "$from" ] && [ -f "$from/SHA256SUMS" ] || fail "name the release: --from ADDRESS or --from FOLDER"
fi
from=${from%/}
# A password in an address is not shown.
place=$(printf '%s' "$from" | sed 's#//[^/@]*@#//#')
case $from in
  https://*) ;;
  http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]* | http://\[::1\]*) ;;
  http://*) fail "$place is not encrypted, so its sums prove nothing; use https" ;;
  *://*) fail "$place: only https addresses and folders are possible" ;;
  *) [ -f "$from/SHA256SUMS" ] || fail "$place has no SHA256SUMS: it is no folder of a release" ;;
esac

system=$(uname -s)
machine=$(uname -m)
case $system in
  Linux) system=unknown-linux-gnu ;;
  Darwin) system=apple-darwin ;;
  MINGW* | MSYS* | CYGWIN*) fail "on Windows use install.ps1" ;;
  *) [ "$form" = bundle ] || fail "there is no binary for $system; with Deno for it, use --bundle" ;;
esac
case $machine in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) [ "$form" = bundle ] || fail "there is no binary for $machine processors; with Deno for it, use --bundle" ;;
esac

if [ "$form" = bundle ]; then
  name=agentcli.js
  needed=3
  deno=$(command -v deno) || deno=
  # The one that a checkout's scripts have fetched.
  if [ -z "$deno" ]; then
    for fetched in "${XDG_CACHE_HOME:-$HOME/.cache}"/agentcli/deno-*/bin/deno; do
      [ ! -x "$fetched" ] || deno=$fetched
    done
    [ -n "$deno" ] || fail "--bundle needs Deno 2.7.11 or later, and there is no deno on PATH"
    kept="It runs with $deno, which has to stay there."
  fi
  version=$("$deno" --version 2>/dev/null | sed -n 's/^deno \([0-9.]*\).*/\1/p')
  IFS=. read -r major minor patch <<END
${version:-0.0.0}
END
  if [ "$major" -lt 2 ] || { [ "$major" -eq 2 ] && { [ "$minor" -lt 7 ] || { [ "$minor" -eq 7 ] && [ "$patch" -lt 11 ]; }; }; }; then
    fail "Deno ${version:-of an unknown version} is too old, 2.7.11 is needed: deno upgrade, or install the binary without --bundle"
  fi
else
  name=agentcli-$machine-$system
  needed=100
fi

if command -v sha256sum >/dev/null 2>&1; then sum_of() { sha256sum <"$1" | cut -d ' ' -f 1; }
elif command -v shasum >/dev/null 2>&1; then sum_of() { shasum -a 256 <"$1" | cut -d ' ' -f 1; }
elif command -v openssl >/dev/null 2>&1; then sum_of() { openssl dgst -sha256 <"$1" | sed 's/.* //'; }
else fail "none of sha256sum, shasum and openssl is here, so the download cannot be checked"
fi

target=$bin
[ "$form" = binary ] || target=$share
mkdir -p "$bin" "$share" 2>/dev/null || fail "$bin and $share cannot be made; choose another place with --bin and XDG_DATA_HOME"
[ -w "$bin" ] && [ -w "$share" ] || fail "$bin or $share cannot be written to; choose another place with --bin and XDG_DATA_HOME"
[ ! -d "$command" ] || fail "$command is a folder; choose another place with --bin"
if [ -e "$command" ] && ! grep -qxF "$command" "$share/installed" 2>/dev/null; then
  fail "$command is there and was not installed by this script; remove it, or choose another place with --bin"
fi
# Beside the result, so that it is put in place in one step, also while the old one runs.
work=$target/.agentcli-install.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM
mkdir "$work" 2>/dev/null || fail "$target cannot be written to"

no_space() {
  free=$(df -Pk "$target" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')
  fail "no space left in $target (${free:-0} MB free, $name needs about $needed)"
}

fetch_failed() {
  case $1 in
    22 | 8) fail "$place has no $2: it is no release of agentcli, or not one for this system" ;;
    23 | 3) no_space ;;
    28) fail "$place does not answer, or stopped sending; try again, or download the release and use --from FOLDER" ;;
    *) fail "$place cannot be reached (no network, or a wrong address)" ;;
  esac
}

# Copies the file $1 of the release into the work folder.
fetch() {
  status=0
  case $from in
    *://*)
      if command -v curl >/dev/null 2>&1; then
        # A redirect from https leads to https alone. Half a minute of almost nothing is the end.
        set -- "$1" -fL --proto '=https,http' --proto-redir '=https' --connect-timeout 20 \
          --speed-limit 1000 --speed-time 30 -o "$work/$1" "$from/$1"
        if [ "$1" = "$name" ] && [ -t 2 ]; then
          (shift && curl --progress-bar "$@") || status=$?
        else
          (shift && curl -s "$@" 2>/dev/null) || status=$?
        fi
      elif command -v wget >/dev/null 2>&1; then
        [ "$1" != "$name" ] || ! [ -t 2 ] || echo "Downloading $from/$1 ..." | sed 's#//[^/@]*@#//#' >&2
        wget -q --timeout=20 --tries=1 -O "$work/$1" "$from/$1" 2>/dev/null || status=$?
      else
        fail "neither curl nor wget is here; download the release and use --from FOLDER"
      fi
      [ "$status" = 0 ] || fetch_failed "$status" "$1"
      ;;
    *)
      [ -f "$from/$1" ] || fail "$place has no $1: it is no release of agentcli, or not one for this system"
      cp "$from/$1" "$work/$1" 2>/dev/null || no_space
      ;;
  esac
}

fetch SHA256SUMS
[ -z "$sums" ] || [ "$(sum_of "$work/SHA256SUMS")" = "$sums" ] ||
  fail "SHA256SUMS of $place is another one: its SHA-256 is not that of --sums; nothing was installed"
wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "$place has no $name in its SHA256SUMS: it is no release for this system"
fetch "$name"
[ "$(sum_of "$work/$name")" = "$wanted" ] ||
  fail "$name is damaged: its SHA-256 is not the one in SHA256SUMS; nothing was installed"

# --- put in place ---

trouble=
[ "$shell_setup" = no ] || trouble=$(trouble_with "$(start_file)")

if [ "$form" = binary ]; then
  chmod 755 "$work/$name"
  said=$("$work/$name" --version 2>/dev/null) ||
    fail "$name does not run on this system (it needs glibc); with Deno 2.7.11 or later use --bundle"
  mv -f "$work/$name" "$command"
else
  # Mostly a ~/.npmrc that Deno cannot read: it reads that file whatever it is told.
  said=$(DENO_NO_UPDATE_CHECK=1 NO_COLOR=1 "$deno" run -A --no-config "$work/$name" --version 2>"$work/why") ||
    fail "$name does not run with $deno: $(sed -n 's/^error: //p' "$work/why" | head -n 1)"
  {
    cat <<'END'
#!/bin/sh
# Deno says in many lines, and before the program runs, that the directory it is in is gone.
[ "$PWD" -ef . ] || [ -n "$(pwd -P 2>/dev/null)" ] || {
  echo "agentcli: the directory you are in is gone; go into one that is there" >&2
  exit 2
}
export DENO_NO_UPDATE_CHECK=1
END
    printf 'exec %s run --quiet -A --no-config %s "$@"\n' "$(quoted "$deno")" "$(quoted "$share/agentcli.js")"
  } >"$work/agentcli" || no_space
  chmod 755 "$work/agentcli"
  mv -f "$work/$name" "$share/agentcli.js"
  mv -f "$work/agentcli" "$command"
fi

# An install in another form or place before this one leaves nothing behind.
if [ -f "$share/installed" ]; then
  while IFS= read -r path; do
    case $path in
      "$command") ;;
      "$share/agentcli.js") [ "$form" = bundle ] || rm -f "$path" ;;
      ?*) rm -f "$path" ;;
    esac
  done <"$share/installed"
fi
printf '%s\n' "$command" >"$share/installed"
[ "$form" = binary ] || printf '%s\n' "$share/agentcli.js" >>"$share/installed"

echo "$said is installed: $command"
[ -z "${kept:-}" ] || echo "$kept"
if [ "$shell_setup" = yes ]; then
  for shell in bash zsh fish; do "$command" completions "$shell" >"$share/completions.$shell"; done
fi
if [ "$shell_setup" = yes ] && [ -z "$trouble" ]; then
  add_lines
  case :$PATH: in
    *:"$bin":*) echo "Completions work in a new shell." ;;
    *) echo "Open a new shell, or: export PATH=$(quoted "$bin"):\"\$PATH\"" ;;
  esac
else
  [ -z "$trouble" ] || echo "The shell is not set up: $trouble. The completions are in $share"
  case :$PATH: in *:"$bin":*) ;; *) echo "$bin is not on PATH" ;; esac
fi
echo "Try it: agentcli run --model demo 'What is here?'"
