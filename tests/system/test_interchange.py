"""Models from and for the rest of the world: weft ckpt import, export and diff and checkpoint.initial_load_path against
folders that Hugging Face transformers writes and loads."""

import json
import os
import re
import resource
import struct
import subprocess

from harness import BUILD, ROOT
from training import TrainingTest

PEERS = os.path.join(ROOT, ".cache", "peers", "bin", "python")
SIDE = os.path.join(ROOT, "tests", "system", "huggingface.py")

#: A run whose model is that of the folder `hf`. AdamW with an epsilon that does not amplify rounding.
RUN = """\
model:       {from: hf/config.json}
tokenizer:   {kind: bytes}
data:        {train: [{path: corpus.txt}], validation_fraction: 0, sequence_length: 32}
optimizer:   {kind: adamw, lr: 1.0e-2, betas: [0.9, 0.95], epsilon: 1.0e-3, weight_decay: 0.1, clip_grad_norm: 0}
lr_schedule: {kind: constant}
train:       {steps: 4, micro_batch: 2, global_batch: 8, seed: 1}
checkpoint:  {interval: 0, initial_load_path: imported}
"""
OPTIMIZER = {"lr": 1e-2, "betas": [0.9, 0.95], "epsilon": 1e-3, "weight_decay": 0.1}
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "olmo2", "gpt2")
MESHES = {
    "one": "{}",
    "sharded": "{data_shard: 2, zero: 3, tensor: 2}",
    "pipeline": "{data_shard: 2, pipeline: {size: 2}}",
}
UPDATE_ERROR = 1e-5  # float32 against float64, by the norms of the design
SMALLEST_EFFECT = 1e-3  # of a feature on the logits


