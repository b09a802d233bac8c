"""benchmarks/run.sh step: what it measures without the peer, and that it fails when a bound is missed."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkStep(SystemTest):
    def testADelayedCompilerFailsItsBoundAndTheRestIsMeasured(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "step", "--quick", "--no-peers", "--sabotage", "compile",
                            "--json", "rows.json", timeout=600)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertEqual(set(rows), {"compile_seconds", "weft_tokens_per_second", "weft_peak_mib"})
        self.assertFalse(rows["compile_seconds"]["passed"])
        self.assertGreater(rows["weft_tokens_per_second"]["value"], 0)
        self.assertGreater(rows["weft_peak_mib"]["value"], 0)

    def testAnUnknownSabotageIsRefused(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "step", "--no-peers", "--sabotage", "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("invalid choice: 'nothing'", done.stderr)


if __name__ == "__main__":
    unittest.main()
