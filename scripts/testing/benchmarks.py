"""benchmarks/run.sh: starts one registered benchmark and holds its figures against benchmarks/bounds.yaml.

A benchmark is an executable file benchmarks/run.d/NAME that takes --rows FILE [--quick] [--no-peers] [--sabotage NAME],
prints what it measures, and writes [{"name": ..., "value": ...}] to FILE. One that measures several models also takes --model
NAME, more than once, and its figures are named MODEL.FIGURE. bounds.yaml says for each name `at_least` or `at_most`,
`peer: true` where the figure is a ratio to a peer (left out with --no-peers), and `if_measured: true` where not every machine
has it. Any other bound without a figure, of the models that were asked for, is a failure; a figure without a bound is shown.
"""

import argparse
import json
import os
import sys
import tempfile

import yaml

from registry import registered, stream, writeJson
from results import BUILD, ROOT

FOLDER = os.path.join(ROOT, "benchmarks", "run.d")
BOUNDS = os.path.join(ROOT, "benchmarks", "bounds.yaml")


def parse(arguments, names):
    parser = argparse.ArgumentParser(prog="benchmarks/run.sh", description="Measurements held against their bounds.")
    parser.add_argument("name", metavar="NAME", choices=names, help="one of: " + (", ".join(names) or "none is registered yet"))
    parser.add_argument("--json", metavar="FILE", help="write [{name, value, bound, passed}] there")
    parser.add_argument("--model", metavar="NAME", action="append", help="of several models this one; may be repeated")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 too, where the processor has no instructions for it")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--no-peers", action="store_true", help="measure weft alone; ratios to peers are left out")
    parser.add_argument("--sabotage", metavar="NAME", help="break one thing on purpose: the benchmark must then fail")
    return parser.parse_args(arguments)


def holds(value, bound):
    return value is not None and value >= bound.get("at_least", float("-inf")) and value <= bound.get("at_most", float("inf"))


def isWanted(name, bound, values, options):
    if bound.get("peer") and options.no_peers or bound.get("if_measured") and name not in values:
        return False
    return not options.model or "." not in name or name.split(".")[0] in options.model


def judge(rows, bounds, options):
    """[{name, value, bound, passed}] of the figures measured and the bounds that had to be."""
    values = {row["name"]: row["value"] for row in rows}
    wanted = {name: bound for name, bound in bounds.items() if isWanted(name, bound, values, options)}
    judged = []
    for name in list(values) + [name for name in wanted if name not in values]:
        bound = wanted.get(name)
        limit = None if bound is None else bound.get("at_least", bound.get("at_most"))
        judged.append({"name": name, "value": values.get(name), "bound": limit,
                       "passed": bound is None or holds(values.get(name), bound)})
    return judged


def printTable(judged, bounds):
    width = max((len(row["name"]) for row in judged), default=0)
    for row in judged:
        value = "not measured" if row["value"] is None else f"{row['value']:.4g}"
        bound = bounds.get(row["name"], {})
        limit = " ".join(f"{word.replace('_', ' ')} {bound[word]:g}" for word in ("at_least", "at_most") if word in bound)
        verdict = "" if row["bound"] is None else "ok" if row["passed"] else "FAILED"
        print(f"{row['name']:<{width}}  {value:>12}  {limit:<16}  {verdict}".rstrip())


def main(arguments, folder=FOLDER, boundsFile=BOUNDS):
    options = parse(arguments, registered(folder))
    with open(boundsFile, encoding="utf-8") as file:
        bounds = (yaml.safe_load(file) or {}).get(options.name, {})
    with tempfile.TemporaryDirectory(prefix="weft-benchmark-") as scratch:
        rowsFile = os.path.join(scratch, "rows.json")
        command = [os.path.join(folder, options.name), "--rows", rowsFile]
        command += ["--quick"] * options.quick + ["--no-peers"] * options.no_peers
        command += ["--bf16"] * options.bf16
        for model in options.model or ():
            command += ["--model", model]
        command += ["--sabotage", options.sabotage] if options.sabotage else []
        environment = dict(os.environ, WEFT_ROOT=ROOT, WEFT_BUILD=BUILD, PATH=os.path.join(BUILD, "bin") + os.pathsep + os.environ["PATH"])
        status, _ = stream(command, environment)
        if status != 0 or not os.path.exists(rowsFile):
            print(f"benchmark {options.name}: ended with status {status} and {'' if os.path.exists(rowsFile) else 'no '}figures", file=sys.stderr)
            return 1
        with open(rowsFile, encoding="utf-8") as file:
            rows = json.load(file)
    judged = judge(rows, bounds, options)
    printTable(judged, bounds)
    if options.json:
        writeJson(options.json, judged)
    failed = sum(not row["passed"] for row in judged)
    print(f"{len(judged) - failed} passed, {failed} failed")
    return 1 if failed or not judged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
