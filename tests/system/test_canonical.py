"""train.reduction canonical: no bit of a run depends on how many data ranks it has, on their zero level, or on when it grew
and shrank. The model has parameters that no number of ranks divides evenly (a vocabulary of 257), two uses of one (tied
embeddings), and clipping that acts in most steps."""

import hashlib
import random
import re

from training import TrainingTest

#: 16 leaves in a step. Each zero level, each number of data ranks, and replicas of shards.
MESHES = {
    "replicas": "{data_replicate: 2}",
    "two": "{data_shard: 2, zero: 3}",
    "four": "{data_shard: 4, zero: 1}",
    "four0": "{data_shard: 4, zero: 0}",
    "hybrid": "{data_replicate: 2, data_shard: 2, zero: 2}",
    "eight": "{data_shard: 8, zero: 2}",
    "eight3": "{data_shard: 8, zero: 3}",
    "hybrid8": "{data_replicate: 2, data_shard: 4, zero: 3}",
}

CANONICAL = ("train.reduction=canonical", "train.micro_batch=1", "train.global_batch=16", "data.sequence_length=16",
             "model.num_hidden_layers=1", "model.tie_word_embeddings=true", "loss.z_loss=1e-4", "lr_schedule.kind=constant",
             "lr_schedule.warmup_steps=0", "checkpoint.interval=0", "optimizer.clip_grad_norm=0.5", "launch.threads=1",
             "eval.batches=3")


def settings(*sets):
    """The overrides of a canonical run; of one key the last counts."""
    return [f"{key}={value}" for key, value in dict(one.split("=", 1) for one in (*CANONICAL, *sets)).items()]


class CanonicalTest(TrainingTest):

    def trainOn(self, parallel, name, *sets):
        return self.train(name, *settings(f"parallel={parallel}", *sets), timeout=600)

    def digest(self, name):
        """The SHA-256 of the tensors that rank 0 saved last: without zero, all of them."""
        last = max(int(step.removeprefix("step-")) for step in self.checkpoints(name))
        return hashlib.sha256(self.stateBytes(name, last)).hexdigest()


class Bits(CanonicalTest):

    def testNoMeshChangesABitIn100Steps(self):
        steps = ("train.steps=100", "eval.interval=50")
        self.trainOn("{}", "one", *steps)
        losses = self.losses("one")
        self.assertEqual(100, len(losses))
        self.assertGreater(losses[0] - losses[-1], 1, "nats: the run learns")
        self.assertTrue(any(line["grad_norm"] > 0.5 for line in self.metrics("one")), "clipping acts")
        for name, parallel in MESHES.items():
            with self.subTest(name):
                self.trainOn(parallel, name, *steps)
                self.assertSameRun("one", name)
                if "zero" not in parallel or "zero: 0" in parallel:
                    self.assertEqual(self.digest("one"), self.digest(name))

    def testTheFastReductionDoesChangeThem(self):
        """What the test above compares is no coincidence."""
        fast = ("train.reduction=fast", "train.steps=10")
        self.trainOn("{}", "one", *fast)
        self.trainOn(MESHES["four"], "four", *fast)
        self.assertNotEqual(self.losses("one"), self.losses("four"))

    def testNumbersOfLeavesThatAreNoPowersOfTwo(self):
        """Three leaves add up in one buffer before they are halves of something: 12, 6 and 3 on a rank."""
        twelve = ("train.global_batch=12", "train.steps=8")
        self.trainOn("{}", "one", *twelve)
        for name in ("replicas", "four"):
            self.trainOn(MESHES[name], name, *twelve)
            self.assertSameRun("one", name)

    def testEveryRecipeAndOptimizer(self):
        for sets in (("precision.recipe=bf16",), ("precision.recipe=fp16", "optimizer.kind=sgd"), ("optimizer.kind=lion",)):
            name = sets[0].replace("=", "-").replace(".", "-")
            with self.subTest(name):
                self.trainOn("{}", f"{name}-one", "train.steps=6", *sets)
                self.trainOn("{data_shard: 4, zero: 3}", f"{name}-four", "train.steps=6", *sets)
                self.assertSameRun(f"{name}-one", f"{name}-four")

    def testARunThatGrowsAndShrinksIsTheSameRun(self):
        self.trainOn("{}", "straight", "train.steps=100", "eval.interval=0")
        random_ = random.Random(7)
        ends = sorted(random_.sample(range(3, 97), 6)) + [100]
        meshes = ["{}"] + list(MESHES.values())
        before = None
        for end in ends:
            parallel = random_.choice([mesh for mesh in meshes if mesh != before])
            output = self.trainOn(parallel, "changing", f"train.steps={end}", "eval.interval=0")
            if before is not None:
                self.assertIn("train.reduction is canonical, so no bit changes", output)
            before = parallel
        self.assertEqual([line["loss"] for line in self.metrics("straight")],
                         [line["loss"] for line in self.metrics("changing")])
        self.assertEqual([line["grad_norm"] for line in self.metrics("straight")],
                         [line["grad_norm"] for line in self.metrics("changing")])
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/straight", "runs/changing"))


