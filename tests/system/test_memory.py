"""The plan of memory: gradients lie where activations were, as far as the order of runs allows; what is planned is allocated,
and no bit of a run depends on what shares bytes with what."""

import re

from training import TrainingTest

#: Samples of 4 in a step: gradients of one microbatch are there from the backward on, of three in the whole step.
ONE, THREE = ("train.global_batch=4",), ("train.global_batch=12",)
#: A layer of its own for each rank beside embedding and head.
PIPELINES = {"no pipeline": None, "1f1b": "{size: 2, schedule: 1f1b, layout: E t | t L}",
             "zb_h1": "{size: 2, schedule: zb_h1, layout: E t | t L}"}


class Region(TrainingTest):
    def explain(self, *sets):
        return self.passes("weft", "compile", "run.yaml", "--explain", "memory", *(word for one in sets for word in ("--set", one)))

    def bytes(self, text, category):
        found = re.search(rf"(?m)^  {category} +(\d+) bytes", text)
        return int(found[1]) if found else 0

    def all(self, text):
        return int(re.search(r"known before the job starts \((\d+) bytes\)", text)[1])

    def testGradientsOfOneMicrobatchAppearWhereActivationsWere(self):
        wide = ("model.vocab_size=257", "model.intermediate_size=512", "data.sequence_length=32")
        one, three = self.explain(*wide, *ONE), self.explain(*wide, *THREE)
        gradients = self.bytes(three, "gradients")
        self.assertGreaterEqual(gradients, self.bytes(three, "parameters"))
        self.assertLess(self.bytes(one, "gradients") + self.bytes(one, "activations"),
                        gradients + self.bytes(three, "activations") - gradients // 3)

    def testThePlanComesCloseToWhatNoOffsetsGoBelow(self):
        for sets in (ONE, THREE, (*THREE, "precision.recipe=bf16"), (*THREE, "train.reduction=canonical"),
                     (*ONE, "parallel={data_shard: 2, zero: 3}", "train.micro_batch=2")):
            with self.subTest(sets):
                text = self.explain(*sets)
                bound, ratio = re.search(r"lower bound: .*?\((\d+) bytes\), .* the plan is ([\d.]+) of it", text).groups()
                self.assertLessEqual(int(bound), self.all(text))
                self.assertEqual(f"{self.all(text) / int(bound):.3f}", ratio)
                self.assertLessEqual(float(ratio), 1.05)

    def testPlannedIsAllocatedAndAPipelineChangesNoBit(self):
        for microbatches, sets in (("one", ONE), ("three", THREE)):
            for name, pipeline in PIPELINES.items():
                with self.subTest(f"{microbatches} microbatches, {name}"):
                    run = f"{microbatches} {name}".replace(" ", "-")
                    mesh = (f"parallel.pipeline={pipeline}",) if pipeline else ()
                    printed = self.train(run, *sets, *mesh, "train.steps=4", "checkpoint.interval=0")
                    allocated, planned = re.search(r"allocated ([\d,]+) of ([\d,]+) bytes planned", printed).groups()
                    self.assertEqual(allocated, planned)
                    self.assertEqual(self.losses(f"{microbatches}-no-pipeline"), self.losses(run))
