"""benchmarks/run.sh step: what it measures without the peers, that it fails when a bound is missed, and that its peers train the same."""

import json
import os
import sys
import unittest
from unittest import mock

from harness import BUILD, ROOT, SystemTest

sys.path.insert(0, os.path.join(ROOT, "benchmarks", "support"))
with mock.patch.dict(os.environ, WEFT_ROOT=ROOT, WEFT_BUILD=BUILD):
    import training

LLAMA = """model: {family: llama, hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4, intermediate_size: 96,
        vocab_size: 300, max_position_embeddings: 32}
"""
GPT2 = """model: {family: gpt2, n_embd: 64, n_layer: 2, n_head: 4, n_positions: 48, vocab_size: 300, activation_function: gelu_new,
        embd_pdrop: 0.0, resid_pdrop: 0.0, attn_pdrop: 0.0}
"""
REST = """data: {train: [{path: tokens}], sequence_length: 32, validation_fraction: 0}
optimizer: {kind: adamw, lr: 3.0e-3, betas: [0.9, 0.95], epsilon: 1.0e-8, weight_decay: 0.1, clip_grad_norm: 1.0}
lr_schedule: {kind: cosine, warmup_steps: 5, min_lr_ratio: 0.1}
train: {steps: 20, micro_batch: 4, global_batch: 4, seed: 1}
launch: {threads: 2}
checkpoint: {interval: 0, keep_latest: 1}
"""
TOLERANCES = {"fp32": 1e-4, "bf16": 5.7 / 256}
PEERS = {"eager": ("train_torch.py", ("eager", "{}", "2")), "compiled": ("train_torch.py", ("compiled", "{}", "2")),
         "jax": ("train_jax.py", ("{}",))}


class BenchmarkStep(SystemTest):
    def testADelayedCompilerFailsItsBoundAndTheRestIsMeasured(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "step", "--quick", "--no-peers", "--model", "llama-10m",
                            "--sabotage", "compile", "--json", "rows.json", timeout=600)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertFalse(rows["llama-10m.compile_seconds"]["passed"])
        for figure in ("seconds", "tokens_per_second", "peak_share", "peak_mib", "planned_mib", "whole_peak_mib"):
            self.assertGreater(rows[f"llama-10m.weft.{figure}"]["value"], 0)
        shares = {name: row["value"] for name, row in rows.items() if ".share_of_" in name}
        self.assertAlmostEqual(sum(shares.values()), 1.0)
        self.assertGreater(shares["llama-10m.weft.share_of_products"], 0.2)
        self.assertGreater(rows["llama-10m.machine.fp32_gflops"]["value"], 0)
        self.assertFalse([name for name in rows if name.startswith(("llama-58m", "gpt2")) or "ratio" in name], "of others, or of peers")

    def testAnUnknownSabotageIsRefused(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "step", "--no-peers", "--sabotage", "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("invalid choice: 'nothing'", done.stderr)


class Peers(SystemTest):
    """The losses of every peer, in both precisions, are weft's: the benchmark compares the same computation."""

    def train(self, model, peers, tolerances=TOLERANCES):
        """Each of `peers` in its precisions; in bfloat16 a rounding of the first loss is allowed."""
        path = os.path.join(self.folder, "run")
        training.prepare(path, self.write("run.yaml", model + REST))
        with mock.patch.dict(os.environ, self.environment(), OMP_NUM_THREADS="2"):
            training.compileSeconds(path)
            training.exportRun(path, None)
            for precision, tolerance in tolerances.items():
                ours = training.trainWeft(path, [f"precision.recipe={precision}"])
                self.assertLess(ours.losses[19], ours.losses[0] - 0.1)
                for name in [name for name, precisions in peers.items() if precision in precisions]:
                    script, arguments = PEERS[name]
                    theirs = training.trainPeer(script, path, 20, *(argument.format(precision) for argument in arguments))
                    self.assertEqual(len(theirs.losses), 20)
                    self.assertLess(training.lossDifference(ours, theirs, 20), tolerance, f"{name} {precision}")
                    self.assertEqual(theirs.compileSeconds is None, name == "eager")
                    self.assertGreater(theirs.peak, 0)

    def testLlama(self):
        self.train(LLAMA, {"eager": ("fp32", "bf16"), "compiled": ("fp32",), "jax": ("fp32", "bf16")})

    def testGpt2(self):
        self.train(GPT2, {"eager": ("fp32", "bf16"), "jax": ("fp32", "bf16")})

    def testAnotherWeightIsSeen(self):
        path = os.path.join(self.folder, "run")
        training.prepare(path, self.write("run.yaml", GPT2 + REST))
        with mock.patch.dict(os.environ, self.environment()):
            training.compileSeconds(path)
            training.exportRun(path, "weights")
            self.assertGreater(training.lossDifference(training.trainWeft(path), training.trainPeer("train_jax.py", path, 20, "fp32"), 20), 1e-3)


if __name__ == "__main__":
    unittest.main()
