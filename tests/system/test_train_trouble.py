"""What weft train does when something is wrong: losses that are not finite, data, disks, memory, a missing compiler."""

import os
import re
import shutil

from harness import BIN
from training import TrainingTest

#: A learning rate that ruins the model in a few steps.
RUINOUS = ("optimizer.lr=1.0e6", "optimizer.clip_grad_norm=0", "lr_schedule.kind=constant", "lr_schedule.warmup_steps=0")


class NotFinite(TrainingTest):

    def testSkipChangesNothingAndNamesTheFirstOperationOnce(self):
        done = self.command(*self.training("a", *RUINOUS))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"step \d+: loss nan, grad_norm nan: not finite, so this step changes nothing\n"
                                      r"first in program order: model\.layers\.0\.self_attn \(attention, microbatch 0\) gave nan\n"
                                      r"samples \d+ to \d+:\n  \d+: .*corpus.*: document 0, token \d+")
        self.assertEqual(1, done.stderr.count("first in program order"))
        bad = [record for record in self.metrics("a") if record["loss"] is None]
        self.assertGreater(len(bad), 2)
        self.assertTrue(all(record["skipped"] == 1 for record in bad))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/a/checkpoints/step-8", "runs/a/checkpoints/step-12"))

    def testReportNamesItEachTime(self):
        done = self.command(*self.training("a", *RUINOUS, "train.on_nonfinite=report"))
        self.assertEqual(0, done.returncode, done.stderr)
        bad = [record for record in self.metrics("a") if record["loss"] is None]
        self.assertEqual(len(bad), done.stderr.count("first in program order: model.layers.0.self_attn"))

    def testStopEndsWithItsCode(self):
        done = self.refuses(6, "train.on_nonfinite is stop: the run ends here, and nothing was saved yet",
                            *self.training("a", *RUINOUS, "train.on_nonfinite=stop", "checkpoint.interval=0"))
        self.assertIn("first in program order: model.layers.0.self_attn (attention, microbatch 0) gave nan", done.stderr)
        self.assertEqual([], self.checkpoints("a"))

    def testLookingForTheCauseChangesNoBit(self):
        self.train("skip", *RUINOUS)
        self.train("report", *RUINOUS, "train.on_nonfinite=report")
        self.assertEqual(self.stateBytes("skip", 12), self.stateBytes("report", 12))

    def testASpikeIsReportedOrStopsTheRun(self):
        spike = ("train.spike.factor=0.5", "train.spike.window=2")  # every loss is over half the mean of the last two
        done = self.command(*self.training("a", *spike))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"step 3: loss [\d.]+ is over 0\.5 times the mean of the last 2 losses \([\d.]+\)\nsamples 16 to 23:")
        self.refuses(6, "train.spike.action is stop: the run ends here", *self.training("b", *spike, "train.spike.action=stop"))

    def testTheWindowOfLossesIsPartOfTheState(self):
        spike = ("train.spike.factor=0.5", "train.spike.window=6")
        self.train("cut", *spike)
        for step in (8, 12):
            shutil.rmtree(os.path.join(self.folder, f"runs/cut/checkpoints/step-{step}"))
        self.assertIn("step 7: loss", self.command(*self.training("cut", *spike)).stderr)


