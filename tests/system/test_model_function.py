"""A model's function as IR: `weft model function` prints it, `model.program` trains it, changed or not."""

import os

from training import RUN, TrainingTest

# Of each family what its block adds, small; dropout and documents too.
FAMILIES = {
    "llama": "",
    "mistral": "sliding_window: 8",
    "qwen2": "tie_word_embeddings: true",
    "qwen3": "head_dim: 8",
    "gemma2": "head_dim: 8, sliding_window: 8, attn_logit_softcapping: 5.0, final_logit_softcapping: 8.0",
    "gemma3_text": "head_dim: 8, sliding_window: 8",
    "olmo2": "num_key_value_heads: 2",
    "gpt2": "intermediate_size: 48, embd_pdrop: 0.1, resid_pdrop: 0.1, attn_pdrop: 0.0",
}
SIZES = "hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 2, vocab_size: 257, max_position_embeddings: 32"


def model(family, program=None):
    """Overrides that make it the run's model, or a file that it was printed to."""
    if program:
        return f"model={{program: {program}}}"
    more = [SIZES, FAMILIES[family]]
    if family != "gpt2":
        more.insert(1, "intermediate_size: 48")
        if "num_key_value_heads" not in FAMILIES[family]:
            more.insert(1, "num_key_value_heads: 1")
    return f"model={{family: {family}, {', '.join(part for part in more if part)}}}"


class ModelFunctionTest(TrainingTest):
    """The run file says nothing of the model."""

    def setUp(self):
        super().setUp()
        self.write("run.yaml", RUN[RUN.index("tokenizer:"):])

    def printed(self, family, file, *sets):
        """Writes the function of a family's model."""
        words = [word for one in (model(family), *sets) for word in ("--set", one)]
        self.write(file, self.passes("weft", "model", "function", "run.yaml", *words))

    def assertSameCurve(self, one, other):
        """Losses of one program on two meshes: sums of float32 in another order."""
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertLess(abs(a - b), 1e-5 * a)


class Families(ModelFunctionTest):

    def testThePrintedFunctionIsTheFamily(self):
        """To the last bit: losses, validation, and all parameters and moments."""
        for family in FAMILIES:
            with self.subTest(family):
                short = ("train.steps=3", "checkpoint.interval=3", "eval.interval=3")
                self.printed(family, "model.mlir")
                self.train(f"{family}-built", model(family), *short)
                self.train(f"{family}-read", model(family, "model.mlir"), *short)
                self.assertEqual(self.losses(f"{family}-built"), self.losses(f"{family}-read"))
                built, read = self.metrics(f"{family}-built")[-1], self.metrics(f"{family}-read")[-1]
                self.assertEqual(built["val_loss"], read["val_loss"])
                self.assertEqual(self.stateBytes(f"{family}-built", 3), self.stateBytes(f"{family}-read", 3))

    def testDocumentsThatShareASample(self):
        documents = ("data.packing=documents", "train.steps=3", "checkpoint.interval=3", "eval.interval=0")
        self.printed("qwen3", "model.mlir", *documents)
        self.train("built", model("qwen3"), *documents)
        self.train("read", model("qwen3", "model.mlir"), *documents)
        self.assertEqual(self.losses("built"), self.losses("read"))
        self.assertEqual(self.stateBytes("built", 3), self.stateBytes("read", 3))


class Changed(ModelFunctionTest):
    """Another activation and a scale on logits: a change of a line, and one of three."""

    def setUp(self):
        super().setUp()
        self.printed("llama", "model.mlir")
        text = self.read("model.mlir")
        end = next(line for line in text.splitlines() if line.strip().startswith("return"))
        states = end.split()[1].rstrip(",")
        scaled = (f"  %factor = nn.constant dense<0.5> : tensor<4x32x32xf32>\n"
                  f"  %scaled = nn.multiply {states}, %factor : tensor<4x32x32xf32>\n")
        self.write("changed.mlir", text.replace("nn.glu silu", "nn.glu gelu").replace(end, scaled + end.replace(states, "%scaled")))
        self.changed = model("llama", "changed.mlir")

    def testTheCurveIsTheSameOnEveryMesh(self):
        self.train("family", model("llama"))
        self.train("one", self.changed)
        one = self.losses("one")
        self.assertNotEqual(self.losses("family"), one)
        self.assertLess(one[-1], one[0] - 1)
        for name, parallel in (("tensor", "parallel={data_shard: 2, tensor: 2, zero: 1}"),
                               ("sharded", "parallel={data_shard: 4, zero: 3}"),
                               ("context", "parallel={context: {size: 2}}"),
                               ("ring", "parallel={context: {size: 2, method: ring}}"),
                               ("pipeline", "parallel={data_shard: 2, pipeline: {size: 2}}")):
            with self.subTest(name):
                micro = "train.micro_batch=1" if "4" in parallel else "train.micro_batch=2"
                self.train(name, self.changed, parallel, micro)
                self.assertSameCurve(one, self.losses(name))

    def testTheMicroBatchIsTheRuns(self):
        """The function is written for 4 samples."""
        self.train("four", self.changed)
        for size in (1, 2, 8):
            self.train(str(size), self.changed, f"train.micro_batch={size}")
            self.assertSameCurve(self.losses("four"), self.losses(str(size)))

    def testItGeneratesAndEvaluates(self):
        self.train("changed", self.changed)
        self.assertIn("validation", self.passes("weft", "eval", "runs/changed"))
        self.train("family", model("llama"))
        self.train("read", model("llama", "model.mlir"))
        # More than the window of 32: without caches a window is computed for each token, and the text is the same.
        written = [self.passes("weft", "generate", f"runs/{name}", "--prompt", "the cat", "--tokens", "60", "--temperature", "0") for name in ("family", "read")]
        self.assertEqual(*written)

    def testAResumedRunNamesTheChange(self):
        self.train("run", model("llama", "model.mlir"), "train.steps=4")
        line = next(number for number, text in enumerate(self.read("model.mlir").splitlines(), 1) if "nn.glu silu" in text)
        self.write("model.mlir", self.read("changed.mlir"))
        printed = self.train("run", model("llama", "model.mlir"))
        self.assertRegex(printed, f"resume: model.program: line {line} of .*/model.mlir is not what it was "
                                  r"\(.*/program/model.mlir\): training goes on with the changed model")
        self.assertEqual(self.read("runs/run/program/model.mlir"), self.read("changed.mlir"))
        self.assertNotIn("model.program", self.train("run", model("llama", "model.mlir"), "train.steps=13"))

    def testTheExecutableNeedsNothingElse(self):
        self.train("read", self.changed)
        self.passes("weft", "compile", "run.yaml", "--set", self.changed, "-o", "job.weft")
        os.remove(os.path.join(self.folder, "changed.mlir"))
        self.passes("weft", "train", "job.weft", "--name", "executable")
        self.assertEqual(self.losses("read"), self.losses("executable"))

    def testAFamilysWeightsAreItsStart(self):
        """Parameters have the family's names, so a checkpoint of it is a checkpoint of the changed model."""
        self.train("family", model("llama"))
        self.train("tuned", self.changed, "checkpoint.initial_load_path=runs/family")
        self.assertLess(self.losses("tuned")[0], self.losses("family")[0] - 1)

    def testItIsNoModelOfAFamily(self):
        self.refuses(2, "is the program itself. Works: a run file with model.family", "weft", "model", "function", "run.yaml", "--set",
                     self.changed)
        printed = self.passes("weft", "model", "show", "run.yaml", "--set", self.changed)
        self.assertIn("parameters in 21 tensors", printed)
