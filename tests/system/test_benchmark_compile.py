"""benchmarks/run.sh compile: what it measures without the peer, and that time which grows with the ranks is seen."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkCompile(SystemTest):
    def testMoreLayersOnMoreRanksAreTakenForTimeThatGrowsWithTheRanks(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "compile", "--quick", "--no-peers", "--sabotage", "ranks",
                            "--json", "rows.json", timeout=900)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertFalse(rows["ranks_ratio"]["passed"])
        self.assertTrue(rows["peak_mib"]["passed"], rows)
        self.assertTrue(rows["pipeline_peak_mib"]["passed"], rows)
        self.assertTrue(rows["pipeline_ranks_ratio"]["value"] > 0 and rows["stages_ratio"]["value"] > 0, rows)
        self.assertGreater(rows["processor_seconds"]["value"], 0)
        self.assertTrue(rows["llama3_8b_seconds"]["passed"], rows)
        self.assertIn("differentiate", done.stdout)


if __name__ == "__main__":
    unittest.main()
