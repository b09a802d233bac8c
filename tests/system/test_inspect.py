"""weft inspect: what an executable holds, from the samples of each version of the format."""

import os

from harness import ROOT, SystemTest

SAMPLES = os.path.join(ROOT, "tests", "data", "executable")


class Inspect(SystemTest):

    def testPrintsTheProgramsOfEveryVersion(self):
        for name in sorted(os.listdir(SAMPLES)):
            printed = self.passes("weft", "inspect", os.path.join(SAMPLES, name))
            self.assertTrue(printed.startswith("executable of weft 0.1.0 for "), name)
            self.assertIn("\nprogram step, ", printed, name)

    def testShowsWhetherThereIsMachineCodeAndWhatRunsIt(self):
        printed = self.passes("weft", "inspect", os.path.join(SAMPLES, "version-4-object.weft"))
        self.assertIn("\nobject x86-64-v3, 2576 bytes, 2 functions\n", printed)
        self.assertIn('symbol = "weft_multiply_add"', printed)
        self.assertNotIn("\nobject ", self.passes("weft", "inspect", os.path.join(SAMPLES, "version-1.weft")))

    def testAnotherFileIsRefusedByName(self):
        path = self.write("run.yaml", "model: {}\n")
        done = self.command("weft", "inspect", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{path}: this is no weft executable", done.stderr)
