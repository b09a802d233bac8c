"""A few rounds of scripts/trials.d/ranks; the long run is `scripts/trials.sh ranks --count 60`."""

import os

from harness import ROOT, SystemTest


class Ranks(SystemTest):

    def trials(self, *options):
        return self.command(os.path.join(ROOT, "scripts", "trials.d", "ranks"), *options, timeout=600)

    def testSurvivorsNameTheLostRankAndTheRunGoesOn(self):
        done = self.trials("--count", "4", "--seed", "1")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        for backend in ("local", "mpi"):
            for kind in ("die", "freeze"):
                self.assertIn(f"  {backend}  {kind}", done.stdout)
        self.assertIn("  mpi  freeze  in a message\n", done.stdout)
        self.assertTrue(done.stdout.endswith("4 passed, 0 failed\n"), done.stdout)

    def testADamagedCheckpointMakesItFail(self):
        done = self.trials("--count", "1", "--seed", "1", "--sabotage", "flip")
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("0 passed, 1 failed\n", done.stdout)

    def testAReportOfAnotherRankMakesItFail(self):
        done = self.trials("--count", "2", "--seed", "1", "--sabotage", "wrong")
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("did not report that rank", done.stdout)
        self.assertIn("0 passed, 2 failed\n", done.stdout)
