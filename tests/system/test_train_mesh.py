"""weft train on several ranks: the same curve on every mesh, one checkpoint from all ranks that any mesh goes on from, and
one message and one exit code when a rank fails."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from training import TrainingTest

#: Every scheme, on two to eight ranks. The model has one query group, fewer than the ranks of `tensor`, and a vocabulary of
#: 257, which divides by none.
MESHES = {
    "replicas": "{data_replicate: 2}",
    "zero0": "{data_shard: 2}",
    "zero1": "{data_shard: 4, zero: 1}",
    "zero2": "{data_replicate: 2, data_shard: 2, zero: 2}",
    "zero3": "{data_shard: 4, zero: 3}",
    "tensor": "{tensor: 2}",
    "sequence": "{tensor: 2, sequence: true}",
    "all": "{data_shard: 2, zero: 1, tensor: 2, sequence: true}",
    "eight": "{data_replicate: 2, data_shard: 2, zero: 3, tensor: 2}",
    "gather": "{context: {size: 4, method: gather}}",
    "exchange": "{context: {size: 2, method: all_to_all}}",
    "ring": "{context: {size: 4, method: ring}}",
    "context": "{data_shard: 2, zero: 2, tensor: 2, sequence: true, context: {size: 2, method: gather}}",
    "context3": "{data_replicate: 2, zero: 3, context: {size: 2, method: all_to_all}}",
}

FOUR = MESHES["all"]


class MeshTest(TrainingTest):

    def mesh(self, parallel, *sets):
        """The overrides of a run on a mesh, whose microbatches also divide among four data ranks."""
        return (f"parallel={parallel}", "train.micro_batch=2", *sets)

    def assertSameCurve(self, expected, actual):
        """Within 1e-5 over 20 steps; rounding that training amplifies may then grow to 1e-4."""
        self.assertEqual(len(expected), len(actual))
        for step, (a, b) in enumerate(zip(expected, actual), 1):
            self.assertAlmostEqual(1, b / a, delta=1e-5 if step <= 20 else 1e-4, msg=f"step {step}: {a} and {b}")


class Curves(MeshTest):

    def testTheLossIsThatOfOneDeviceOnEveryMesh(self):
        self.train("one", *self.mesh("{}"))
        for name, parallel in MESHES.items():
            with self.subTest(name):
                self.train(name, *self.mesh(parallel))
                self.assertSameCurve(self.losses("one"), self.losses(name))
                for key in ("val_loss", "grad_norm"):
                    self.assertAlmostEqual(1, self.metrics(name)[-1][key] / self.metrics("one")[-1][key], delta=1e-4, msg=key)

    def testTheCurveOf200StepsFallsAlikeOnSixMeshes(self):
        long = ("train.steps=200", "checkpoint.interval=0", "eval.interval=0")
        self.train("one", *self.mesh("{}", *long))
        losses = self.losses("one")
        self.assertGreater(losses[0] - losses[-1], 1, "nats")
        for name in ("zero0", "zero1", "zero3", "sequence", "all", "eight"):
            with self.subTest(name):
                self.train(name, *self.mesh(MESHES[name], *long))
                self.assertSameCurve(losses, self.losses(name))

    def testTheSameRunTwiceHasTheSameBits(self):
        for name in ("a", "b"):
            self.train(name, *self.mesh(FOUR))
        self.assertEqual(self.losses("a"), self.losses("b"))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/a", "runs/b"))

    def testThreadsChangeNoBit(self):
        """Four ranks share them: as one, as two, and as more than there are processors."""
        for threads in ("1", "2", "3", "128"):
            self.train(threads, *self.mesh(FOUR, f"launch.threads={threads}"))
            self.assertEqual(self.losses("1"), self.losses(threads))
            self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/1", f"runs/{threads}"))

    def testNormsOfParametersAreThoseOfOneDevice(self):
        for name, parallel in (("one", "{}"), ("all", FOUR), ("zero3", MESHES["zero3"])):
            self.train(name, *self.mesh(parallel, "metrics.per_parameter=6", "train.steps=6"))
        expected, *others = [{key: value for key, value in self.metrics(name)[-1].items() if "_norm/" in key}
                             for name in ("one", "all", "zero3")]
        self.assertEqual(3 * 21, len(expected))
        for norms in others:
            self.assertEqual(expected.keys(), norms.keys())
            for key, value in expected.items():
                self.assertAlmostEqual(1, norms[key] / value, delta=1e-4, msg=key)


class RunFolder(MeshTest):

    def testOneRankSpeaksAndEachHasALog(self):
        printed = self.train("a", *self.mesh(FOUR))
        self.assertIn("   4 ranks: data 2 x tensor 2 (sequence parallel), zero 1   float32", printed)
        self.assertEqual(12, len(re.findall(r"^step +\d+/12", printed, re.MULTILINE)))
        self.assertEqual(list(range(1, 13)), [record["step"] for record in self.metrics("a")])
        self.assertIn("step 12/12", self.read("runs/a/log.txt"))
        for rank in (1, 2, 3):
            log = self.read(f"runs/a/log-{rank}.txt")
            self.assertIn("saved runs/a/checkpoints/step-8", log)
            self.assertNotIn("step  1/12", log)

    def testPlannedBytesAreTheAllocatedBytesOfAllRanks(self):
        found = re.search(r"per rank \(.*\), allocated ([\d,]+) of ([\d,]+) bytes planned", self.train("a", *self.mesh(FOUR, "train.steps=2")))
        self.assertEqual(found[1], found[2])
        last = self.metrics("a")[-1]
        self.assertLessEqual(last["resident_bytes"], last["memory_bytes"] + 60 * 2**20)

    def testADumpHoldsThePartsOfRank0AndSaysSo(self):
        self.train("a", *self.mesh(FOUR, "train.dump={steps: [2], match: [\"*gate_proj/einsum*\"]}", "train.steps=2"))
        with open(os.path.join(self.folder, "runs/a/dumps/step-2.safetensors"), "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        self.assertEqual("rank 0 of d0 = 2, t0 = 2", header["__metadata__"]["rank"])
        gate = header["model.layers.0.mlp.gate_proj/einsum/microbatch.0"]
        self.assertEqual([2, 32, 32], gate["shape"], "half of the 64 features")

    def testAProfileIsThatOfOneStep(self):
        printed = self.passes(*self.training("b", *self.mesh(FOUR)), "--profile")
        self.assertEqual(1, printed.count("profile: one step"))
        self.assertRegex(printed, r"\n  reduce_scatter +\d+ ")


class Checkpoints(MeshTest):

    CONSTANT = ("lr_schedule.kind=constant", "eval.interval=0")

    def testARunGoesOnOnAnyOtherMesh(self):
        self.train("one", *self.mesh("{}", *self.CONSTANT))
        for step, name in ((4, "all"), (6, "zero0"), (8, "context"), (10, "context3"), (12, "zero3")):
            printed = self.train("moved", *self.mesh(MESHES[name], *self.CONSTANT, f"train.steps={step}"))
            if step > 4:
                self.assertIn("resume: parallel.", printed)
        self.assertSameCurve(self.losses("one"), self.losses("moved"))
        self.assertEqual(4, len([name for name in os.listdir(os.path.join(self.folder, "runs/moved/checkpoints/step-12"))
                                 if name.startswith("rank-")]))

    def testAResumedRunHasTheBitsOfTheUninterruptedOne(self):
        self.train("whole", *self.mesh(FOUR))
        self.train("cut", *self.mesh(FOUR))
        for step in (8, 12):
            shutil.rmtree(os.path.join(self.folder, f"runs/cut/checkpoints/step-{step}"))
        self.assertIn("resuming: runs/cut/checkpoints/step-4\n", self.train("cut", *self.mesh(FOUR)))
        self.assertEqual(self.losses("whole"), self.losses("cut"))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/whole", "runs/cut"))

    def testOneDeviceEvaluatesAndContinuesTextFromWhatFourRanksSaved(self):
        self.train("four", *self.mesh(FOUR))
        self.train("one", *self.mesh("{}", "train.steps=2"))
        self.train("gather", *self.mesh(MESHES["gather"], "train.steps=2"))
        runs = ("runs/four", "runs/one", "runs/gather")
        evaluations = [self.passes("weft", "eval", run, "--checkpoint", "runs/four") for run in runs]
        self.assertRegex(evaluations[0], r"step 12   validation \d\.\d{4} \([\d.]+ bits per byte\)   16 samples   runs/four")
        self.assertEqual(evaluations[:1] * 3, evaluations)
        texts = [self.passes("weft", "generate", run, "--checkpoint", "runs/four", "--prompt", "the ", "--tokens", 30, "--temperature", 0)
                 for run in runs]
        self.assertEqual(texts[:1] * 3, texts)
        self.assertTrue(texts[0].startswith("the "))

    def testEveryMeshWritesTheTextOfOneDeviceAndMeasuresAFileAlike(self):
        """Caches are split over tensor and copied elsewhere; the text outgrows the window of 32 tokens twice."""
        self.train("one", *self.mesh("{}"))
        self.write("held.txt", self.read("corpus.txt")[-700:])
        found = {}
        for name in ("one", "zero3", "sequence", "exchange", "ring", "context"):
            if name != "one":
                self.train(name, *self.mesh(MESHES[name], "train.steps=2", "eval.interval=0"))
            texts = [self.passes("weft", "generate", f"runs/{name}", "--checkpoint", "runs/one", "--prompt", "the ", "--tokens", 70, *options)
                     for options in (("--temperature", 0), ("--top-p", 0.8, "--seed", 5))]
            measured = json.loads(self.passes("weft", "eval", f"runs/{name}", "--checkpoint", "runs/one", "--data", "held.txt", "--stride", 16, "--json"))
            self.assertEqual(701, measured["tokens"])
            found[name] = (texts, measured["loss"])
        for name, (texts, loss) in found.items():
            with self.subTest(name):
                self.assertEqual(found["one"][0], texts)
                self.assertAlmostEqual(1, loss / found["one"][1], delta=1e-5)

    def testHeldOutSamplesThatDoNotFillABatchAreAllCounted(self):
        losses = {}
        for name, parallel in (("one", "{}"), ("zero1", MESHES["zero1"])):
            self.train(name, f"parallel={parallel}", "train={micro_batch: 3, global_batch: 12, steps: 2}")
            printed = self.passes("weft", "eval", f"runs/{name}", "--set", "eval.batches=1000")
            losses[name] = re.search(r"validation ([\d.]+) .*   (\d+) samples", printed).groups()
        self.assertEqual(losses["one"], losses["zero1"])
        self.assertNotEqual(0, int(losses["one"][1]) % 12)


class Trouble(MeshTest):

    def testAMeshThatCannotBeIsRefusedBeforeAnythingIsWritten(self):
        self.refuses(2, "--set: parallel.tensor: 3 does not divide num_attention_heads (2). Works: 1, 2.", *self.training("a", "parallel.tensor=3"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def testStopOnLossesThatAreNotFiniteIsOneMessage(self):
        ruinous = ("optimizer.lr=1.0e6", "optimizer.clip_grad_norm=0", "lr_schedule.kind=constant", "lr_schedule.warmup_steps=0")
        done = self.refuses(6, "train.on_nonfinite is stop: the run ends here, and nothing was saved yet",
                            *self.training("a", *self.mesh(FOUR, *ruinous, "train.on_nonfinite=stop", "checkpoint.interval=0")))
        self.assertEqual(1, done.stderr.count("first in program order: model.layers.0.self_attn (attention, microbatch 0) gave nan"))
        self.assertEqual([], self.checkpoints("a"))

    def testLookingForTheCauseChangesNoBit(self):
        ruinous = ("optimizer.lr=1.0e6", "optimizer.clip_grad_norm=0", "lr_schedule.kind=constant", "lr_schedule.warmup_steps=0")
        for policy in ("skip", "report"):
            self.train(policy, *self.mesh(FOUR, *ruinous, f"train.on_nonfinite={policy}"))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/skip", "runs/report"))

    def testDamagedDataThatOneDataRankReadsStopAll(self):
        self.passes("weft", "data", "prepare", "corpus.txt", "-o", "ds", "--quiet")
        with open(os.path.join(self.folder, "ds.bin"), "r+b") as file:
            file.seek(20000)
            file.write(struct.pack("<H", 60000))  # a token that no tokenizer of bytes has, in one of 1,344 samples
        done = self.refuses(3, "ds.bin: token 10000 is outside of the vocabulary of 257 ids",
                            *self.training("a", *self.mesh(FOUR, "data.train=[{path: ds}]", "train.steps=400", "eval.interval=0")))
        self.assertEqual(1, len(done.stderr.strip().splitlines()), done.stderr)

    def testASaveThatDoesNotFitOnOneRankStopsAll(self):
        # Of two replicas the first alone writes, and its file does not fit; the other waits for it in vain.
        line = "trap '' XFSZ; ulimit -f 350; exec " + " ".join(f"'{word}'" for word in self.training("a", *self.mesh(MESHES["replicas"])))
        done = self.refuses(4, "runs/a/checkpoints/step-4.tmp/rank-00000.safetensors", "bash", "-c", line)
        self.assertEqual(1, len(done.stderr.strip().splitlines()), done.stderr)
        self.assertEqual([], self.checkpoints("a"))

    def testTheMemoryLimitIsThatOfAllRanks(self):
        self.write("limited.yaml", self.read("run.yaml") + "launch: {memory_limit: 2 MiB}\n")
        sets = [word for one in self.mesh(FOUR) for word in ("--set", one)]
        self.passes("weft-compile", "limited.yaml", *sets, "-o", "limited.weft")  # checks no limit by itself
        self.refuses(8, "the limit is 0.5 MiB (launch.memory_limit over 4 ranks)",
                     *self.training("a", file="limited.weft"))

    def testTooLargeAPlanIsRefusedAndEachSuggestionCompiles(self):
        zero0 = ("parallel.data_shard=2", "parallel.tensor=2", "train.micro_batch=2")
        done = self.refuses(8, "per rank (", *self.training("a", *zero0, "launch.memory_limit=2 MiB"))
        self.assertIn("the limit is 0.5 MiB (launch.memory_limit over 4 ranks)", done.stderr)
        suggestions = re.findall(r"^    ([\w.]+): (\S+) -> [\d.]+ MiB \((\d+) bytes\)", done.stderr, re.MULTILINE)
        self.assertEqual(3, len(suggestions), done.stderr)
        self.assertIn("parallel.zero", [key for key, _, _ in suggestions])
        for key, value, size in suggestions:
            sets = [one for one in zero0 if not one.startswith(key + "=")] + [f"{key}={value}"]
            plan = self.passes("weft", "compile", "run.yaml", *[word for one in sets for word in ("--set", one)], "--explain", "memory")
            self.assertIn(f"({size} bytes)", plan, key)

    def testAnExecutableRunsOnTheRanksThatItWasCompiledFor(self):
        sets = [word for one in self.mesh(FOUR) for word in ("--set", one)]
        self.passes("weft", "compile", "run.yaml", *sets, "-o", "run.weft")
        self.train("compiled", file="run.weft")
        self.train("trained", *self.mesh(FOUR))
        self.assertEqual(self.losses("trained"), self.losses("compiled"))
        self.refuses(2, "--set parallel.tensor=1: run.weft was compiled with 2. Compile again: ",
                     *self.training("a", "parallel.tensor=1", "parallel.sequence=false", file="run.weft"))


class Signals(MeshTest):
    """A long run of four ranks that is interrupted once it has saved a checkpoint."""

    LONG = ("train.steps=100000", "checkpoint.interval=3", "lr_schedule.kind=constant", "eval.interval=0")

    def started(self, name):
        process = subprocess.Popen(self.training(name, *self.mesh(FOUR, *self.LONG)), cwd=self.folder, env=self.environment(), text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        folder = os.path.join(self.folder, "runs", name, "checkpoints")
        limit = time.monotonic() + 60
        while not (os.path.isdir(folder) and any(entry[5:].isdigit() for entry in os.listdir(folder))):
            self.assertIsNone(process.poll(), "the run ended before it saved")
            self.assertLess(time.monotonic(), limit, "no checkpoint in a minute")
            time.sleep(0.01)
        return process

    def testASignalFinishesTheStepOfAllRanksAndSaves(self):
        process = self.started("a")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        self.assertEqual(5, process.returncode, said)
        self.assertEqual(1, said.count("stopped by a signal"), said)
        step = int(re.search(r"stopped by a signal after step (\d+), which is saved", said)[1])
        self.assertIn(f"step-{step}", self.checkpoints("a"))
        self.assertEqual(step, self.metrics("a")[-1]["step"])

    def testARunThatWasKilledGoesOnWithTheSameBits(self):
        process = self.started("killed")
        process.kill()
        process.communicate(timeout=60)
        target = 3 * (max(int(name[5:]) for name in self.checkpoints("killed") if name[5:].isdigit()) // 3) + 6
        sets = self.mesh(FOUR, f"train.steps={target}", *self.LONG[1:])
        self.train("killed", *sets)
        self.train("whole", *sets)
        self.assertEqual(self.losses("whole"), self.losses("killed"))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/whole", "runs/killed"))
