"""What every system test stands on: commands run as a user types them, in an empty folder, with the build's programs on
PATH. Started as `harness.py FILE PATTERN` it runs the tests of one file and prints one JSON object a line for each.
"""

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("WEFT_BUILD", os.path.join(ROOT, "build", "release"))
BIN = os.path.join(BUILD, "bin")


class SystemTest(unittest.TestCase):
    """self.folder is empty at the start of each test and gone after it."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weft-system-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def environment(self, **changes):
        path = os.pathsep.join([BIN, os.environ.get("PATH", "")])
        return dict(os.environ, PATH=path, LC_ALL="C.UTF-8", **changes)

    def command(self, *arguments, timeout=120, env=None, cwd=None, stdin=None):
        """Runs a command and returns it finished: returncode, stdout, stderr. A command that hangs fails the test."""
        return subprocess.run([str(argument) for argument in arguments], cwd=cwd or self.folder, input=stdin, text=True,
                              errors="replace", capture_output=True, timeout=timeout, check=False,
                              env=env or self.environment())

    def passes(self, *arguments, **options):
        """The same, for a command that must exit with 0; returns its stdout."""
        done = self.command(*arguments, **options)
        if done.returncode != 0:
            self.fail(f"{' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def refuses(self, status, message, *arguments, **options):
        """For a command that must exit with `status` and say `message` (a part of stderr, word by word)."""
        done = self.command(*arguments, **options)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}\n{done.stderr}")
        self.assertIn(message, done.stderr)
        return done

    def write(self, name, text):
        """Writes a file below self.folder and returns its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def assertPicture(self, name, drawn):
        """docs/images/`name` is what was drawn into self.folder just now. With WEFT_WRITE_PICTURES=1 it is written."""
        path = os.path.join(ROOT, "docs", "images", name)
        if os.environ.get("WEFT_WRITE_PICTURES"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.read(drawn))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.read(drawn), f"{path} is not current: WEFT_WRITE_PICTURES=1 writes it")


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def runOne(test):
    stream = io.StringIO()
    start = time.monotonic()
    result = unittest.TextTestRunner(stream=stream, verbosity=0).run(test)
    # A skipped test counts as failed: a test is there to be run.
    passed = result.wasSuccessful() and not result.skipped
    print(json.dumps({"weft_test": name(test), "passed": passed, "seconds": time.monotonic() - start,
                      "output": "" if passed else stream.getvalue()}), flush=True)
    return passed


def name(test):
    return test.id()


def main(path, pattern):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = os.path.splitext(os.path.basename(path))[0]
    specification = importlib.util.spec_from_file_location(module, path)
    loaded = importlib.util.module_from_spec(specification)
    sys.modules[module] = loaded
    specification.loader.exec_module(loaded)
    wanted = re.compile(pattern, re.IGNORECASE)
    tests = [test for test in flatten(unittest.defaultTestLoader.loadTestsFromModule(loaded)) if wanted.search(name(test))]
    outcomes = [runOne(test) for test in tests]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: harness.py FILE PATTERN")
    sys.exit(main(sys.argv[1], sys.argv[2]))
