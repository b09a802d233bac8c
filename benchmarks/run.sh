#!/usr/bin/env bash
# Measurements held against benchmarks/bounds.yaml: `benchmarks/run.sh NAME [--json FILE] [--quick] [--no-peers]
# [--sabotage NAME]`. Each executable file in benchmarks/run.d is one; `--help` lists them.
exec /usr/bin/python3 "$(dirname "$0")/../scripts/testing/benchmarks.py" "$@"
