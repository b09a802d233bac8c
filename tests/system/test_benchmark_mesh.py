"""benchmarks/run.sh mesh: what it measures without the peer, and that a rank that sleeps is seen."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkMesh(SystemTest):
    def testARunThatIsStoppedHalfOfTheTimeFallsBehindOneDevice(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "mesh", "--quick", "--no-peers", "--sabotage", "sleep",
                            "--json", "rows.json", timeout=900)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertFalse(rows["one_device_ratio"]["passed"])
        self.assertTrue(rows["one_device_loss_difference"]["passed"], rows)
        self.assertGreater(rows["weft_peak_mib"]["value"], 0)


if __name__ == "__main__":
    unittest.main()
