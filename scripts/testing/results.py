"""What the test runner knows about finished tests: one Result for each, grouped by kind, and the closing line."""

import dataclasses
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "release")
SOURCE_SUFFIXES = (".cpp", ".h", ".cu", ".cuh")
LONGEST_OUTPUT = 6000


@dataclasses.dataclass
class Result:
    name: str
    passed: bool
    seconds: float = 0.0
    output: str = ""


class Report:
    """Collects results and prints them kind by kind as they come."""

    def __init__(self, pattern):
        self.pattern = re.compile(pattern or "", re.IGNORECASE)
        self.selective = bool(pattern)
        self.passed = 0
        self.failures = []

    def wants(self, name):
        return self.pattern.search(name) is not None

    def add(self, kind, results, seconds):
        """Counts the results of one kind; a kind without a selected test says nothing."""
        if not results:
            return
        failed = [result for result in results if not result.passed]
        self.passed += len(results) - len(failed)
        self.failures += [(kind, result) for result in failed]
        print(f"{kind}: {len(results) - len(failed)} passed, {len(failed)} failed ({seconds:.1f} s)", flush=True)
        for result in failed:
            print(f"  FAILED {kind}: {result.name}\n{indent(result.output)}", flush=True)

    def close(self):
        """Prints the closing line; returns the exit status."""
        if self.failures:
            print("failed tests:")
            for kind, result in self.failures:
                print(f"  {kind}: {result.name}")
        total = self.passed + len(self.failures)
        if total == 0:
            print(f"no test matches {self.pattern.pattern!r}", file=sys.stderr)
        print(f"{self.passed} passed, {len(self.failures)} failed", flush=True)
        return 1 if self.failures or total == 0 else 0


def indent(text):
    text = text.rstrip()
    if len(text) > LONGEST_OUTPUT:
        half = LONGEST_OUTPUT // 2
        text = text[:half] + "\n[...]\n" + text[-half:]
    return "\n".join("    " + line for line in text.splitlines())


def run(command, timeout=None, **options):
    """Runs a command in the checkout; returns (exit status, stdout and stderr together, seconds).

    A command that outlives its timeout has the status 124.
    """
    start = time.monotonic()
    options.setdefault("cwd", ROOT)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=timeout, check=False, **options)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or ""
        if isinstance(output, bytes):
            output = output.decode(errors="replace")
        status, output = 124, output + f"\nstopped after {timeout} s"
    return status, output, time.monotonic() - start


def sourceFiles(suffixes):
    """The checkout's files with one of the suffixes: tracked, or new and not ignored. Relative paths, sorted."""
    _, output, _ = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    names = {name for name in output.split("\0") if name.endswith(suffixes)}
    return sorted(name for name in names if os.path.isfile(os.path.join(ROOT, name)))
