"""scripts/fresh-machine.sh: what it refuses before it makes anything. The whole of it runs outside the tests: it installs a system."""

import os

from harness import ROOT, SystemTest

SCRIPT = os.path.join(ROOT, "scripts", "fresh-machine.sh")


class FreshMachine(SystemTest):

    def testAFolderWithSomethingInItIsRefusedAndLeftAlone(self):
        self.write("full/precious", "x")
        folder = os.path.join(self.folder, "full")
        self.refuses(1, f"fresh-machine: error: {folder} is not empty", SCRIPT, "--folder", folder)
        self.assertEqual(self.read("full/precious"), "x")

    def testAnUnknownOptionIsRefusedWithTheKnownOnes(self):
        self.refuses(1, "fresh-machine: error: unknown option --kep (--folder FOLDER, --keep)", SCRIPT, "--kep")

    def testHelpSaysWhatItDoes(self):
        self.assertIn("Proves that a stranger's machine is enough", self.passes(SCRIPT, "--help"))
