"""Element-wise regions as machine code, by blocks, or operation by operation: the same run, to the last bit."""

import re

from training import TrainingTest


class Fusion(TrainingTest):
    def explained(self, *sets):
        return self.passes("weft", "compile", "run.yaml", "-o", "run.weft", "--explain", "fusion",
                           *[word for one in sets for word in ("--set", one)])

    def testHowRegionsRunChangesNoBit(self):
        self.train("generated")
        for name, *sets in (("blocks", "launch.fusion=blocks"), ("off", "launch.fusion=off"),
                            ("threads", "launch.threads=1")):
            self.train(name, *sets)
            self.assertSameRun("generated", name)

    def testNorUnderBfloat16(self):
        self.train("generated", "precision.recipe=bf16")
        self.train("off", "precision.recipe=bf16", "launch.fusion=off")
        self.assertSameRun("generated", "off")

    def testNorOfNormsThatAreRegions(self):
        """Their rows have 64 elements here: the others run the kernels."""
        wide = "model.hidden_size=64"
        self.assertRegex(self.explained(wide), r"rms_norm +0 kernels +[1-9]")
        for name, *sets in (("generated",), ("blocks", "launch.fusion=blocks"), ("off", "launch.fusion=off")):
            self.train(name, wide, *sets)
            self.assertRegex(self.explained(wide, "launch.fusion=off"), r"rms_norm +[1-9]\d* kernels +0 decompositions")
            self.assertSameRun("generated", name)

    def testNorOnVirtualRanks(self):
        self.train("generated", "parallel.tensor=2", "parallel.data_shard=2")
        self.train("blocks", "parallel.tensor=2", "parallel.data_shard=2", "launch.fusion=blocks")
        self.assertSameRun("generated", "blocks")

    def testExplainSaysWhatRegionsSave(self):
        said = self.explained()
        regions, generated = map(int, re.search(
            r"program step: \d+ commands, (\d+) of them element-wise regions, (\d+) of these generated", said).groups())
        self.assertGreater(generated, regions // 2)
        alone, fused = map(float, re.search(
            r"MiB read and written by their ops alone: ([0-9.]+), as regions: ([0-9.]+)", said).groups())
        self.assertGreater(alone, 2 * fused)
        self.assertRegex(said, r"(?m)^ +\d+ +18 +\d+ +[0-9.]+ +[0-9.]+  generated  model\.layers\.0\.mlp\.gate_proj\.weight$")
        self.assertRegex(said, r"(?m)^ +\d+  einsum reads in between$")

    def testWithoutRegionsNothingIsGenerated(self):
        self.assertRegex(self.explained("launch.fusion=blocks"), r"element-wise regions, 0 of these generated")
        said = self.explained("launch.fusion=off")
        self.assertRegex(said, r"(?m)^ +\d+  more than 1 instruction$")
        self.assertNotRegex(said, r"generated$")