class BadData(TrainingTest):

    def testMissingAndEmptyFilesAreNamed(self):
        os.remove(os.path.join(self.folder, "corpus.txt"))
        self.refuses(3, "corpus.txt", *self.training("a"))
        self.write("corpus.txt", "")
        self.refuses(3, "corpus.txt", *self.training("a"))

    def testTooLittleTextIsRefused(self):
        self.write("corpus.txt", "short")
        self.refuses(3, "corpus.txt", *self.training("a"))

    def testABadKeyIsRefusedWithTheNearest(self):
        self.refuses(2, "train.stpes: no such key. Did you mean steps?", *self.training("a", "train.stpes=3"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def testAttentionDropoutIsRefused(self):
        self.refuses(2, "model.attention_dropout: the attention kernel has no dropout", *self.training("a", "model.attention_dropout=0.1"))


class Disk(TrainingTest):

    def testARunsFolderThatIsAFileIsNamed(self):
        self.write("runs", "")
        self.refuses(4, "runs/a/program: the folder cannot be made: ", *self.training("a"))

    def testASaveThatDoesNotFitEndsTheRunAndLeavesNothing(self):
        # Files may have 300 KiB: the checkpoint's tensors need 410.
        line = "trap '' XFSZ; ulimit -f 300; exec " + " ".join(self.training("a"))
        self.refuses(4, "runs/a/checkpoints/step-4.tmp", "bash", "-c", line)
        self.assertEqual([], self.checkpoints("a"))
        self.train("a")
        self.assertIn("step-12", self.checkpoints("a"))

    def testANameIsOneFolder(self):
        self.refuses(2, "--name: '../a' is not the name of a folder", "weft", "train", "run.yaml", "--name", "../a")


class MemoryLimit(TrainingTest):

    def testTooLargeAPlanIsRefusedAndEachSuggestionCompiles(self):
        done = self.refuses(8, "memory: this plan needs ", *self.training("a", "launch.memory_limit=1 MiB"))
        suggestions = re.findall(r"^    ([\w.]+): (\S+) -> [\d.]+ MiB \((\d+) bytes\)", done.stderr, re.MULTILINE)
        self.assertEqual(3, len(suggestions), done.stderr)
        for key, value, size in suggestions:
            plan = self.passes("weft", "compile", "run.yaml", "--set", f"{key}={value}", "--explain", "memory")
            self.assertIn(f"({size} bytes)", plan, key)

    def testAnExecutableOverTheLimitIsRefused(self):
        self.write("limited.yaml", self.read("run.yaml") + "launch: {memory_limit: 1 MiB}\n")
        self.passes("weft-compile", "limited.yaml", "-o", "limited.weft")  # checks no limit by itself
        done = self.refuses(8, "the limit is 1.0 MiB (launch.memory_limit). Compile it smaller", *self.training("a", file="limited.weft"))
        self.assertRegex(done.stderr, r"memory: this plan needs [\d.]+ MiB \(\d+ bytes\), the limit")


class WithoutTheCompiler(TrainingTest):
    """A machine on which only `weft` is installed."""

    def setUp(self):
        super().setUp()
        self.passes("weft", "compile", "run.yaml", "-o", "run.weft")
        self.weft = os.path.join(self.folder, "bin", "weft")
        os.makedirs(os.path.dirname(self.weft))
        shutil.copy2(os.path.join(BIN, "weft"), self.weft)
        self.bare = {"PATH": "/nonexistent", "HOME": self.folder}

    def testAnExecutableTrainsResumesAndGenerates(self):
        self.train("reference")
        first = self.passes(self.weft, "train", "run.weft", "--name", "a", env=self.bare)
        self.assertNotIn("compiled in", first)
        self.assertEqual(self.stateBytes("reference", 12), self.stateBytes("a", 12))
        shutil.rmtree(os.path.join(self.folder, "runs/a/checkpoints/step-12"))
        self.assertIn("resuming: runs/a/checkpoints/step-8", self.passes(self.weft, "train", "run.weft", "--name", "a", env=self.bare))
        self.assertEqual(self.stateBytes("reference", 12), self.stateBytes("a", 12))
        self.assertTrue(self.passes(self.weft, "generate", "runs/a", "--prompt", "the ", env=self.bare).startswith("the "))

    def testARunFileNeedsTheCompilerAndSaysSo(self):
        self.refuses(2, "weft-compile cannot be started: No such file or directory. It belongs beside weft, or on PATH",
                     self.weft, "train", "run.yaml", "--name", "a", env=self.bare)

    def testKeysThatAreCompiledInAreRefused(self):
        self.refuses(2, "--set train.steps=20: run.weft was compiled with 12. Compile again: weft compile RUN.yaml -o run.weft --set train.steps=20",
                     self.weft, "train", "run.weft", "--name", "a", "--set", "train.steps=20", env=self.bare)
        self.passes(self.weft, "train", "run.weft", "--name", "b", "--set", "checkpoint.interval=6", env=self.bare)
        self.assertEqual(["step-12", "step-6"], self.checkpoints("b"))


