"""Training and evaluation as PyTorch does them: `weft train` and `weft eval` against the losses in tests/parity/goldens."""

import json
import math
import os
import struct
import unittest

from harness import ROOT, SystemTest

RUN = os.path.join(ROOT, "tests", "parity", "training", "run.yaml")
GOLDEN = os.path.join(ROOT, "tests", "parity", "goldens", "training.safetensors")
LOSS_TOLERANCE = 1e-4
OWN_ROUNDING = 1e-6  # relative: of a loss or a norm, whatever the weights
RATE_TOLERANCE = 1e-6  # relative: weft's learning rate is float32
EVALUATION_TOLERANCE = 1e-5  # relative: float32 against float64


def doubles(path):
    """The float64 vectors of a safetensors file by name."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: struct.unpack(f"<{entry['shape'][0]}d", data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


class TrainingParity(SystemTest):
    def records(self, *sets):
        self.passes("weft", "train", RUN, "--name", "parity", *(word for one in sets for word in ("--set", one)))
        return [json.loads(line) for line in self.read("runs/parity/metrics.jsonl").splitlines()]

    def apart(self, records, key, golden, relative=False):
        """The largest difference over the steps."""
        return max(abs(record[key] - value) / (abs(value) if relative else 1.0) for record, value in zip(records, golden[key], strict=True))

    def testAHundredStepsHaveTheLossesOfPyTorch(self):
        golden, records = doubles(GOLDEN), self.records()
        self.assertEqual(len(records), 100)
        self.assertLess(self.apart(records, "lr", golden, relative=True), RATE_TOLERANCE)
        self.assertLess(self.apart(records, "loss", golden), LOSS_TOLERANCE)
        for key in ("loss", "grad_norm"):
            for step, (record, value, spread) in enumerate(zip(records, golden[key], golden["spread/" + key], strict=True), 1):
                with self.subTest(key, step=step):
                    # A rounding of the weights at the start moves this step by `spread`; training rounds them once more at each step.
                    bound = OWN_ROUNDING + (1 + math.sqrt(step)) * spread
                    self.assertLess(abs(record[key] / value - 1), bound)

    def testClippingAndScheduleShowInTheLosses(self):
        golden = doubles(GOLDEN)
        for change in ("optimizer.clip_grad_norm=0", "lr_schedule.kind=constant", "optimizer.weight_decay=0"):
            with self.subTest(change):
                self.assertGreater(self.apart(self.records(change), "loss", golden), 10 * LOSS_TOLERANCE)
                self.passes("rm", "-r", "runs")


class EvaluationParity(SystemTest):
    """`weft eval --data` of a model that transformers evaluates in float64 (tests/parity/generation.py)."""

    def testTheLossOfAFileIsThatOfTransformersAtEveryStride(self):
        golden = doubles(os.path.join(ROOT, "tests", "parity", "goldens", "evaluation.safetensors"))
        self.passes("weft", "train", os.path.join(ROOT, "tests", "parity", "evaluation", "run.yaml"), "--name", "parity")
        losses = []
        for index, stride in enumerate(golden["strides"]):
            found = json.loads(self.passes("weft", "eval", "runs/parity", "--data", os.path.join(ROOT, "LICENSE"), "--stride", int(stride), "--json"))
            with self.subTest(stride=stride):
                self.assertEqual(golden["tokens"][0], found["tokens"])
                self.assertEqual(golden["bytes"][0], found["bytes"])
                self.assertLess(abs(found["loss"] / golden["loss"][index] - 1), EVALUATION_TOLERANCE)
                self.assertLess(abs(found["bits_per_byte"] / golden["bits_per_byte"][index] - 1), EVALUATION_TOLERANCE)
            losses.append(found["loss"])
        self.assertGreater(max(losses) - min(losses), 1e-3, "strides make a difference")


if __name__ == "__main__":
    unittest.main()
