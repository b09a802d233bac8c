"""Checkpoints that are written while training goes on: what is in them, which stay, and what they cost."""

import re
import unittest

from training import TrainingTest


class Saving(TrainingTest):
    FOUR = "parallel={data_shard: 2, zero: 1, tensor: 2}"

    def testACheckpointHasTheBytesOfItsOwnStepAlthoughTrainingWentOn(self):
        for ranks in ("parallel={}", self.FOUR):
            with self.subTest(ranks):
                sets = (ranks, "train.micro_batch=2", "checkpoint.interval=1", "checkpoint.keep_latest=20")
                background, waiting = f"background-{len(ranks)}", f"waiting-{len(ranks)}"
                self.train(background, *sets)
                self.train(waiting, *sets, "checkpoint.asynchronous=false")
                self.assertEqual(self.losses(waiting), self.losses(background))
                for step in range(1, 13):
                    self.assertEqual(self.tensorFiles(waiting, step), self.tensorFiles(background, step), f"step {step}")

    def testMetricsAndLogTellHowLongASaveTookAndHowLongTrainingWaited(self):
        printed = self.train("a")
        told = [record for record in self.metrics("a") if "save_seconds" in record]
        self.assertGreaterEqual(len(told), 1)
        for record in told:
            self.assertGreater(record["step"], 4)
            self.assertLessEqual(record["save_wait_seconds"], record["save_seconds"])
        self.assertRegex(printed, r"saved runs/a/checkpoints/step-4 \([\d.]+ s, training waited [\d.]+ s\)")

    def testCheckpointsOfEveryNthStepStay(self):
        self.train("a", "checkpoint.interval=1", "checkpoint.keep_latest=2", "checkpoint.keep_every=5")
        self.assertEqual(["step-10", "step-11", "step-12", "step-5"], self.checkpoints("a"))

    def testTheSnapshotIsARowOfThePlan(self):
        def plan(*sets):
            printed = self.passes("weft", "compile", "run.yaml", "-o", "run.weft", "--explain", "memory",
                                  *[word for one in sets for word in ("--set", one)])
            rows = {name: int(size) for name, size in re.findall(r"(?m)^  (\w+) +(\d+) bytes", printed)}
            return rows, int(re.search(r"\((\d+) bytes\)", printed)[1])

        rows, peak = plan()
        self.assertEqual(rows["parameters"] + rows["optimizer"], rows["snapshot"])
        for none in ("checkpoint.asynchronous=false", "checkpoint.interval=0"):
            without, smaller = plan(none)
            self.assertNotIn("snapshot", without)
            self.assertEqual(peak - rows["snapshot"], smaller)

    def testAnExecutableWithoutRoomForASnapshotIsCompiledAgain(self):
        self.passes("weft", "compile", "run.yaml", "-o", "run.weft", "--set", "checkpoint.asynchronous=false")
        done = self.command(*self.training("a", "checkpoint.asynchronous=true", file="run.weft"))
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn("--set checkpoint.asynchronous=true: run.weft was compiled with false. Compile again", done.stderr)
        self.passes("weft", "compile", "run.yaml", "-o", "run.weft")
        self.train("b", "checkpoint.asynchronous=false", file="run.weft")

    def testAnIntervalThatTheExecutableWasCompiledWithoutIsSavedWithAWarning(self):
        self.passes("weft", "compile", "run.yaml", "-o", "run.weft", "--set", "checkpoint.interval=0")
        done = self.command(*self.training("a", "checkpoint.interval=4", file="run.weft"))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("compiled without room for a copy of its variables, so training waits for each save", done.stderr)
        self.assertEqual(["step-12", "step-4", "step-8"], self.checkpoints("a"))


if __name__ == "__main__":
    unittest.main()
