"""weft compile --explain placement and --draw: where everything lives, what decided it, what moves, as a table and a picture."""

import re
import unittest

from training import TrainingTest

MESH = ["--set", "parallel={data_shard: 2, tensor: 2, zero: 1, sequence: true}", "--set", "train.micro_batch=2"]


class ExplainPlacement(TrainingTest):
    def setUp(self):
        super().setUp()
        self.table = self.passes("weft", "compile", "run.yaml", "--explain", "placement", *MESH)

    def line(self, *parts):
        found = [line for line in self.table.splitlines() if all(part in line for part in parts)]
        self.assertTrue(found, f"{parts} is in no line of\n{self.table}")
        return found[0]

    def testAVariableHasAStorageAndAUse(self):
        self.assertRegex(self.line("model.layers.0.mlp.gate_proj.weight", "tensor<64x32xf32>"), r"\[t0, d0\] \[\] +\[t0\] \[\]")
        self.assertRegex(self.line("optimizer.first_moment.model.norm.weight"), r"\[d0\] *$")

    def testAValueSaysWhichSeedsSplitIt(self):
        line = self.line("microbatch", "nn.rms_norm", "model.layers.1.input_layernorm")
        self.assertIn("[d0] from input tokens, [t0] from boundary 1", line)
        self.assertIn("[t0] from the use of model.layers.0.mlp.down_proj.weight", self.line("nn.einsum", "at model.layers.0.mlp.down_proj"))

    def testReshardsAreListedByBytesTheCostlyFirst(self):
        block = self.table.split("reshards: ")[1].split("values: ")[0]
        bytesMoved = [int(line.split()[0]) for line in block.splitlines()[1:]]
        self.assertGreater(len(bytesMoved), 10)
        self.assertEqual(bytesMoved, sorted(bytesMoved, reverse=True))
        # 4 samples x 32 positions x 32 wide in float32, half of it on this data rank, half of that sent.
        line = self.line("microbatch", "sum [t0] -> [d0] [t0] []", "at model.layers.0.self_attn.o_proj")
        self.assertEqual(line.split()[0], str(4 * 32 * 32 * 4 // 2 // 2))
        self.assertIn("(reduce_scatter [t0])", line)

    def work(self, parallel):
        """Of the forward attention of both layers: FLOPs of the ranks with least and most to do, and most over the mean."""
        table = self.passes("weft", "compile", "run.yaml", "--explain", "placement", "--set", f"parallel={parallel}")
        found = re.search(r"^ +(\d+) x nn\.attention +tensor<4x32x2x16xf32> .* least (\d+), most (\d+): ([\d.]+) % over the mean$", table, re.MULTILINE)
        self.assertTrue(found, table)
        return int(found[1]), int(found[2]), int(found[3]), float(found[4])

    def testRanksInZigzagHaveAttentionWorkWithinTwoPercent(self):
        ops, least, most, over = self.work("{context: {size: 4, method: gather}}")
        self.assertEqual(2 * 2, ops, "two layers of the step and of evaluate")
        self.assertLessEqual(most, 1.02 * least)
        self.assertLessEqual(over, 2)
        # Two heads of four samples; 32 x 33 / 2 pairs, of which each of four ranks has a quarter; 2 x 16 + 2 x 16 + 5 FLOPs.
        self.assertEqual(4 * 2 * (32 * 33 // 2) // 4 * (2 * 16 + 2 * 16 + 5), most)
        self.assertEqual(least, most)

    def testOneRankHasNothingToExplain(self):
        self.assertEqual(self.passes("weft", "compile", "run.yaml", "--explain", "placement"),
                         "placement: one rank holds everything (parallel: has no size over 1)\n")

    def testAPictureShowsEachRanksPart(self):
        self.passes("weft", "compile", "run.yaml", "--draw", "placement.svg", "--match", "model.norm.weight", *MESH)
        picture = self.read("placement.svg")
        self.assertIn("model.norm.weight", picture)
        self.assertNotIn("lm_head", picture)
        # Stored in halves over d0, used whole, gradients pending everywhere: tiles and parts of four ranks, three times.
        self.assertEqual(len(re.findall("<rect", picture)), 3 * 4 * 2)
        self.assertEqual(picture.count(">+</text>"), 4)
        self.assertEqual(self.command("weft", "compile", "run.yaml", "--match", "*").returncode, 2)


if __name__ == "__main__":
    unittest.main()
