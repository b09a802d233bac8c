"""Documents that share samples: every packing trains, no document sees another, and `weft data show` says what a step reads."""

import json
import random

from test_train_mesh import MeshTest
from training import WORDS

#: Where the samples of a document lie on several ranks: each way to share a sequence, heads, layers.
MESHES = {
    "data": "{data_shard: 2, zero: 2}",
    "sequence": "{tensor: 2, sequence: true}",
    "gather": "{context: {size: 2, method: gather}}",
    "exchange": "{context: {size: 2, method: all_to_all}}",
    "ring": "{context: {size: 4, method: ring}}",
    "pipeline": "{pipeline: {size: 2}}",
    "both": "{pipeline: {size: 2}, context: {size: 2, method: ring}}",
}


class PackingTest(MeshTest):

    def setUp(self):
        super().setUp()
        words = random.Random(2)
        documents = [" ".join(words.choice(WORDS) for _ in range(words.randint(1, 12))) for _ in range(900)]
        self.write("corpus.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in documents))

    def packed(self, packing, *sets):
        return ("data.train=[{path: corpus.jsonl}]", f"data.packing={packing}", *sets)

    def step(self, number, *sets):
        """What `weft data show` says of a step."""
        words = [word for one in sets for word in ("--set", one)]
        return json.loads(self.passes("weft", "data", "show", "run.yaml", "--step", str(number), "--json", *words))


class Train(PackingTest):

    def testEveryPackingTrains(self):
        for packing in ("documents", "best_fit", "pad"):
            with self.subTest(packing):
                self.train(packing, *self.packed(packing))
                losses = self.losses(packing)
                self.assertLess(losses[-1], 0.8 * losses[0])
                for record in self.metrics(packing):
                    self.assertTrue(0 <= record["data_wait"] <= 1, record)

    def testDocumentsThatShareASampleAreAsGoodAsAlone(self):
        """All held-out documents, by almost untrained parameters: padded alone, or together in samples."""
        losses = []
        for packing in ("pad", "best_fit"):
            self.train(packing, *self.packed(packing, "train.steps=1", "lr_schedule.warmup_steps=0", "optimizer.lr=1e-12", "eval.batches=1000"))
            losses.append(self.metrics(packing)[-1]["val_loss"])
        self.assertAlmostEqual(1, losses[1] / losses[0], delta=1e-6)

    def testTheLossIsThatOfOneDeviceOnEveryMesh(self):
        self.train("one", *self.mesh("{}", *self.packed("best_fit")))
        for name, parallel in MESHES.items():
            with self.subTest(name):
                self.train(name, *self.mesh(parallel, *self.packed("best_fit")))
                self.assertSameCurve(self.losses("one"), self.losses(name))
                last, wanted = self.metrics(name)[-1], self.metrics("one")[-1]
                self.assertAlmostEqual(1, last["val_loss"] / wanted["val_loss"], delta=1e-4)

    def testAResumedRunReadsTheSameSamples(self):
        stages = ("data.stages=[{tokens: 1300, train: [{path: corpus.jsonl, weight: 3}, {path: corpus.txt, weight: 2}]}, "
                  "{train: [{path: corpus.txt}]}]", "data.packing=documents", "lr_schedule={kind: constant, warmup_steps: 2}")
        self.train("straight", *stages)
        self.train("twice", *stages, "train.steps=4")
        self.train("twice", *stages)
        self.assertEqual(self.losses("straight")[-8:], self.losses("twice")[-8:])
        self.assertEqual(self.stateBytes("straight", 12), self.stateBytes("twice", 12))

    def testAProgramThatCannotKeepDocumentsApartIsRefused(self):
        self.write("program.mlir", """\
nn.parameter @w : tensor<257xf32> normal {deviation = 0.5}
nn.step @step microbatches(2) inputs(["tokens"]) attributes {objective = "loss"}
  prepare { ^bb0(%t: tensor<2x4x32xi32>): nn.yield }
  microbatch { ^bb0(%t: tensor<4x32xi32>):
    %w = nn.read @w : tensor<257xf32>
    %x = nn.gather %w, %t : (tensor<257xf32>, tensor<4x32xi32>) -> tensor<4x32xf32>
    %loss = nn.reduce sum %x [0, 1] : tensor<4x32xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
""")
        program = ("model={program: program.mlir}", "data.validation_fraction=0", "train.steps=2")
        done = self.command(*self.training("a", *self.packed("documents", *program)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("program 'step' has no input 'segments', and several documents share a sample", done.stderr)
        self.train("b", *self.packed("pad", *program))


class Show(PackingTest):

    def testWhatAStepReads(self):
        for packing in ("documents", "best_fit", "pad"):
            with self.subTest(packing):
                shown = self.step(3, *self.packed(packing))
                self.assertEqual([sample["sample"] for sample in shown["samples"]], list(range(16, 24)))
                self.assertEqual([sample["microbatch"] for sample in shown["samples"]], [0] * 4 + [1] * 4)
                for sample in shown["samples"]:
                    self.holdTogether(sample)

    def holdTogether(self, sample):
        """A sample's documents are its segments, and its targets the tokens behind them."""
        tokens, targets = sample["tokens"], sample["targets"]
        for document in sample["documents"]:
            begin, end = document["begin"], document["begin"] + document["tokens"]
            self.assertEqual(sample["segments"][begin:end], [document["segment"]] * document["tokens"])
            self.assertEqual(sample["positions"][begin:end], list(range(document["tokens"])))
            self.assertEqual(targets[begin:end - 1], tokens[begin + 1:end])
            self.assertEqual(document["text"].encode(), bytes(token for token in tokens[begin:end] if token < 256))
            if tokens[end - 1] == 256:
                self.assertEqual(targets[end - 1], -100)
        self.assertEqual(sample["loss_mask"], [int(target != -100) for target in targets])
        padding = [place for place, segment in enumerate(sample["segments"]) if segment == 0]
        self.assertTrue(all(targets[place] == -100 for place in padding))

    def testTheSamplesDoNotDependOnTheMesh(self):
        one = self.step(2, *self.packed("best_fit"))
        two = self.step(2, *self.packed("best_fit", "parallel.data_shard=2", "train.micro_batch=2"))
        keys = ("sample", "tokens", "targets", "segments", "positions")
        self.assertEqual([[sample[key] for key in keys] for sample in one["samples"]],
                         [[sample[key] for key in keys] for sample in two["samples"]])
        self.assertEqual([sample["data_rank"] for sample in two["samples"]], [0] * 4 + [1] * 4)

    def testForPeople(self):
        printed = self.passes("weft", "data", "show", "run.yaml", "--step", "3", "--microbatch", "1",
                              *[word for one in self.packed("best_fit") for word in ("--set", one)])
        self.assertIn("step 3: samples 20 to 23\n", printed)
        self.assertRegex(printed, r"(?m)^sample 20 \(data rank 0, microbatch 1\): .*corpus.*, epoch 0$")
        self.assertRegex(printed, r"(?m)^  segment 1: tokens 0 to \d+, positions 0 to \d+; document \d+, ")
        self.assertIn("its last token has no target\n", printed)

    def testStages(self):
        stages = "data.stages=[{tokens: 300, train: [{path: corpus.jsonl}]}, {train: [{path: corpus.txt}]}]"
        shown = self.step(2, stages)
        self.assertEqual([sample["stage"] for sample in shown["samples"]], [0, 0] + [1] * 6)  # 300 tokens: 10 samples of 32
        self.assertTrue(all(("jsonl" in sample["data"]) == (sample["stage"] == 0) for sample in shown["samples"]), shown)

    def testWhatThereIsNotIsRefused(self):
        for words, message in ((("--step", "13"), "--step 13: the run has steps 1 to 12"),
                               (("--step", "1", "--microbatch", "2"), "--microbatch 2: a data rank has microbatches 0 to 1 in a step")):
            done = self.command("weft", "data", "show", "run.yaml", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
