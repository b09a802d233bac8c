"""The GoogleTest programs, through ctest: each TEST is one test."""

import json
import os
import time
import xml.etree.ElementTree

from results import BUILD, Result, run

TIMEOUT = 300  # seconds a test


def selectedNumbers(report):
    """Numbers (as ctest counts) of the tests that the pattern selects, or an error as a Result."""
    status, output, seconds = run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"])
    if status != 0:
        return [], Result("ctest", False, seconds, output)
    text = output[output.index("{"):]
    tests = json.loads(text)["tests"]
    return [number for number, test in enumerate(tests, 1) if report.wants(test["name"])], None


def failureText(case):
    parts = [node.text or node.get("message", "") for node in case if node.tag in ("failure", "error", "skipped", "system-out")]
    return "\n".join(part for part in parts if part)


def lastLine(text):
    return (text.strip().splitlines() or [""])[-1]


def runUnitTests(report):
    start = time.monotonic()
    numbers, error = selectedNumbers(report)
    if error:
        report.add("unit", [error], time.monotonic() - start)
        return
    if not numbers:
        return
    junit = os.path.join(BUILD, "unit-tests.xml")
    if os.path.exists(junit):
        os.remove(junit)
    command = ["ctest", "--test-dir", BUILD, f"-j{os.cpu_count()}", "--timeout", str(TIMEOUT), "--output-junit", junit]
    if report.selective:
        command += ["-I", "1,0,1," + ",".join(map(str, numbers))]
    _, output, seconds = run(command)
    if not os.path.exists(junit):
        report.add("unit", [Result("ctest", False, seconds, output)], time.monotonic() - start)
        return
    cases = xml.etree.ElementTree.parse(junit).getroot().iter("testcase")
    results = []
    for case in cases:
        # A program that this processor cannot run skips itself, and counts neither way.
        if case.get("status") == "notrun" and "SKIP_RETURN_CODE" in failureText(case):
            print(f"  skipped unit: {case.get('name')}: {lastLine(failureText(case))}", flush=True)
        else:
            results.append(Result(case.get("name"), case.get("status") == "run", float(case.get("time", 0)), failureText(case)))
    report.add("unit", results, time.monotonic() - start)
