#!/usr/bin/env bash
# Long randomized trials: `scripts/trials.sh NAME [--count N] [--seed S] [--minutes M] [--json FILE] [--sabotage NAME]`.
# Each executable file in scripts/trials.d is one; `--help` lists them. Closes with `N passed, N failed`.
exec /usr/bin/python3 "$(dirname "$0")/testing/trials.py" "$@"
