"""benchmarks/run.sh attention: what it measures without the peer, and that time and memory which grow too fast are seen."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkAttention(SystemTest):
    def testTwiceTheLengthIsTakenForTimeAndMemoryThatGrowTooFast(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "attention", "--quick", "--no-peers", "--sabotage", "twice",
                            "--json", "rows.json", timeout=600)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertFalse(rows["time_growth"]["passed"])
        self.assertFalse(rows["memory_growth"]["passed"])
        for length in (256, 512, 1024, 2048):
            self.assertGreater(rows[f"weft_milliseconds_{length}"]["value"], 0)


if __name__ == "__main__":
    unittest.main()
