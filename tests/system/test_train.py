"""weft train: from a run file to a falling loss, and on from where it stopped, bit for bit."""

import os
import re
import shutil
import signal
import subprocess
import time

from training import TrainingTest


class Train(TrainingTest):

    def testTheLossFallsAndTheRunFolderHoldsEverything(self):
        printed = self.train("a")
        losses = self.losses("a")
        self.assertEqual(12, len(losses))
        self.assertAlmostEqual(5.55, losses[0], delta=0.05)  # ln 257: nothing is known at first
        self.assertLess(losses[-1], 3.5)
        last = self.metrics("a")[-1]
        self.assertLess(last["val_loss"], 3.5)
        self.assertEqual(12 * 8 * 32, last["consumed_tokens"])
        self.assertRegex(printed, r"weft 0\.1\.0   llama 35,040 parameters   1 rank   float32   \w+, \d+ thread")
        self.assertRegex(printed, r"compiled in [\d.]+ s   peak [\d.]+ MiB \(parameters 0\.1, ")
        self.assertRegex(printed, r"step 12/12  loss [\d.]+  val_loss [\d.]+  grad_norm [\d.]+  lr 1\.0e-03  tok/s [\d,]+  mfu [\d.]+%  mem ")
        self.assertRegex(printed, r"validation [\d.]+ \([\d.]+ bits per byte\)   saved runs/a/checkpoints/step-12 .*curve: runs/a/loss\.svg")
        self.assertEqual(["step-12", "step-4", "step-8"], self.checkpoints("a"))
        for name in ("config.yaml", "metrics.jsonl", "log.txt", "loss.svg", "program/run.weft", "tensorboard"):
            self.assertTrue(os.path.exists(os.path.join(self.folder, "runs/a", name)), name)
        self.assertIn("step 12/12", self.read("runs/a/log.txt"))
        self.assertIn("# run.yaml:", self.read("runs/a/config.yaml"))

    def testPlannedBytesAreTheAllocatedBytes(self):
        found = re.search(r"allocated ([\d,]+) of ([\d,]+) bytes planned", self.train("a", "train.steps=2"))
        self.assertEqual(found[1], found[2])
        last = self.metrics("a")[-1]
        self.assertLessEqual(last["resident_bytes"], last["memory_bytes"] + 60 * 2**20)

    def testTheSameRunTwiceHasTheSameBits(self):
        self.train("a")
        self.train("b")
        self.assertEqual(self.stateBytes("a", 12), self.stateBytes("b", 12))
        self.assertEqual(self.losses("a"), self.losses("b"))
        self.train("c", "train.seed=2")
        self.assertNotEqual(self.stateBytes("a", 12), self.stateBytes("c", 12))

    def testAResumedRunHasTheBitsOfTheUninterruptedOne(self):
        self.train("whole")
        self.train("cut")
        for step in (8, 12):
            shutil.rmtree(os.path.join(self.folder, f"runs/cut/checkpoints/step-{step}"))
        printed = self.train("cut")
        self.assertIn("resuming: runs/cut/checkpoints/step-4\n", printed)
        self.assertNotIn("step  4/12", printed)
        self.assertEqual(self.stateBytes("whole", 12), self.stateBytes("cut", 12))
        self.assertEqual(self.losses("whole"), self.losses("cut"))

    def testThreadsChangeNoBit(self):
        self.train("1", "launch.threads=1")
        for threads in ("2", "3", "7", "128"):
            self.assertRegex(self.train(threads, f"launch.threads={threads}"), rf", {threads} threads\n")
            self.assertEqual(self.stateBytes("1", 12), self.stateBytes(threads, 12))

    def testAProgramRunsOnAnyNumberOfThreads(self):
        self.passes("weft", "compile", "run.yaml", "-o", "run.weft", "--set", "launch.threads=1")
        self.assertRegex(self.train("one", file="run.weft"), r", 1 thread\n")
        self.assertRegex(self.train("three", "launch.threads=3", file="run.weft"), r", 3 threads\n")
        self.assertEqual(self.stateBytes("one", 12), self.stateBytes("three", 12))

    def testAFinishedRunSaysSo(self):
        self.train("a")
        self.assertIn("nothing to do: checkpoint step-12 is at or past train.steps (12)", self.train("a"))
        self.assertEqual(12, len(self.losses("a")))

    def testMoreStepsGoOnAndTheDifferenceIsPrinted(self):
        self.train("a")
        printed = self.train("a", "train.steps=16")
        self.assertIn("resume: train.steps is 16 in this run and 12 in checkpoint step-12: "
                      "the rest of the learning-rate schedule follows the new length", printed)
        self.assertEqual(16, len(self.losses("a")))

    def testAKeyThatMustStayIsRefused(self):
        self.train("a")
        self.refuses(2, "resume: train.seed is 2 in this run and 1 in checkpoint step-12: the data order would change. "
                        "Use --set train.seed=1, or start a new run.", *self.training("a", "train.seed=2"))

    def testADamagedCheckpointIsPassedOver(self):
        self.train("a")
        with open(os.path.join(self.folder, "runs/a/checkpoints/step-12/rank-00000.safetensors"), "r+b") as file:
            file.truncate(1000)
        done = self.command(*self.training("a"))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("runs/a/checkpoints/step-12", done.stderr)
        self.assertIn("resuming: runs/a/checkpoints/step-8\n", done.stdout)

    def testOtherDataAreRefused(self):
        self.train("a")
        self.write("corpus.txt", "other words " * 5000)
        self.refuses(3, "resume: the data are others than those of the checkpoint", *self.training("a", "train.steps=16"))


class Signals(TrainingTest):
    """A long run that is interrupted once it has saved a checkpoint."""

    LONG = ("train.steps=100000", "checkpoint.interval=3", "lr_schedule.kind=constant", "eval.interval=0")

    def started(self, name):
        process = subprocess.Popen(self.training(name, *self.LONG), cwd=self.folder, env=self.environment(), text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        folder = os.path.join(self.folder, "runs", name, "checkpoints")
        limit = time.monotonic() + 60
        while not (os.path.isdir(folder) and any(entry[5:].isdigit() for entry in os.listdir(folder))):
            self.assertIsNone(process.poll(), "the run ended before it saved")
            self.assertLess(time.monotonic(), limit, "no checkpoint in a minute")
            time.sleep(0.01)
        return process

    def testSigtermAndSigintFinishTheStepAndSave(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            name = signal.Signals(number).name
            process = self.started(name)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertEqual(5, process.returncode, said)
            step = int(re.search(r"stopped by a signal after step (\d+), which is saved", said)[1])
            self.assertIn(f"step-{step}", self.checkpoints(name))
            self.assertEqual(step, self.metrics(name)[-1]["step"])

    def testARunThatWasKilledGoesOnWithTheSameBits(self):
        process = self.started("killed")
        process.kill()
        process.communicate(timeout=60)
        target = 3 * (max(int(name[5:]) for name in self.checkpoints("killed") if name[5:].isdigit()) // 3) + 6
        sets = (f"train.steps={target}", *self.LONG[1:])
        self.train("killed", *sets)
        self.train("whole", *sets)
        self.assertEqual(self.stateBytes("whole", target), self.stateBytes("killed", target))
        self.assertEqual(self.losses("whole"), self.losses("killed"))

    def testASecondJobInTheSameRunIsRefused(self):
        process = self.started("a")
        self.refuses(2, f"runs/a: another job works in this run folder (pid {process.pid} on ", *self.training("a"))
