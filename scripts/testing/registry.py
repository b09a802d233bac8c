"""Trials and benchmarks register as executable files in a folder: the file's name is what a user types."""

import json
import os
import subprocess
import sys


def registered(folder):
    """Names of the executable files in a folder, sorted."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name for name in names if os.access(os.path.join(folder, name), os.X_OK) and name[0] != "."
                  and os.path.isfile(os.path.join(folder, name)))


def stream(command, environment):
    """Runs a command, shows its output as it comes, returns (exit status, last line that is not blank)."""
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", env=environment) as process:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            last = line.strip() or last
    return process.returncode, last


def writeJson(path, rows):
    """Writes [{name, value, bound, passed}] whole or not at all."""
    with open(path + ".partial", "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")
    os.replace(path + ".partial", path)
