"""docs/ir is what TableGen says: scripts/generate-docs.sh --check passes here, and fails after an edit to an op's text."""

import glob
import os
import re
import shutil

from harness import ROOT, SystemTest


class GeneratedDocs(SystemTest):

    def testThePagesAreCurrent(self):
        self.passes(os.path.join(ROOT, "scripts", "generate-docs.sh"), "--check")

    def testAnEditToAnOpIsNoticedAndGenerated(self):
        for name in ("dialects", "passes", "docs/ir", "scripts/generate-docs.sh"):
            source, target = os.path.join(ROOT, name), os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
        path = os.path.join(self.folder, "dialects", "nn", "NnElementwise.td")
        text = self.read("dialects/nn/NnElementwise.td")
        self.assertIn('"Hyperbolic tangent."', text)
        self.write(path, text.replace('"Hyperbolic tangent."', '"The tangent, hyperbolic."'))
        script = os.path.join(self.folder, "scripts", "generate-docs.sh")
        done = self.refuses(1, "docs/ir is not current: run scripts/generate-docs.sh", script, "--check")
        self.assertIn("+_The tangent, hyperbolic._", done.stdout)
        self.passes(script)
        self.passes(script, "--check")

    def testEveryFamilyOfOpsIsOnThePage(self):
        with open(os.path.join(ROOT, "docs", "ir", "nn.md"), encoding="utf-8") as file:
            page = file.read()
        for path in glob.glob(os.path.join(ROOT, "dialects", "nn", "*.td")):
            with open(path, encoding="utf-8") as file:
                classes = re.findall(r"^def (\w+Op) :", file.read(), re.MULTILINE)
            for name in classes:
                self.assertIn(f"(::weft::nn::{name})", page, f"{path}: scripts/generate-docs.sh does not list this file")
