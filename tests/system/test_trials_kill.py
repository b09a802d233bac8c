"""A few rounds of scripts/trials.d/kill; the long run is `scripts/trials.sh kill --count 150`."""

import os

from harness import ROOT, SystemTest


class Kill(SystemTest):

    def trials(self, *options):
        return self.command(os.path.join(ROOT, "scripts", "trials.d", "kill"), *options, timeout=300)

    def testEveryRestartEndsInTheSameBits(self):
        done = self.trials("--count", "4", "--seed", "1")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("2 of them were killed inside a save\n4 passed, 0 failed\n"), done.stdout)

    def testADamagedCheckpointMakesItFail(self):
        done = self.trials("--count", "1", "--seed", "1", "--sabotage", "flip")
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("0 passed, 1 failed\n", done.stdout)
