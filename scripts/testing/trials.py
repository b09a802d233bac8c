"""scripts/trials.sh: starts one registered trial, and believes its closing line only when it fits the exit status.

A trial is an executable file scripts/trials.d/NAME that takes --count N --seed S [--minutes M] [--sabotage NAME] (and what
else it has of --megabytes and --only), stops
after `count` trials or `minutes`, whichever comes first, prints what failed with the seed that repeats it, and closes
with `N passed, N failed`; it exits with 0 when nothing failed. It finds the checkout in WEFT_ROOT and the programs on PATH.
"""

import argparse
import os
import re
import sys

from registry import registered, stream, writeJson
from results import BUILD, ROOT

CLOSING = re.compile(r"(\d+) passed, (\d+) failed$")
FOLDER = os.path.join(ROOT, "scripts", "trials.d")


def parse(arguments, names):
    parser = argparse.ArgumentParser(prog="scripts/trials.sh", description="Long randomized trials.")
    parser.add_argument("name", metavar="NAME", choices=names, help="one of: " + (", ".join(names) or "none is registered yet"))
    parser.add_argument("--count", type=int, default=20, help="how many trials (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="what the trials are drawn from (default: 1)")
    parser.add_argument("--minutes", type=float, help="stop after this time, whatever the count")
    parser.add_argument("--megabytes", type=float, help="of text, for trials that take it")
    parser.add_argument("--only", metavar="NAME", help="a part of the trial, for trials that have parts with names")
    parser.add_argument("--json", metavar="FILE", help="write [{name, value, bound, passed}] there")
    parser.add_argument("--sabotage", metavar="NAME", help="break one thing on purpose: the trial must then fail")
    options = parser.parse_args(arguments)
    if options.count < 1:
        parser.error("--count must be at least 1")
    return options


def main(arguments, folder=FOLDER):
    options = parse(arguments, registered(folder))
    command = [os.path.join(folder, options.name), "--count", str(options.count), "--seed", str(options.seed)]
    for name in ("minutes", "megabytes", "only", "sabotage"):
        value = getattr(options, name)
        command += [f"--{name}", str(value)] if value is not None else []
    print(f"trials {options.name}: count {options.count}, seed {options.seed}", flush=True)
    environment = dict(os.environ, WEFT_ROOT=ROOT, WEFT_BUILD=BUILD, PATH=os.path.join(BUILD, "bin") + os.pathsep + os.environ["PATH"])
    status, last = stream(command, environment)
    closing = CLOSING.match(last)
    passed, failed = (int(closing[1]), int(closing[2])) if closing else (0, 1)
    if closing is None or (status != 0) != (failed > 0):
        failed = max(failed, 1)
        print(f"trials {options.name}: ended with status {status} and the line {last!r}, which do not fit")
        print(f"{passed} passed, {failed} failed")
    if options.json:
        writeJson(options.json, [{"name": f"{options.name}.trials", "value": passed + failed, "bound": 1, "passed": passed + failed > 0},
                                 {"name": f"{options.name}.failed", "value": failed, "bound": 0, "passed": failed == 0}])
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
