#!/usr/bin/env bash
# Refuses includes and link dependencies against the arrows of the architecture (scripts/testing/layering.py has the
# table). `--root FOLDER` checks another tree.
exec /usr/bin/python3 "$(dirname "$0")/testing/layering.py" "$@"