class Refusals(CanonicalTest):

    def refusal(self, message, *sets):
        self.refuses(2, message, *self.training("x", *settings(*sets)))

    def testTensorRanks(self):
        self.refusal("train.reduction: canonical does not go with tensor (2): the products of a layer are then sums over its "
                     "ranks, which fewer ranks round otherwise. Works: parallel.tensor: 1, or fast.", "parallel.tensor=2")

    def testContextRanks(self):
        self.refusal("train.reduction: canonical does not go with context.size (2): gradients are then sums over its ranks, of "
                     "parts of each sample, which one rank rounds otherwise. Works: parallel.context.size: 1, or fast.",
                     "parallel.context.size=2")

    def testDataRanksThatAreNoPowerOfTwo(self):
        self.refusal("train.reduction: canonical halves the 12 microbatches of a step (global_batch 12 / micro_batch 1) until "
                     "each of 3 data ranks (data_replicate 1 x data_shard 3) has a part, which no power of two does. Works: "
                     "1, 2 or 4 data ranks, or fast.", "train.global_batch=12", "parallel.data_shard=3")

    def testMoreDataRanksThanTheLeavesCanBeSharedAmong(self):
        self.refusal("train.reduction: canonical halves the 12 microbatches of a step (global_batch 12 / micro_batch 1) until "
                     "each of 8 data ranks (data_replicate 1 x data_shard 8) has a part, which gives no whole microbatches. "
                     "Works: 1, 2 or 4 data ranks, a global_batch of 8 or 16, or fast.",
                     "train.global_batch=12", "parallel.data_shard=8")


class Cost(CanonicalTest):

    def explain(self, what, *sets):
        return self.passes("weft", "compile", "run.yaml", "--explain", what,
                           *(word for one in settings(*sets) for word in ("--set", one)))

    def testWhatItCostsIsSaid(self):
        """16 leaves a rank: 4 buffers more than one. On 4 ranks 2 more, and one reduction of each use in a step."""
        gradients = [int(re.search(r"gradients +(\d+) bytes", self.explain("memory", f"train.reduction={kind}"))[1])
                     for kind in ("fast", "canonical")]
        self.assertEqual(5 * gradients[0], gradients[1])
        self.assertIn(f"canonical: {4 * gradients[0]} bytes of the gradients are subtrees that wait for their neighbors",
                      self.explain("memory"))
        four = "parallel={data_shard: 4, zero: 2}"
        self.assertIn(f"canonical: {2 * gradients[0]} bytes", self.explain("memory", four))
        communication = self.explain("communication", four)
        self.assertRegex(communication, r"update +reduce_scatter +\[d0, d1\] tree +12 calls")
        self.assertRegex(communication, r"update +all_reduce +\[d0, d1\] tree +2 calls +\d+ bytes")
        self.assertNotIn("forward_backward", communication)

    def testAPlanOverTheLimitNamesTheFastReduction(self):
        wide = ("model.hidden_size=64", "model.intermediate_size=128")
        needed = int(re.search(r"\((\d+) bytes\)", self.explain("memory", *wide))[1])
        done = self.command(*self.training("x", *settings(*wide, f"launch.memory_limit={needed - 1}")))
        self.assertEqual(8, done.returncode, done.stderr)
        self.assertIn("train.reduction: fast -> ", done.stderr)
