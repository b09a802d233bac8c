#!/usr/bin/env bash
# Computes the goldens of tests/parity anew with PyTorch and transformers, and what tests/unit/tokenizer expects with Hugging
# Face's tokenizers (installed into .cache/peers on first use). `goldens.sh` writes them; `goldens.sh --check` compares those
# in git with the new ones and fails where they differ. Goldens that are named are those of tests/parity.
set -euo pipefail
cd "$(dirname "$0")/.."
benchmarks/peers/setup.sh
.cache/peers/bin/python tests/parity/goldens.py "$@"
case "$*" in
  "" | --check) .cache/peers/bin/python tests/unit/tokenizer/generate.py "$@" ;;
esac
