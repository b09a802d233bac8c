"""benchmarks/run.sh checkpoint: what it measures without the peer, and that a save that sleeps is seen."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkCheckpoint(SystemTest):
    def testASaveThatIsStoppedHalfOfTheTimeFallsBehindTheDisk(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "checkpoint", "--quick", "--no-peers", "--sabotage", "sleep",
                            "--json", "rows.json", timeout=900)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertFalse(rows["save_ratio"]["passed"])
        self.assertGreater(rows["load_gb_per_second"]["value"], 0)


if __name__ == "__main__":
    unittest.main()
