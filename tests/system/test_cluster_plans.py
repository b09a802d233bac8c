"""A plan for a cluster, compiled on this machine: examples/cluster/llama3-70b.yaml for its 4,096 ranks, without its data; and
its small twin, every axis at 2, which runs here and is held against the reference and one device."""

import os
import re
import unittest

from harness import ROOT
from training import TrainingTest

PLAN = os.path.join(ROOT, "examples", "cluster", "llama3-70b.yaml")

#: Parameters of Llama-3-70B: embedding and head, 80 layers, the last norm.
HIDDEN, INNER, LAYERS, HEAD, GROUPS, VOCABULARY = 8192, 28672, 80, 128, 8, 128256
LAYER = 2 * HIDDEN * HIDDEN + 2 * GROUPS * HEAD * HIDDEN + 3 * INNER * HIDDEN + 2 * HIDDEN
PARAMETERS = 2 * VOCABULARY * HIDDEN + LAYERS * LAYER + HIDDEN

#: The plan at a size that runs here.
TWIN = ("model.hidden_size=16", "model.intermediate_size=24", "model.num_hidden_layers=2", "model.num_attention_heads=4",
        "model.num_key_value_heads=2", "model.vocab_size=264", "model.max_position_embeddings=32", "data.sequence_length=8",
        "train.steps=6", "train.micro_batch=1", "train.global_batch=4", "precision.recipe=fp32", "optimizer.lr=1.0e-2",
        "lr_schedule.warmup_steps=2", "checkpoint.interval=0")
MESH = "parallel={data_shard: 2, tensor: 2, sequence: true, zero: 3}"
ONE = "parallel={data_shard: 1, tensor: 1, sequence: false, zero: 0}"


def sets(*overrides):
    return [word for one in overrides for word in ("--set", one)]


class Cluster(TrainingTest):
    def compile(self, *arguments, **options):
        return self.passes("weft", "compile", PLAN, *arguments, timeout=600, **options)

    def testItsMemoryAndTrafficAreKnownWithoutItsDataOrItsRanks(self):
        output = self.compile("--explain", "memory", "--explain", "communication", "--verify-ranks", "20")
        self.assertFalse(os.path.exists(os.path.join(ROOT, "examples", "cluster", "corpus")))
        persistent = re.search(r"persistent: (\d+) bytes on each of 4096 ranks, .* = (\d+) of the whole \+ (\d+) of further copies", output)
        self.assertIsNotNone(persistent, output)
        # A float32 parameter and two moments, the optimizer's counter of 8 bytes.
        self.assertEqual(PARAMETERS, 70_553_706_496)
        self.assertEqual(int(persistent[2]), 12 * PARAMETERS + 8)
        self.assertLess(int(persistent[1]), 1.01 * 12 * PARAMETERS / 4096)
        self.assertIn("bytes sent by each of 4096 ranks", output)
        self.assertIn("command lists of 20 of 4096 ranks agree", output)

    def testAnExecutableForAllItsRanksIsWritten(self):
        self.compile("-o", "plan.weft")
        self.assertLess(os.path.getsize(os.path.join(self.folder, "plan.weft")), 64 << 20)

    def testMoreRanksAreVerifiedWhereTheyAreAskedFor(self):
        output = self.compile("--verify-ranks", "64", *sets("model.num_hidden_layers=1"))
        self.assertIn("command lists of 64 of 4096 ranks agree", output)

    def testARankThatHasTooLittleIsTold(self):
        done = self.refuses(8, "the limit is 1024.0 MiB (launch.memory_per_rank)", "weft", "compile", PLAN,
                            *sets("launch.memory_per_rank=1GiB", "model.num_hidden_layers=2"))
        self.assertIn("What saves most:", done.stderr)

    def testTheMemoryOfThisMachineLimitsWhatCouldRunOnIt(self):
        small = sets("model.num_hidden_layers=1", "parallel.data_shard=8", "train.global_batch=8")
        done = self.refuses(8, "(launch.memory_limit over 64 ranks)", "weft", "compile", PLAN, *small, *sets("launch.memory_limit=4GiB"))
        self.assertIn("launch.memory_per_rank says what each has there", done.stderr)
        self.compile(*small, *sets("launch.memory_per_rank=80GiB", "launch.memory_limit=4GiB"))


class Twin(TrainingTest):
    def trainTwin(self, name, parallel):
        done = self.passes("weft", "train", PLAN, "--name", name, *sets(*TWIN, f"data.train=[{{path: {self.folder}/corpus.txt}}]", parallel))
        return done, self.losses(name)

    def testItsCurveIsThatOfOneDevice(self):
        _, one = self.trainTwin("one", ONE)
        _, mesh = self.trainTwin("mesh", MESH)
        self.assertEqual(len(one), 6)
        for step, (expected, actual) in enumerate(zip(one, mesh), 1):
            self.assertAlmostEqual(1, actual / expected, delta=1e-5, msg=f"step {step}: {expected} and {actual}")

    def testEveryPhaseKeepsWhatTheReferenceComputes(self):
        output = self.passes("weft-run", PLAN, "--check-phases", *sets(*TWIN, MESH), timeout=600)
        self.assertIn("no phase changed a value", output)
        self.assertRegex(output, r"(?m)^executable +step ")

    def testAllItsCommandListsAgree(self):
        output = self.passes("weft", "compile", PLAN, "--verify-ranks", "20", *sets(*TWIN, MESH))
        self.assertIn("command lists of 4 of 4 ranks agree", output)


if __name__ == "__main__":
    unittest.main()
