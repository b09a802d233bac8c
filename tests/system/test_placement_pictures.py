"""The pictures of docs/parallelism.md are what `weft compile --draw` makes today. With WEFT_WRITE_PICTURES=1 they are written."""

import os
import unittest

from harness import ROOT
from training import TrainingTest

SCHEMES = {
    "ddp": "{data_shard: 4, zero: 0}",
    "zero_1": "{data_shard: 4, zero: 1}",
    "zero_3": "{data_shard: 4, zero: 3}",
    "hsdp": "{data_replicate: 2, data_shard: 2, zero: 3}",
    "context": "{context: {size: 4, method: gather}}",
    "tensor_sequence": "{data_shard: 2, tensor: 2, zero: 1, sequence: true}",
}
SHOWN = ["model.embed_tokens.weight", "model.layers.0.input_layernorm.weight", "model.layers.0.mlp.gate_proj.weight",
         "model.layers.0.mlp.down_proj.weight", "boundary 0"]


class PlacementPictures(TrainingTest):
    def testEveryPictureOfTheDocsIsCurrent(self):
        for name, parallel in SCHEMES.items():
            with self.subTest(name):
                self.passes("weft", "compile", "run.yaml", "--set", f"parallel={parallel}", "--set", "train.micro_batch=1", "--draw",
                            f"{name}.svg", *(word for pattern in SHOWN for word in ("--match", pattern)))
                self.assertPicture(f"{name}.svg", f"{name}.svg")

    def testThePageShowsThemAll(self):
        with open(os.path.join(ROOT, "docs", "parallelism.md"), encoding="utf-8") as file:
            page = file.read()
        for name in SCHEMES:
            self.assertIn(f"](images/{name}.svg)", page)


if __name__ == "__main__":
    unittest.main()
