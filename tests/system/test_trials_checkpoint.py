"""A few rounds of scripts/trials.d/checkpoint; the long run is `scripts/trials.sh checkpoint --count 200`."""

import os

from harness import ROOT, SystemTest


class Checkpoint(SystemTest):

    def trials(self, *options):
        return self.command(os.path.join(ROOT, "scripts", "trials.d", "checkpoint"), *options, timeout=600)

    def testWhatWasSavedComesBackOnAnyMeshAndAfterAnyKill(self):
        done = self.trials("--count", "3", "--seed", "1")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^[23] of 3 kills cut off a save$")
        self.assertTrue(done.stdout.endswith("6 passed, 0 failed\n"), done.stdout)

    def testACopyThatIsMadeTooLateMakesItFail(self):
        done = self.trials("--count", "1", "--seed", "1", "--sabotage", "late_snapshot")
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("does not have the bytes of its own step", done.stdout)

    def testAFileThatIsNotSyncedMakesItFail(self):
        done = self.trials("--count", "3", "--seed", "1", "--sabotage", "skip_fsync")
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertRegex(done.stdout, r"checkpoints/step-\d+: broken: \d+ problem")

    def testAnElementThatChangesMakesItFail(self):
        done = self.trials("--count", "2", "--seed", "1", "--sabotage", "element")
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("1 elements differ", done.stdout)
