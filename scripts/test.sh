#!/usr/bin/env bash
# Builds and tests everything; closes with `N passed, N failed`. `--only PATTERN` selects by name; `--help` says more.
exec /usr/bin/python3 "$(dirname "$0")/testing/main.py" "$@"
