"""The tests of the command lines: tests/system/test_*.py, each method of a test case is one test.

A file runs in a process of its own, which prints one JSON object a line for each finished test (tests/system/harness.py).
"""

import glob
import json
import os
import time

from results import BUILD, ROOT, Result, run

TIMEOUT = 900  # seconds a file


def runFile(path, report):
    environment = dict(os.environ, WEFT_BUILD=BUILD, PYTHONDONTWRITEBYTECODE="1")
    harness = os.path.join(ROOT, "tests", "system", "harness.py")
    status, output, seconds = run(["/usr/bin/python3", harness, path, report.pattern.pattern], timeout=TIMEOUT, env=environment)
    results, rest = [], []
    for line in output.splitlines():
        if line.startswith('{"weft_test": '):
            entry = json.loads(line)
            results.append(Result(entry["weft_test"], entry["passed"], entry["seconds"], entry["output"]))
        else:
            rest.append(line)
    if status not in (0, 1):
        results.append(Result(os.path.basename(path), False, seconds, "\n".join(rest)))
    return results


def runSystemTests(report):
    start = time.monotonic()
    results = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "system", "test_*.py"))):
        results += runFile(path, report)
    report.add("system", results, time.monotonic() - start)
