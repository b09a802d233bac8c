"""scripts/test.sh: builds, runs every kind of test, closes with `N passed, N failed`."""

import argparse
import os
import subprocess
import sys
import time

from checks import runChecks
from docs import runDocTests
from lit import runLitTests
from results import ROOT, Report, Result
from system import runSystemTests
from unit import runUnitTests


def build(report):
    """Configures and builds build/release, its output shown as it comes; False when that failed."""
    start = time.monotonic()
    status = subprocess.run([os.path.join(ROOT, "scripts", "build.sh"), "release"], check=False).returncode
    if status != 0:
        report.add("build", [Result("build", False, 0, "the build failed: see above")], time.monotonic() - start)
    return status == 0


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/test.sh", description="Builds build/release and runs the tests: checks of the sources, unit, lit, system and documentation tests.")
    parser.add_argument("--only", metavar="PATTERN",
                        help="run the tests whose name matches this regular expression, letter case ignored. Names: Suite.Test of "
                        "GoogleTest, paths under tests/lit, module.Class.method of tests/system, FILE.md:LINE of documentation, "
                        "format, layering, file-length, function-length, gcc, clang-tidy")
    arguments = parser.parse_args()
    report = Report(arguments.only)
    if build(report):
        for kind in (runUnitTests, runLitTests, runDocTests, runSystemTests, runChecks):
            kind(report)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
