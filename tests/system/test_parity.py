"""Training as PyTorch does it: 100 steps of `weft train` against the losses in tests/parity/goldens/training.safetensors."""

import json
import os
import struct
import unittest

from harness import ROOT, SystemTest

RUN = os.path.join(ROOT, "tests", "parity", "training", "run.yaml")
GOLDEN = os.path.join(ROOT, "tests", "parity", "goldens", "training.safetensors")
LOSS_TOLERANCE = 1e-4
NORM_TOLERANCE = 1e-3  # relative
RATE_TOLERANCE = 1e-6  # relative: weft's learning rate is float32


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
        self.assertLess(self.apart(records, "grad_norm", golden, relative=True), NORM_TOLERANCE)

    def testClippingAndScheduleShowInTheLosses(self):
        golden = doubles(GOLDEN)
        for change in ("optimizer.clip_grad_norm=0", "lr_schedule.kind=constant", "optimizer.weight_decay=0"):
            with self.subTest(change):
                self.assertGreater(self.apart(self.records(change), "loss", golden), 10 * LOSS_TOLERANCE)
                self.passes("rm", "-r", "runs")


if __name__ == "__main__":
    unittest.main()
