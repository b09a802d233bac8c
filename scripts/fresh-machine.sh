#!/usr/bin/env bash
# Proves that a stranger's machine is enough: makes a bare Debian 12 in a folder (debootstrap), copies this checkout in,
# and runs the two commands of README.md inside, or the commands given. Prints what each took. Needs root.
#
#   scripts/fresh-machine.sh [--folder FOLDER] [--keep] [COMMAND...]
#
# The bare machine gets this machine's package sources, certificates, pip configuration and proxy variables, and nothing
# else of it. Mounts are undone and the folder is removed at the end, on Ctrl-C too; --keep leaves the folder.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=
keep=no
child=

say() { printf 'fresh-machine: %s\n' "$*"; }
fail() { printf 'fresh-machine: error: %s\n' "$*" >&2; exit 1; }

# Ends what still runs inside, undoes the mounts, removes the folder.
cleanUp() {
  trap - EXIT INT TERM
  if [ -n "$child" ]; then
    kill -TERM -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  rm -f "$folder.log"
  local mount
  for mount in dev/shm sys proc; do
    if mountpoint -q "$folder/$mount"; then umount "$folder/$mount" 2>/dev/null || umount -l "$folder/$mount"; fi
  done
  if [ "$keep" = yes ]; then
    say "left in $folder"
  elif grep -q " $folder/" /proc/self/mounts; then
    say "left in $folder: something is still mounted there"
  else
    rm -rf --one-file-system "$folder"
  fi
}

# The archive that this machine takes bookworm from; apt knows it whatever the form of its source files.
archive() {
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Identifier: Packages' | awk '$1 == "bookworm" {print $2; exit}'
}

# Copies a file or folder of this machine to the same place inside, when it is there.
copyIn() {
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    mkdir -p "$folder$(dirname "$path")"
    cp -RL "$path" "$folder$(dirname "$path")/" 2>/dev/null || cp -R "$path" "$folder$(dirname "$path")/"
  done
}

# NAME=VALUE of the variables that say how to reach package indexes; files that they name are copied in.
networkVariables() {
  local name value
  while IFS='=' read -r name value; do
    case $name in
      *[Pp][Rr][Oo][Xx][Yy] | *CA_BUNDLE | *CERT_FILE | *CERT_DIR | *CAINFO | *CA_CERTS | *ROOTS_FILE_PATH | PIP_*) ;;
      *) continue ;;
    esac
    case $value in /*) copyIn "$value" ;; esac
    printf '%s\0' "$name=$value"
  done < <(env)
}

# Runs one command line inside, in the checkout, with a bare environment; its time is printed.
runInside() {
  local start status seconds
  start=$(date +%s)
  say "inside: $1"
  setsid chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 "${variables[@]}" /bin/bash -c "cd /root/weft && $1" </dev/null &
  child=$!
  status=0
  wait "$child" || status=$?
  child=
  seconds=$(($(date +%s) - start))
  times+=("$(printf '%6d s  %s' "$seconds" "$1")")
  printf 'fresh-machine: %d s, status %d: %s\n' "$seconds" "$status" "$1"
  [ "$status" = 0 ] || fail "'$1' ended with status $status in the bare machine"
}

while [ $# -gt 0 ]; do
  case $1 in
    --folder) [ $# -gt 1 ] || fail "--folder needs a folder"; folder=$2; shift 2 ;;
    --keep) keep=yes; shift ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) fail "unknown option $1 (--folder FOLDER, --keep)" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- scripts/quickstart.sh scripts/test.sh
[ -z "$folder" ] || [ ! -d "$folder" ] || [ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"
[ "$(id -u)" = 0 ] || fail "making a system in a folder needs root: run it with sudo"
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
mirror=$(archive)
[ -n "$mirror" ] || fail "apt knows no archive with bookworm: run apt-get update first"
if [ -n "$folder" ]; then
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
else
  folder=$(mktemp -d "${TMPDIR:-/var/tmp}/weft-fresh.XXXXXX")
fi
trap cleanUp EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "a bare Debian 12 in $folder"
started=$(date +%s)
debootstrap --variant=minbase --include=ca-certificates bookworm "$folder" "$mirror" >"$folder.log" 2>&1 ||
  { tail -n 20 "$folder.log"; fail "debootstrap failed"; }
rm -f "$folder.log" "$folder/etc/apt/sources.list"
copyIn /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/keyrings /etc/apt/trusted.gpg.d /etc/apt/apt.conf.d \
  /etc/apt/auth.conf.d /etc/apt/preferences.d /etc/ssl/certs /usr/local/share/ca-certificates /etc/pip.conf /etc/hosts \
  /etc/resolv.conf "$HOME/.config/pip"
mapfile -d '' -t variables < <(networkVariables)
mount -t proc proc "$folder/proc"
mount -t sysfs -o ro sysfs "$folder/sys"
mkdir -p "$folder/dev/shm"
mount -t tmpfs tmpfs "$folder/dev/shm"
git clone -q --no-local "$root" "$folder/root/weft"
git -C "$root" ls-files -z --cached --others --exclude-standard |
  tar -C "$root" --null --ignore-failed-read -cf - -T - 2>/dev/null | tar -xf - -C "$folder/root/weft"
say "ready after $(($(date +%s) - started)) s"

times=()
for command in "$@"; do runInside "$command"; done
say "all commands passed:"
printf '%s\n' "${times[@]}"
