"""The examples that train, shortened: scripts/example-curves.sh with few steps, on a small corpus."""

import json
import os
import random

from harness import ROOT
from training import WORDS, TrainingTest


class Examples(TrainingTest):

    def setUp(self):
        super().setUp()
        words = random.Random(1)
        self.write("corpus.txt", " ".join(words.choice(WORDS) for _ in range(100000)))

    def curves(self, *words):
        """What the script prints; the pictures and the runs are in self.folder."""
        return self.passes(os.path.join(ROOT, "scripts", "example-curves.sh"), *words, "--corpus",
                           os.path.join(self.folder, "corpus.txt"), "--output", self.folder)

    def assertCurves(self, name, *runs):
        """The picture has the name and the curve of each run, and the documentation shows one of this name."""
        drawn, shown = self.read(f"loss_{name}.svg"), self.shown(name)
        for run in runs:
            self.assertIn(f">{run}", drawn)
            self.assertIn(f">{run}", shown)
        self.assertGreaterEqual(drawn.count("<polyline") + drawn.count("<path"), len(runs))

    def shown(self, name):
        path = os.path.join("docs", "images", f"loss_{name}.svg")
        with open(os.path.join(ROOT, "docs", "examples.md"), encoding="utf-8") as page:
            self.assertIn(f"](images/loss_{name}.svg)", page.read())
        self.assertLess(os.path.getsize(os.path.join(ROOT, path)), 64 * 1024)
        with open(os.path.join(ROOT, path), encoding="utf-8") as picture:
            return picture.read()

    def testQwen3LearnsAndGoesOnElsewhere(self):
        """A tokenizer is learned, a small Qwen3 trained with it, and continued on another mesh from what others can load."""
        printed = self.curves("qwen3", "--steps", "6")
        self.assertIn("tokens (", printed)
        self.assertIn("starting from:", printed)
        losses, continued = self.losses("qwen3"), self.losses("continued")
        self.assertLess(losses[-1], losses[0])
        self.assertLess(continued[0], losses[0] - 0.1)
        with open(os.path.join(self.folder, "exported", "config.json"), encoding="utf-8") as config:
            self.assertEqual(json.load(config)["model_type"], "qwen3")
        self.passes("weft", "generate", "runs/qwen3", "--tokens", "8")
        self.assertCurves("qwen3", "qwen3", "continued")

    def testTheQuickstart(self):
        self.curves("quickstart", "--steps", "3")
        losses = self.losses("quickstart")
        self.assertLess(losses[-1], losses[0])
        self.assertCurves("quickstart", "quickstart")

    def testAProgramWrittenByHand(self):
        self.curves("program", "--steps", "20")
        losses = self.losses("bigram")
        self.assertLess(losses[-1], losses[0] - 0.3)
        self.assertCurves("program", "bigram")

    def testWhatTheScriptDoesNotKnow(self):
        script = os.path.join(ROOT, "scripts", "example-curves.sh")
        self.refuses(2, "example-curves: no option or example qwen4", script, "qwen4")
        self.refuses(2, "example-curves: --steps needs a value", script, "--steps")
        self.refuses(2, "example-curves: no corpus none.txt: scripts/setup.sh makes it", script, "--corpus", "none.txt")
