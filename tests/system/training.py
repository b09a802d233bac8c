"""A model so small that it trains in a second, and the questions that tests of training ask about its run."""

import hashlib
import json
import os
import random

from harness import SystemTest

#: What a line of metrics says of the machine and the moment, not of the run.
CLOCKS = {"time", "tokens_per_second", "mfu", "data_wait", "memory_bytes", "resident_bytes", "save_seconds", "save_wait_seconds"}

WORDS = "the cat sat on a mat and dog ran over".split()

RUN = """\
model:       {family: llama, hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 2, num_key_value_heads: 1,
              intermediate_size: 64, vocab_size: 257, max_position_embeddings: 32}
tokenizer:   {kind: bytes}
data:        {train: [{path: corpus.txt}], validation_fraction: 0.05, sequence_length: 32}
optimizer:   {kind: adamw, lr: 1.0e-2, weight_decay: 0.1, clip_grad_norm: 1.0}
lr_schedule: {kind: cosine, warmup_steps: 2, min_lr_ratio: 0.1}
train:       {steps: 12, micro_batch: 4, global_batch: 8, seed: 1}
checkpoint:  {interval: 4, keep_latest: 3}
eval:        {interval: 6, batches: 2}
"""


class TrainingTest(SystemTest):
    """self.folder holds run.yaml and its corpus of 12,000 random words."""

    def setUp(self):
        super().setUp()
        self.write("run.yaml", RUN)
        words = random.Random(1)
        self.write("corpus.txt", " ".join(words.choice(WORDS) for _ in range(12000)))

    def train(self, name, *sets, file="run.yaml", **options):
        """Trains and returns what was printed."""
        return self.passes(*self.training(name, *sets, file=file), **options)

    def training(self, name, *sets, file="run.yaml"):
        return ["weft", "train", file, "--name", name] + [word for one in sets for word in ("--set", one)]

    def metrics(self, name):
        return [json.loads(line) for line in self.read(f"runs/{name}/metrics.jsonl").splitlines()]

    def numbers(self, name):
        """Every line of the metrics without its clocks: losses, norms, learning rates and counts, to the last bit."""
        return [{key: value for key, value in line.items() if key not in CLOCKS} for line in self.metrics(name)]

    def assertSameRun(self, expected, actual):
        """The same numbers, and the same bits in the checkpoints."""
        self.assertEqual(self.numbers(expected), self.numbers(actual))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", f"runs/{expected}", f"runs/{actual}"))

    def checkpoints(self, name):
        return sorted(os.listdir(os.path.join(self.folder, "runs", name, "checkpoints")))

    def stateBytes(self, name, step):
        """Every byte of a checkpoint's tensors."""
        path = os.path.join(self.folder, "runs", name, "checkpoints", f"step-{step}", "rank-00000.safetensors")
        with open(path, "rb") as file:
            return file.read()

    def tensorFiles(self, name, step):
        """The checksum of each tensor file of a checkpoint."""
        folder = os.path.join(self.folder, "runs", name, "checkpoints", f"step-{step}")
        checksums = {}
        for file in sorted(os.listdir(folder)):
            if file.endswith(".safetensors"):
                with open(os.path.join(folder, file), "rb") as stream:
                    checksums[file] = hashlib.sha256(stream.read()).hexdigest()
        return checksums

    def losses(self, name):
        return [record["loss"] for record in self.metrics(name)]