class Interchange(TrainingTest):
    def setUp(self):
        super().setUp()
        subprocess.run([os.path.join(ROOT, "benchmarks", "peers", "setup.sh")], check=True, stdout=subprocess.DEVNULL)
        self.write("run.yaml", RUN)

    def transformers(self, command, *calls):
        """The answers of huggingface.py to a command, one for each of its arguments."""
        printed = self.passes(PEERS, SIDE, command, json.dumps(calls), timeout=600, env=self.environment(HF_HUB_OFFLINE="1"))
        return json.loads(printed.splitlines()[-1])

    def make(self, family="llama", folder="hf", **options):
        return self.transformers("make", {"folder": self.path(folder), "family": family, **options})[0]

    def assertSameLogits(self, a="hf", b="exported"):
        compared = self.transformers("compare", {"a": self.path(a), "b": self.path(b)})[0]
        self.assertEqual(compared["difference"], 0)
        self.assertGreater(compared["size"], 0.1)
        return compared["type"]

    def configure(self, folder="hf", **model):
        """Writes run.yaml, whose model is that of a folder, but for these keys."""
        keys = "".join(f", {key}: {value}" for key, value in model.items())
        self.write("run.yaml", RUN.replace("hf/config.json", f"{folder}/config.json{keys}"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def imports(self, *options, source="hf", output="imported"):
        return self.passes("weft", "ckpt", "import", source, "--config", "run.yaml", "-o", output, *options)

    def exports(self, *options, source="imported", output="exported"):
        return self.passes("weft", "ckpt", "export", source, "-o", output, *options)

    def bytesOf(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


class RoundTrips(Interchange):
    def testEveryFamilyComesBackAsItWas(self):
        self.transformers("make", *({"folder": self.path(family), "family": family} for family in FAMILIES))
        for family in FAMILIES:
            with self.subTest(family):
                self.configure(family)
                imported, exported, again = (f"{family}-{what}" for what in ("imported", "exported", "again"))
                self.imports(source=family, output=imported)
                self.exports(source=imported, output=exported)
                self.imports(source=exported, output=again)
                self.assertEqual(self.bytesOf(f"{imported}/rank-00000.safetensors"), self.bytesOf(f"{again}/rank-00000.safetensors"))
                self.assertIn("equal: every bit", self.passes("weft", "ckpt", "diff", imported, exported))
                self.assertIn("equal: every bit", self.passes("weft", "ckpt", "diff", family, exported))
        compared = self.transformers("compare", *({"a": self.path(family), "b": self.path(f"{family}-exported")} for family in FAMILIES))
        for family, answer in zip(FAMILIES, compared, strict=True):
            with self.subTest(family):
                self.assertEqual(answer["difference"], 0)
                self.assertGreater(answer["size"], 0.1)

    def testTypesOfOtherWidths(self):
        for dtype, narrow in (("bfloat16", "bf16"), ("float16", "f16"), ("float64", "f32")):
            with self.subTest(dtype):
                self.passes("rm", "-rf", "hf", "imported", "exported")
                self.make(dtype=dtype)
                self.assertIn(", rounded to the nearest value" if dtype == "float64" else " becomes f32, exactly", self.imports())
                self.exports("--dtype", narrow)
                self.assertEqual(self.assertSameLogits(), "torch." + ("float32" if dtype == "float64" else dtype))

    def testBfloat16RoundsAsTorchDoes(self):
        self.make()
        self.imports()
        self.assertRegex(self.exports("--dtype", "bf16"), r"\d elements were rounded to bf16")
        self.make(folder="rounded", dtype="bfloat16")
        self.assertIn("equal: every bit", self.passes("weft", "ckpt", "diff", "rounded", "exported"))

    def testSeveralFilesBothWays(self):
        self.assertIn("model.safetensors.index.json", self.make(shard="20KB"))
        self.imports()
        self.assertRegex(self.exports("--shard-size", "20KB"), r"bytes in \d files -> exported")
        self.assertSameLogits()

    def testAPaddedVocabulary(self):
        self.make()
        self.configure(vocab_size=264)
        self.assertIn("the vocabulary has 257 rows in the folder and 264 in the model: the others are 0", self.imports())
        self.exports("--vocab-size", "257")
        self.assertSameLogits()

    def testWhatTheConfigSaysOtherwiseIsTold(self):
        self.make()
        self.configure(rms_norm_eps=1.0e-5)
        done = self.command("weft", "ckpt", "import", "hf", "--config", "run.yaml", "-o", "imported")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("model.rms_norm_eps is 1e-05 in run.yaml and 1e-06 in hf/config.json", done.stderr)

    def testAnotherModelIsRefused(self):
        self.make()
        self.configure(intermediate_size=48)
        self.refuses(4, "model.layers.0.mlp.gate_proj.weight: tensor<48x24xf32> in the model, 32x24 F32 in the folder",
                     "weft", "ckpt", "import", "hf", "--config", "run.yaml", "-o", "imported")
        self.assertFalse(os.path.exists(self.path("imported")))


class Training(Interchange):
    """From the same weights on three meshes, and in float64 by torch."""

    def batches(self):
        """The batches of the run's first steps, as a file."""
        self.passes("weft", "compile", "run.yaml", "-o", "one.weft")
        self.passes(os.path.join(BUILD, "tests", "parity", "weft-export-run"), "one.weft", "4", "batches.safetensors")
        return self.path("batches.safetensors")

    def testEveryFeatureMattersInWhatIsTrained(self):
        self.transformers("make", *({"folder": self.path(family), "family": family} for family in FAMILIES))
        calls = ({"folder": self.path(family), "family": family} for family in FAMILIES)
        for family, effects in zip(FAMILIES, self.transformers("effects", *calls), strict=True):
            self.assertTrue(effects)
            for feature, effect in effects.items():
                with self.subTest(family, feature=feature):
                    self.assertGreater(effect, SMALLEST_EFFECT)

    def testTrainedOnThreeMeshesAndExportedItIsWhatTorchTrains(self):
        self.transformers("make", *({"folder": self.path(family), "family": family} for family in FAMILIES))
        losses, calls, batches = {}, [], None
        for family in FAMILIES:
            self.configure(family)
            batches = batches or self.batches()  # which do not depend on the model
            self.imports(source=family, output=f"{family}-imported")
            folders = {}
            for mesh, parallel in MESHES.items():
                name = f"{family}-{mesh}"
                printed = self.train(name, f"parallel={parallel}", f"checkpoint.initial_load_path={family}-imported")
                self.assertIn(f"starting from: {self.path(family)}-imported", printed)
                self.exports(source=f"runs/{name}", output=name)
                folders[mesh], losses[name] = self.path(name), self.losses(name)
            calls.append({"family": family, "start": self.path(family), "folders": folders, "batches": batches, "optimizer": OPTIMIZER})
        for family, result in zip(FAMILIES, self.transformers("updates", *calls), strict=True):
            self.assertGreater(result["moved"], 0.01)
            for mesh in MESHES:
                with self.subTest(family, mesh=mesh):
                    self.assertLess(result[mesh][0], UPDATE_ERROR, result[mesh])
                    for expected, actual in zip(result["losses"], losses[f"{family}-{mesh}"], strict=True):
                        self.assertAlmostEqual(1, actual / expected, delta=1e-6)

    def testAFolderItselfIsAStart(self):
        self.make()
        self.imports()
        self.train("imported")
        printed = self.train("folder", "checkpoint.initial_load_path=hf", "parallel={tensor: 2}")
        self.assertIn(f"starting from: {self.path('hf')}", printed)
        self.train("other", "parallel={tensor: 2}")
        self.assertEqual(self.losses("folder"), self.losses("other"))

    def testAResumedRunDoesNotReadIt(self):
        self.make()
        self.imports()
        self.train("a", "train.steps=2")
        self.passes("rm", "-r", "imported")
        self.assertIn("checkpoint.initial_load_path is not read: the run goes on from runs/a/checkpoints/step-2", self.train("a"))

    def testARunIsAStart(self):
        self.make()
        self.imports()
        self.train("a")
        self.train("b", "checkpoint.initial_load_path=runs/a", "optimizer.kind=sgd", "optimizer.lr=0")
        done = self.command("weft", "ckpt", "diff", "runs/a", "runs/b")
        self.assertNotIn("  model.", done.stdout)  # parameters alone are equal
        self.assertNotIn("  lm_head", done.stdout)

    def testWhatDoesNotFitIsRefused(self):
        self.make()
        self.imports()
        self.refuses(4, "model.embed_tokens.weight: tensor<280x24xf32> in the program, tensor<257x24xf32> in the checkpoint",
                     *self.training("a", "model.vocab_size=280"))
        self.refuses(4, "nowhere: no such checkpoint. Check the path.", *self.training("b", "checkpoint.initial_load_path=nowhere"))


class Formats(Interchange):
    TYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "uint16", "uint32", "uint64",
             "complex64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")

    def testFilesOfThePackageAreReadWhateverTheirTypes(self):
        self.passes("mkdir", "hf", "other")
        self.transformers("write", {"path": self.path("hf/model.safetensors"), "dtypes": self.TYPES})
        self.passes("cp", "hf/model.safetensors", "other")
        printed = self.passes("weft", "ckpt", "inspect", "hf")
        for dtype in ("F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL", "U16", "U32", "U64", "C64", "F8_E4M3", "F8_E5M2",
                      "F8_E8M0"):
            self.assertIn(f" 4x3 {dtype} ", printed)
        self.assertIn(f"equal: every bit of {len(self.TYPES)} tensors", self.passes("weft", "ckpt", "diff", "hf", "other"))

    def testThePackageReadsFilesOfEveryTypeThatThereIs(self):
        """The ends of each type and a fraction, written by weft-run."""
        values = {"i1": ("bool", "true, false, true"), "i32": ("int32", "-2147483648, -1, 2147483647"),
                  "i64": ("int64", "-9007199254740992, -1, 9007199254740992"), "f16": ("float16", "-65504.0, 0.00006103515625, 0.333251953125"),
                  "bf16": ("bfloat16", "-3.3895313892515355e38, 1.1754943508222875e-38, 0.333984375"),
                  "f32": ("float32", "-3.4028234663852886e38, 1.1754943508222875e-38, 0.3333333432674408"),
                  "f64": ("float64", "-1.7976931348623157e308, 2.2250738585072014e-308, 0.3333333333333333")}
        types = ", ".join(f"tensor<3x{name}>" for name in values)
        constants = "".join(f"  %{name} = nn.constant dense<[{numbers}]> : tensor<3x{name}>\n" for name, (_, numbers) in values.items())
        with open(self.path("all.mlir"), "w", encoding="utf-8") as file:
            file.write(f"func.func @make() -> ({types}) {{\n{constants}  return {', '.join('%' + name for name in values)} : {types}\n}}\n")
        self.passes("weft-run", "all.mlir", "--types", "declared", "--output", "all.safetensors")
        read = self.transformers("read", {"path": self.path("all.safetensors")})[0]
        expected = [[dtype, [float({"true": 1, "false": 0}.get(number, number)) for number in numbers.split(", ")]] for dtype, numbers in values.values()]
        self.assertEqual(expected, [read[f"result{i}"] for i in range(len(values))])


class Limits(Interchange):
    def testMemoryIsThatOfOneTensor(self):
        """A model of many tensors of 4 MiB, moved by processes that may have 64 MiB of data."""
        self.make(changes={"num_hidden_layers": 12, "hidden_size": 512, "intermediate_size": 2048, "num_attention_heads": 8, "head_dim": 64,
                           "max_position_embeddings": 32})
        size = os.path.getsize(self.path("hf/model.safetensors"))
        self.assertGreater(size, 150 << 20)
        limit = 64 << 20

        def limited():
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

        self.imports()  # with the compiler, whose memory is another matter
        for command in (["ckpt", "export", "imported", "-o", "exported", "--dtype", "bf16"], ["ckpt", "diff", "imported", "exported"]):
            done = subprocess.run([os.path.join(BUILD, "bin", "weft"), *command], cwd=self.folder, capture_output=True, text=True, check=False,
                                  preexec_fn=limited)
            self.assertIn(done.returncode, (0, 4), done.stderr)
            self.assertRegex(done.stdout, "exported step 0|every value of|elements differ")


