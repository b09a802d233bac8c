"""benchmarks/run.sh mesh: what it measures without the peer, and that ranks that sleep are seen."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkMesh(SystemTest):
    def testRunsThatAreStoppedHalfOfTheTimeFallBehindOneDevice(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "mesh", "--quick", "--no-peers", "--sabotage", "sleep",
                            "--json", "rows.json", timeout=900)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        for mesh in ("data4", "tensor4", "data2_tensor2", "pipeline4"):
            self.assertFalse(rows[f"{mesh}_ratio"]["passed"], mesh)
            self.assertGreater(rows[f"{mesh}_peak_mib"]["value"], 0)
        self.assertTrue(rows["one_device_loss_difference"]["passed"], rows)


if __name__ == "__main__":
    unittest.main()
