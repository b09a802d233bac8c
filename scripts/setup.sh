#!/usr/bin/env bash
# Makes a Debian 12 machine ready: installs the packages of scripts/packages.list that are missing or too old, then
# prepares the text that the quickstart trains on (.cache/quickstart/corpus.txt). Run it as often as you like: when
# nothing is missing it takes a second. It needs root or sudo only when it has to install something.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
list=$root/scripts/packages.list
corpus=${WEFT_CACHE:-$root/.cache}/quickstart/corpus.txt

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

# Version without epoch, as dpkg compares it; empty when the package is not installed.
installedVersion() {
  { dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null || true; } |
    awk '$1 == "installed" {sub(/^[0-9]+:/, "", $2); print $2}'
}

# Names of the listed packages that are absent or older than their minimum.
missingPackages() {
  local name minimum why have
  while read -r name minimum why; do
    case $name in ''|'#'*) continue ;; esac
    have=$(installedVersion "$name")
    if [ -z "$have" ] || dpkg --compare-versions "$have" lt "$minimum"; then echo "$name"; fi
  done <"$list"
}

asRoot() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "must install packages: run this script as root, or install sudo"
  fi
}

installPackages() {
  say "installing $# packages: $*"
  asRoot env DEBIAN_FRONTEND=noninteractive apt-get -q update
  local candidate
  candidate=$(apt-cache policy clang-22 | awk '$1 == "Candidate:" {print $2}')
  if [ -z "$candidate" ] || [ "$candidate" = "(none)" ]; then
    fail "no package source has clang-22: it comes from Debian 12's security suite. Add 'bookworm-security main' to /etc/apt/sources.list and run this script again."
  fi
  asRoot env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
  local left
  left=$(missingPackages | tr '\n' ' ')
  [ -z "$left" ] || fail "still missing or older than scripts/packages.list asks: ${left}(this needs Debian 12 with its security suite)"
}

# Prints the folder of the reStructuredText sources of Python's documentation. A machine whose dpkg is told to leave
# out /usr/share/doc gets them from the package file itself.
documentationSources() {
  local folder=/usr/share/doc/python3.11/html/_sources scratch=$1
  if [ ! -d "$folder" ]; then
    (cd "$scratch" && apt-get -q download python3.11-doc >&2 && dpkg-deb -x python3.11-doc_*.deb .) ||
      fail "cannot get the sources in python3.11-doc: $folder is absent and the package could not be downloaded"
    folder=$scratch$folder
  fi
  echo "$folder"
}

prepareCorpus() {
  local sources
  if [ -s "$corpus" ]; then
    say "corpus: $corpus is there ($(stat -c %s "$corpus") bytes)"
    return
  fi
  mkdir -p "$(dirname "$corpus")"
  scratch=$(mktemp -d "$(dirname "$corpus")/prepare.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  sources=$(documentationSources "$scratch")
  find "$sources" -type f \( -name '*.rst.txt' -o -name '*.rst.txt.gz' \) -print0 | sort -z | xargs -0 zcat -f >"$scratch/corpus.txt"
  [ "$(stat -c %s "$scratch/corpus.txt")" -gt 5000000 ] ||
    fail "the sources under $sources hold less than 5 MB of text: reinstall python3.11-doc"
  sync "$scratch/corpus.txt"
  mv "$scratch/corpus.txt" "$corpus"
  say "corpus: wrote $corpus ($(stat -c %s "$corpus") bytes)"
}

command -v dpkg-query >/dev/null || fail "this is not a Debian system: install the packages named in scripts/packages.list by hand"
missing=$(missingPackages)
if [ -z "$missing" ]; then
  say "all packages of scripts/packages.list are installed"
else
  # shellcheck disable=SC2086 -- one word a package
  installPackages $missing
fi
prepareCorpus
say "done. Next: scripts/build.sh"
