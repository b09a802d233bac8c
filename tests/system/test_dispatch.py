"""trials.sh and benchmarks/run.sh: what they start, and that a program cannot pass by lying or by leaving figures out."""

import contextlib
import io
import json
import os
import sys

from harness import ROOT, SystemTest

sys.path.insert(0, os.path.join(ROOT, "scripts", "testing"))
import benchmarks
import trials


class DispatchTest(SystemTest):

    def register(self, name, body):
        os.chmod(self.write(os.path.join("registry", name), "#!/bin/bash\n" + body), 0o755)

    def start(self, main, *arguments, **options):
        """(exit status, printed text)"""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                status = main(list(arguments), os.path.join(self.folder, "registry"), **options)
            except SystemExit as exit:
                status = exit.code
        return status, printed.getvalue()


class Trials(DispatchTest):

    def testOptionsReachTheTrialAndItsClosingLineCounts(self):
        self.register("kill", 'echo "$@"; echo 3 passed, 0 failed\n')
        path = os.path.join(self.folder, "rows.json")
        status, printed = self.start(trials.main, "kill", "--count", "3", "--seed", "7", "--minutes", "2", "--json", path)
        self.assertEqual(status, 0)
        self.assertEqual(printed, "trials kill: count 3, seed 7\n--count 3 --seed 7 --minutes 2.0\n3 passed, 0 failed\n")
        self.assertEqual(json.loads(self.read("rows.json"))[1], {"name": "kill.failed", "value": 0, "bound": 0, "passed": True})

    def testAFailedTrialFails(self):
        self.register("kill", "echo 2 passed, 1 failed; exit 1\n")
        self.assertEqual(self.start(trials.main, "kill")[0], 1)

    def testAStatusThatDoesNotFitTheLineFails(self):
        for body in ("echo 2 passed, 1 failed\n", "echo 2 passed, 0 failed; exit 1\n", "echo done\n"):
            self.register("kill", body)
            status, printed = self.start(trials.main, "kill")
            self.assertEqual(status, 1, body)
            self.assertIn("which do not fit", printed)

    def testNoTrialAtAllFails(self):
        self.register("kill", "echo 0 passed, 0 failed\n")
        self.assertEqual(self.start(trials.main, "kill")[0], 1)

    def testAnUnknownNameIsRefusedWithTheKnownOnes(self):
        self.register("kill", "true\n")
        status, printed = self.start(trials.main, "kil")
        self.assertEqual(status, 2)
        self.assertIn("invalid choice: 'kil' (choose from 'kill')", printed)


class Benchmarks(DispatchTest):

    def measure(self, rows, *arguments):
        self.register("step", f"cat >\"$2\" <<'END'\n{json.dumps(rows)}\nEND\n")
        bounds = self.write("bounds.yaml", "step:\n  speed: {at_least: 0.9, peer: true}\n  seconds: {at_most: 2}\n")
        return self.start(benchmarks.main, "step", *arguments, boundsFile=bounds)

    def testFiguresWithinTheirBoundsPass(self):
        status, printed = self.measure([{"name": "speed", "value": 1.0}, {"name": "seconds", "value": 2.0}])
        self.assertEqual(status, 0)
        self.assertIn("2 passed, 0 failed", printed)

    def testAFigureBeyondItsBoundFails(self):
        status, printed = self.measure([{"name": "speed", "value": 0.89}, {"name": "seconds", "value": 1}])
        self.assertEqual(status, 1)
        self.assertIn("speed            0.89  at least 0.9      FAILED", printed)

    def testABoundThatWasNotMeasuredFails(self):
        status, printed = self.measure([{"name": "speed", "value": 1.0}])
        self.assertEqual(status, 1)
        self.assertIn("not measured", printed)

    def testWithoutPeersTheirRatiosAreLeftOut(self):
        self.assertEqual(self.measure([{"name": "seconds", "value": 1}], "--no-peers")[0], 0)

    def testOfSeveralModelsOnlyThoseAskedForHaveToBeMeasured(self):
        self.register("step", f"echo \"$@\"; echo '{json.dumps([{'name': 'small.speed', 'value': 1.0}])}' >\"$2\"\n")
        bounds = self.write("bounds.yaml", "step:\n  small.speed: {at_least: 0.9}\n  large.speed: {at_least: 0.9}\n")
        status, printed = self.start(benchmarks.main, "step", "--model", "small", boundsFile=bounds)
        self.assertEqual(status, 0, printed)
        self.assertIn(" --model small", printed)
        self.assertEqual(self.start(benchmarks.main, "step", boundsFile=bounds)[0], 1)
        self.assertEqual(self.start(benchmarks.main, "step", "--model", "large", boundsFile=bounds)[0], 1)

    def testWhatNotEveryMachineHasIsHeldWhereItWasMeasured(self):
        bounds = self.write("bounds.yaml", "step:\n  seconds: {at_most: 2}\n  bf16: {at_least: 1.3, if_measured: true}\n")
        for rows, expected in (({"seconds": 1}, 0), ({"seconds": 1, "bf16": 1.4}, 0), ({"seconds": 1, "bf16": 1.2}, 1)):
            self.register("step", f"echo '{json.dumps([{'name': name, 'value': value} for name, value in rows.items()])}' >\"$2\"\n")
            self.assertEqual(self.start(benchmarks.main, "step", boundsFile=bounds)[0], expected, rows)

    def testABenchmarkThatBreaksFails(self):
        self.register("step", "exit 3\n")
        self.assertEqual(self.start(benchmarks.main, "step", boundsFile=self.write("bounds.yaml", ""))[0], 1)
