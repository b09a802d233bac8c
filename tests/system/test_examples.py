"""The examples that train, shortened: their own run files, on a small corpus."""

import os
import shutil

from harness import ROOT
from training import TrainingTest


class Qwen3(TrainingTest):
    """A tokenizer is learned, a small Qwen3 trained with it, and continued on another mesh from what others can load."""

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(ROOT, "examples", "qwen3", "run.yaml"), os.path.join(self.folder, "qwen3.yaml"))

    def sets(self, *more):
        return ("tokenizer.file=tokenizer.json", "data.train=[{path: corpus.txt}]", "train.steps=6", "lr_schedule.warmup_steps=2",
                "data.validation_fraction=0.1", *more)

    def testItLearnsAndGoesOnElsewhere(self):
        printed = self.passes("weft", "data", "train-tokenizer", "corpus.txt", "-o", "tokenizer.json", "--vocab-size", "300", "--pattern", "qwen2")
        self.assertIn("tokens (", printed)
        self.train("small", *self.sets(), file="qwen3.yaml")
        losses = self.losses("small")
        self.assertLess(losses[-1], losses[0])
        self.passes("weft", "generate", "runs/small", "--tokens", "8")
        self.passes("weft", "ckpt", "export", "runs/small", "-o", "exported")
        printed = self.train("continued", *self.sets("checkpoint.initial_load_path=exported", "parallel={tensor: 2, pipeline: {size: 2}}"),
                             file="qwen3.yaml")
        self.assertIn("starting from:", printed)
        self.assertLess(self.losses("continued")[0], losses[0] - 0.1)
