# Sourced by the other scripts (POSIX sh): finds Deno, or installs it from npm into a folder of its own.
# Sets DENO to the program and puts it on PATH. Needs Deno 2.8 or later, or Node.js with npm.

agentcli_deno_version=2.9.6
agentcli_room_mb=150 # Deno is 96 MB unpacked; its packages and a part of the download come beside it
agentcli_settings='DENO_NO_UPDATE_CHECK=1' # what a command line of the user needs, for messages
agentcli_home=${HOME:-}
agentcli_caches=${XDG_CACHE_HOME:-$agentcli_home/.cache}
agentcli_cache=$agentcli_caches/agentcli

# Whether the Deno named by $1 runs and is 2.8 or later.
agentcli_deno_fits() {
  version=$("$1" --version 2>/dev/null | sed -n 's/^deno \([0-9.]*\).*/\1/p')
  [ -n "$version" ] || return 1
  IFS=. read -r major minor rest <<END
$version
END
  # The sources import texts as 2.8 does without a flag; the bundle and the binaries run on 2.7.11 as well.
  [ "$major" -gt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -ge 8 ]; }
}

# MB that are free where the folder $1 is; empty where that cannot be found out.
agentcli_free_mb() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }'; }

# Said before anything is fetched: npm leaves the package out without a word when the disk is full.
agentcli_need_room() {
  free=$(agentcli_free_mb "$1")
  [ -n "$free" ] && [ "$free" -lt "$agentcli_room_mb" ] || return 0
  echo "agentcli needs $agentcli_room_mb MB in $1 for Deno, and $free MB are free; make room, or set XDG_CACHE_HOME to a directory on another disk" >&2
  return 1
}

# Installs Deno below $1. The program is taken from the package of this platform, so no install script has to run:
# npm 11 asks before it runs one, and company settings often forbid it.
agentcli_install_deno() {
  unfinished=$1.$$
  mkdir -p "$unfinished"
  printf '{"private":true}\n' >"$unfinished/package.json"
  (
    cd "$unfinished"
    # One more try, and soon: npm's own waits are a minute of silence where there is no network.
    npm install --location=project --ignore-scripts --include=optional --no-audit --no-fund --no-update-notifier --loglevel=error \
      --fetch-retries=1 --fetch-retry-mintimeout=1000 "deno@$agentcli_deno_version" >&2
  ) || {
    rm -rf "$unfinished"
    echo "npm could not fetch Deno (its reason is above): run this again with the network, or install Deno 2.8 or later by hand: https://docs.deno.com" >&2
    return 1
  }
  found=
  for program in "$unfinished"/node_modules/@deno/*/deno "$unfinished"/node_modules/@deno/*/deno.exe; do
    [ -f "$program" ] && found=$program
  done
  if [ -z "$found" ]; then
    rm -rf "$unfinished"
    echo "npm installed no Deno: there is none for this system, or no room for it ($(agentcli_free_mb "$agentcli_cache") MB are free in $agentcli_cache, $(agentcli_free_mb "$agentcli_home") MB in $agentcli_home); make room, or install Deno 2.8 or later by hand: https://docs.deno.com" >&2
    return 1
  fi
  chmod +x "$found"
  mkdir -p "$unfinished/bin"
  mv "$found" "$unfinished/bin/"
  rm -rf "$unfinished/node_modules"
  # Another script may have been faster; either result is good.
  mv "$unfinished" "$1" 2>/dev/null || rm -rf "$unfinished"
}

agentcli_find_deno() {
  if command -v deno >/dev/null 2>&1 && agentcli_deno_fits deno; then
    DENO=$(command -v deno)
    return 0
  fi
  folder=$agentcli_cache/deno-$agentcli_deno_version
  if ! [ -x "$folder/bin/deno" ] && ! [ -x "$folder/bin/deno.exe" ]; then
    if ! command -v npm >/dev/null 2>&1; then
      echo "agentcli needs Deno 2.8 or later, or Node.js with npm to fetch it" >&2
      return 1
    fi
    agentcli_need_directory "$agentcli_cache" || return 1
    agentcli_need_room "$agentcli_cache" || return 1
    echo "Installing Deno $agentcli_deno_version from npm into $folder (once, about 100 MB) ..." >&2
    agentcli_install_deno "$folder" || return 1
  fi
  DENO=$folder/bin/deno
  if ! agentcli_deno_fits "$DENO"; then
    echo "$DENO does not run on this system; install Deno 2.8 or later by hand: https://docs.deno.com" >&2
    return 1
  fi
  PATH=$folder/bin:$PATH
  # What this Deno caches stays beside it, so that removing one folder removes everything.
  DENO_DIR=${DENO_DIR:-$agentcli_cache/deno-cache}
  agentcli_settings="$agentcli_settings DENO_DIR=\"$DENO_DIR\""
  export PATH DENO_DIR
}

# Said once and first: Deno and npm would each say it in their own many lines.
agentcli_need_directory() {
  mkdir -p "$1" 2>/dev/null && [ -w "$1" ] && return 0
  echo "agentcli cannot write to $1, where it keeps what it fetches; set XDG_CACHE_HOME to a directory that you may write to" >&2
  return 1
}

if [ -z "${DENO_DIR:-}" ] && [ "$(uname -s)" = Darwin ] && [ -z "${XDG_CACHE_HOME:-}" ]; then
  agentcli_need_directory "$agentcli_home/Library/Caches/deno" || exit 1
else
  agentcli_need_directory "${DENO_DIR:-$agentcli_caches/deno}" || exit 1
fi
agentcli_find_deno || exit 1
DENO_NO_UPDATE_CHECK=1
# A company's own certificate authority is in the system's store, which Deno does not ask unless told to; for whatever
# the script does next, since `deno test` and `deno check` fetch packages too.
DENO_TLS_CA_STORE=${DENO_TLS_CA_STORE:-mozilla,system}
export DENO DENO_NO_UPDATE_CHECK DENO_TLS_CA_STORE

# Runs Deno with these words for what it fetches by the way; says in one line why it could not.
agentcli_fetch() {
  said=$(NO_COLOR=1 "$DENO" "$@" 2>&1) && return 0
  said=$(printf '%s\n' "$said" | sed -n '/^error/{s/^error: //p;q;}')
  echo "the packages could not be fetched from npm (${said:-Deno gave no reason}); agentcli needs the network once, for this" >&2
  return 1
}

# Fetches the packages that the modules given as arguments need; nothing is fetched twice.
agentcli_fetch_packages() { agentcli_fetch cache --quiet --no-config "$@"; }
