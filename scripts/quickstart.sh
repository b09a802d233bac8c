#!/usr/bin/env bash
# From a fresh checkout to a trained model: installs what is missing, builds, trains examples/quickstart/run.yaml on real
# prose, writes a sample of text and draws the loss curve. Running it again continues where the last run stopped.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'quickstart: %s\n' "$*"; }

start=$(date +%s)
scripts/setup.sh
ready=$(date +%s)
scripts/build.sh release weft weft-compile
built=$(date +%s)
say "setup $((ready - start)) s, build $((built - ready)) s"

export PATH=$PWD/build/release/bin:$PATH
weft train examples/quickstart/run.yaml --name quickstart
trained=$(date +%s)
say "a sample:"
weft generate runs/quickstart --prompt "The " --tokens 200
weft plot runs/quickstart
say "setup $((ready - start)) s, build $((built - ready)) s, training $((trained - built)) s"
say "the run is in runs/quickstart: metrics.jsonl, log.txt, checkpoints/, loss.svg"
