"""Plans for a cluster, compiled on this machine: examples/cluster/llama3-70b.yaml for its 4,096 ranks and, with a pipeline,
llama3.1-405b.yaml for its 16,384, without their data; and their small twins, every axis at 2, which run here and are held
against the reference and one device."""

import os
import re
import unittest

from harness import ROOT
from training import TrainingTest

PLAN = os.path.join(ROOT, "examples", "cluster", "llama3-70b.yaml")
PIPELINE = os.path.join(ROOT, "examples", "cluster", "llama3.1-405b.yaml")


def parametersOf(hidden, inner, layers, head=128, groups=8, vocabulary=128256):
    """Of a Llama: embedding and head, layers, the last norm."""
    layer = 2 * hidden * hidden + 2 * groups * head * hidden + 3 * inner * hidden + 2 * hidden
    return 2 * vocabulary * hidden + layers * layer + hidden


PARAMETERS = parametersOf(8192, 28672, 80)
PIPELINE_PARAMETERS = parametersOf(16384, 53248, 126)

#: The plans at a size that runs here.
TWIN = ("model.hidden_size=16", "model.intermediate_size=24", "model.num_hidden_layers=2", "model.num_attention_heads=4",
        "model.num_key_value_heads=2", "model.vocab_size=264", "model.max_position_embeddings=32", "data.sequence_length=8",
        "train.steps=6", "train.micro_batch=1", "train.global_batch=4", "precision.recipe=fp32", "optimizer.lr=1.0e-2",
        "lr_schedule.warmup_steps=2", "checkpoint.interval=0")
MESH = "parallel={data_shard: 2, tensor: 2, sequence: true, zero: 3}"
ONE = "parallel={data_shard: 1, tensor: 1, sequence: false, zero: 0, pipeline: {size: 1, layout: auto}}"
#: Two stages a rank, of two microbatches: one has the embedding, the last the head, each of the others a layer.
PIPELINE_MESH = "parallel={data_shard: 2, tensor: 2, sequence: true, zero: 1, pipeline: {size: 2, schedule: interleaved, layout: 4}}"


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


class PipelineCluster(TrainingTest):
    def testItIsCompiledAndVerifiedForAllItsRanksInLittleMemory(self):
        output = self.passes("weft", "compile", PIPELINE, "--verify-ranks", "20", "--explain", "memory", "--explain", "compilation",
                             "-o", "plan.weft", timeout=900)
        # As many as where nobody asks, and whole pipelines, so that every message meets its receiver: two of 16 ranks.
        self.assertIn("command lists of 32 of 16384 ranks agree", output)
        peak = float(re.search(r"(?m)^  in all .* ([\d.]+)$", output)[1])
        self.assertLess(peak, 4096)
        self.assertLess(os.path.getsize(os.path.join(self.folder, "plan.weft")), 64 << 20)
        self.assertEqual(len(re.findall(r"(?m)^  pipeline rank \d+ \(stages (?:\d+, ){7}\d+\)", output)), 16)
        whole = re.search(r"persistent: all 16384 ranks together hold \d+ = (\d+) of the whole", output)
        self.assertIsNotNone(whole, output)
        self.assertEqual(PIPELINE_PARAMETERS, 405_853_388_800)
        self.assertEqual(int(whole[1]), 12 * PIPELINE_PARAMETERS + 8)

    def testScalarsOfAllStagesCrossThePipelineTogether(self):
        output = self.passes("weft", "compile", PIPELINE, "--explain", "communication", timeout=900,
                             *sets("model.num_hidden_layers=14", "parallel.pipeline.layout=16", "parallel.pipeline.schedule=1f1b"))
        # What each parameter gives to the norm, and the sum of the losses.
        self.assertEqual(set(re.findall(r"(?m)^  update.exchange +all_reduce .* (\d+) calls", output)), {"2"})


class TwinTest(TrainingTest):
    """A small one of `plan` on `mesh`."""

    plan = mesh = None

    def trainTwin(self, name, parallel):
        done = self.passes("weft", "train", self.plan, "--name", name, *sets(*TWIN, f"data.train=[{{path: {self.folder}/corpus.txt}}]", parallel))
        return done, self.losses(name)

    def checkCurve(self):
        _, one = self.trainTwin("one", ONE)
        _, mesh = self.trainTwin("mesh", self.mesh)
        self.assertEqual(len(one), 6)
        for step, (expected, actual) in enumerate(zip(one, mesh), 1):
            self.assertAlmostEqual(1, actual / expected, delta=1e-5, msg=f"step {step}: {expected} and {actual}")

    def checkPhases(self):
        output = self.passes("weft-run", self.plan, "--check-phases", *sets(*TWIN, self.mesh), timeout=600)
        self.assertIn("no phase changed a value", output)
        self.assertRegex(output, r"(?m)^executable +step ")

    def checkCommandLists(self, ranks):
        output = self.passes("weft", "compile", self.plan, "--verify-ranks", "20", *sets(*TWIN, self.mesh))
        self.assertIn(f"command lists of {ranks} of {ranks} ranks agree", output)


class Twin(TwinTest):
    plan, mesh = PLAN, MESH

    def testItsCurveIsThatOfOneDevice(self):
        self.checkCurve()

    def testEveryPhaseKeepsWhatTheReferenceComputes(self):
        self.checkPhases()

    def testAllItsCommandListsAgree(self):
        self.checkCommandLists(4)


class PipelineTwin(TwinTest):
    plan, mesh = PIPELINE, PIPELINE_MESH

    def testItsCurveIsThatOfOneDevice(self):
        self.checkCurve()

    def testEveryPhaseKeepsWhatTheReferenceComputes(self):
        self.checkPhases()

    def testAllItsCommandListsAgree(self):
        self.checkCommandLists(8)


if __name__ == "__main__":
    unittest.main()
