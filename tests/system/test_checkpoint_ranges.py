"""What loading on another mesh reads: the blocks of files that the slices of a rank touch, and no others.

What a rank has is computed here anew from what a checkpoint of its mesh says of placements; which blocks hold it, from the
manifest of the checkpoint that it loads.
"""

import glob
import json
import os
import re
import unittest

from harness import SystemTest

RUN = """\
model:       {family: llama, hidden_size: 256, num_hidden_layers: 1, num_attention_heads: 4, num_key_value_heads: 4,
              intermediate_size: 4096, vocab_size: 8192, max_position_embeddings: 64}
data:        {train: [{path: corpus.txt}], sequence_length: 32, validation_fraction: 0}
optimizer:   {kind: adamw, lr: 1.0e-3}
train:       {steps: 1, micro_batch: 1, global_batch: 4, seed: 1}
launch:      {threads: 1}
checkpoint:  {interval: 0}
"""
MESHES = {"one": "{data_shard: 1}", "sharded": "{data_shard: 4, zero: 3}", "tensor": "{data_shard: 2, zero: 1, tensor: 2}"}
BYTES = {"f32": 4, "i64": 8}


def coordinates(mesh, rank):
    """Of a rank, by axis; the first axis is the outermost."""
    result = {}
    for name, size in reversed(mesh):
        result[name] = rank % size
        rank //= size
    return result


def partOf(length, axes, mesh, at):
    """(first element, elements) of a dimension that these axes split, the first outermost, each by ceiling division."""
    first, size, end = 0, length, length
    for axis in axes:
        size = -(-size // dict(mesh)[axis])
        first += size * at[axis]
        end = min(end, first + size)
    return min(first, length), max(end - first, 0)


def ranges(width, piece, wanted):
    """Byte ranges of the file that hold what a slice [(first, elements)] shares with a piece."""
    shared = [(max(a, c), min(a + b, c + d)) for (a, b), c, d in zip(wanted, piece["offset"], piece["size"])]
    if any(begin >= end for begin, end in shared):
        return
    rows = [0]
    for (begin, end), offset, size in zip(shared[:-1], piece["offset"], piece["size"]):
        rows = [row * size + index - offset for row in rows for index in range(begin, end)]
    last = (shared[-1][0] - piece["offset"][-1], shared[-1][1] - piece["offset"][-1], piece["size"][-1]) if shared else (0, 1, 1)
    for row in rows:
        yield piece["begin"] + (row * last[2] + last[0]) * width, piece["begin"] + (row * last[2] + last[1]) * width


def touched(saved, target, rank):
    """Bytes of the blocks of a checkpoint that a rank of another's mesh needs; and the bytes that it has of the tensors."""
    mesh = [(name, int(size)) for name, size in re.findall(r"(\w+) = (\d+)", target["text"].get("mesh", ""))]
    at = coordinates(mesh, rank)
    placements = {tensor["name"]: tensor["placement"] for tensor in target["tensors"]}
    block, blocks, held = saved["block_bytes"], set(), 0
    for tensor in saved["tensors"]:
        axes = [re.findall(r"\w+", dimension) for dimension in re.findall(r"\[(.*?)\]", placements[tensor["name"]])]
        axes = axes or [[] for _ in tensor["shape"]]
        wanted = [partOf(length, splits, mesh, at) for length, splits in zip(tensor["shape"], axes)]
        width = BYTES[tensor["dtype"]]
        for piece in tensor["pieces"]:
            for begin, end in ranges(width, piece, wanted):
                held += end - begin
                blocks.update((piece["file"], number) for number in range(begin // block, (end - 1) // block + 1))
    sizes = {file["name"]: file["bytes"] for file in saved["files"]}
    return sum(min(block, sizes[file] - number * block) for file, number in blocks), held


class CheckpointRanges(SystemTest):

    def setUp(self):
        super().setUp()
        self.write("run.yaml", RUN)
        self.write("corpus.txt", "the cat sat on a mat and the dog ran over it. " * 400)

    def train(self, name, mesh, *overrides):
        self.passes("weft", "train", "run.yaml", "--name", name, "--set", f"parallel={MESHES[mesh]}", *overrides)

    def manifest(self, name, step):
        return json.loads(self.read(f"runs/{name}/checkpoints/step-{step}/manifest.json"))

    def holdsTo(self, first, second):
        """Saves on one mesh, goes on on another; returns the share of the files that each rank read."""
        name = f"{first}-{second}"
        self.train(name, first)
        saved = self.manifest(name, 1)
        self.train(name, second, "--set", "train.steps=2")
        target = self.manifest(name, 2)
        size = sum(file["bytes"] for file in saved["files"])
        read = []
        for log in glob.glob(os.path.join(self.folder, "runs", name, "log*.txt")):
            with open(log, encoding="utf-8") as file:
                read += [(int(of), int(held)) for of, held in re.findall(r"read (\d+) bytes for (\d+) bytes of state", file.read())]
        self.assertEqual(sorted(read), sorted(touched(saved, target, rank) for rank in range(len(read))), name)
        self.assertEqual(len(read), 1 if second == "one" else 4)
        return [of / size for of, _ in read]

    def testARankOfFourReadsItsPartOfWhatOneSaved(self):
        for share in self.holdsTo("one", "sharded"):
            self.assertLess(share, 0.5)  # a quarter, and what lies beside each slice in its blocks; whole pieces are 1

    def testOneReadsAllThatFourSaved(self):
        self.assertEqual(self.holdsTo("sharded", "one"), [1.0])

    def testColumnsAreReadFromTheBlocksThatHoldThem(self):
        self.holdsTo("sharded", "tensor")

    def testTensorShardsGoBackToRows(self):
        self.holdsTo("tensor", "sharded")

    def testTheSameMeshReadsItsOwnFilesAndWhatEachRankHas(self):
        self.assertLess(max(self.holdsTo("tensor", "tensor")), 0.75)


if __name__ == "__main__":
    unittest.main()
