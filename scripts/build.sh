#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json (default: release) into build/PRESET; programs are in
# build/PRESET/bin. Further arguments go to ninja: `scripts/build.sh release weft`.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
if [ $# -gt 0 ]; then preset=$1; shift; fi
start=$(date +%s)
# Configuring again is ninja's job once build.ninja is there: it does so when a CMake file changed.
if [ ! -f "build/$preset/build.ninja" ]; then
  echo "build: configuring build/$preset"
  mkdir -p build
  cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || { cat "build/configure-$preset.log"; exit 1; }
fi
ninja -C "build/$preset" "$@"
echo "build: build/$preset is up to date ($(($(date +%s) - start)) s)"
