"""The FileCheck tests under tests/lit, through LLVM's lit: each file is one test."""

import json
import os
import shutil
import time

from results import BUILD, ROOT, Result, run

PASSING = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_NAMES = ("lit-22", "/usr/lib/llvm-22/bin/lit")


def runLitTests(report):
    folder = os.path.join(ROOT, "tests", "lit")
    files = [name for _, _, names in os.walk(folder) for name in names if name.endswith((".mlir", ".test"))]
    if not files:
        return
    start = time.monotonic()
    lit = next((name for name in LIT_NAMES if shutil.which(name)), None)
    if lit is None:
        report.add("lit", [Result("lit", False, 0, "lit-22 is not installed: run scripts/setup.sh")], 0)
        return
    output = os.path.join(BUILD, "lit-tests.json")
    if os.path.exists(output):
        os.remove(output)
    command = [lit, f"-j{os.cpu_count()}", "-q", "--output", output, "--timeout", "120", "--allow-empty-runs"]
    if report.selective:
        command += ["--filter", report.pattern.pattern]
    _, text, seconds = run(command + [folder])
    if report.selective and "filter did not match any tests" in text:
        return
    if not os.path.exists(output):
        report.add("lit", [Result("lit", False, seconds, text)], seconds)
        return
    with open(output, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    results = [Result(test["name"].replace("weft :: ", ""), test["code"] in PASSING, test["elapsed"] or 0,
                      f"{test['code']}\n{test['output']}")
               for test in tests if test["code"] not in ("EXCLUDED", "SKIPPED", "UNSUPPORTED")]
    report.add("lit", results, time.monotonic() - start)
