"""benchmarks/run.sh data: what it measures, and that preparing slowly is seen."""

import json
import os

from harness import ROOT, SystemTest


class BenchmarkData(SystemTest):
    def testPreparingThatIsTooSlowIsSeen(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "data", "--quick", "--sabotage", "slow", "--json", "rows.json", timeout=900)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        (row,) = json.loads(self.read("rows.json"))
        self.assertEqual((row["name"], row["passed"]), ("prepare_ratio", False))
        self.assertGreater(row["value"], 0)
