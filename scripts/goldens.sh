#!/usr/bin/env bash
# Computes the goldens of tests/parity anew with PyTorch and transformers (installed into .cache/peers on first use).
# `goldens.sh` writes them; `goldens.sh --check` compares those in git with the new ones and fails where they differ.
set -euo pipefail
cd "$(dirname "$0")/.."
benchmarks/peers/setup.sh
exec .cache/peers/bin/python tests/parity/goldens.py "$@"
