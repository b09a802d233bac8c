"""docs/performance.md: its tables and picture are what docs/measured says, and new figures come into it by one command."""

import json
import os
import shutil

from harness import ROOT, SystemTest

SCRIPT = os.path.join(ROOT, "scripts", "performance.py")


class Performance(SystemTest):

    def copyPage(self):
        for name in ("docs/performance.md", "docs/images/performance.svg", "benchmarks/bounds.yaml"):
            os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.folder, name))
        shutil.copytree(os.path.join(ROOT, "docs", "measured"), os.path.join(self.folder, "docs", "measured"))

    def testThePageIsWhatWasMeasured(self):
        self.passes(SCRIPT, "--check")

    def testAFigureThatIsEditedByHandIsNoticed(self):
        self.copyPage()
        page = self.read("docs/performance.md")
        self.assertIn("| weft | ", page)
        self.write("docs/performance.md", page.replace("| weft | ", "| weft | 1", 1))
        self.refuses(1, "not current: docs/performance.md", SCRIPT, "--check", "--root", self.folder)
        self.passes(SCRIPT, "--root", self.folder)
        self.assertEqual(self.read("docs/performance.md"), page)

    def testNewFiguresReplaceThoseOfTheirModelAlone(self):
        self.copyPage()
        before = json.loads(self.read("docs/measured/step.json"))
        rows = [{"name": "llama-10m.weft.seconds", "value": 0.123456, "bound": None, "passed": True},
                {"name": "llama-10m.memory_ratio", "value": 0.75, "bound": 0.5, "passed": False}]
        self.write("rows.json", json.dumps(rows))
        self.passes(SCRIPT, f"step={os.path.join(self.folder, 'rows.json')}", "--root", self.folder)
        after = json.loads(self.read("docs/measured/step.json"))
        self.assertEqual({name: value for name, value in after.items() if before[name] != value},
                         {"llama-10m.weft.seconds": 0.12346, "llama-10m.memory_ratio": 0.75})
        page = self.read("docs/performance.md")
        self.assertIn("| Llama 10.7M, 8 x 256 | weft | 0.123 | ", page)
        self.assertIn("| `step` | llama-10m.memory ratio | 0.75 | at most 0.5 | missed |", page)
        self.refuses(1, "expected NAME=FILE.json with one of step, attention, mesh, compile", SCRIPT, "stp=x", "--root", self.folder)
