"""What can be done with a run: dry runs, generate, eval, profiles, norms, dumps, and comparing two of them."""

import gzip
import json
import math
import os
import random
import re
import signal
import struct
import subprocess

from training import WORDS, TrainingTest


class Looking(TrainingTest):

    def testADryRunCompilesAndWritesNothing(self):
        printed = self.passes("weft", "train", "run.yaml", "--dry-run")
        self.assertRegex(printed, r"memory: [\d.]+ MiB in all, known before the job starts \(\d+ bytes\)")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def testAProfileShowsWhereTheTimeGoes(self):
        printed = self.passes(*self.training("a"), "--profile")
        self.assertRegex(printed, r"profile: one step, [\d.]+ ms in kernels; limits: .*\n  kernel +calls +ms +share +GFLOP/s +GB/s +of limit\n")
        self.assertRegex(printed, r"  einsum +\d+ +[\d.]+ +[\d.]+%")

    def testWatchingAStepChangesNoBit(self):
        self.train("plain")
        self.passes(*self.training("watched", "train.dump.steps=[4,5]", "metrics.per_parameter=2"), "--profile")
        self.assertEqual(self.stateBytes("plain", 12), self.stateBytes("watched", 12))

    def testNormsOfEachParameter(self):
        self.train("a", "metrics.per_parameter=6")
        records = self.metrics("a")
        name = "model.layers.1.mlp.up_proj.weight"
        self.assertNotIn(f"weight_norm/{name}", records[4])
        for record in (records[5], records[11]):
            self.assertGreater(record[f"weight_norm/{name}"], 0.5)
            self.assertLess(record[f"update_norm/{name}"], record[f"weight_norm/{name}"])
            self.assertGreater(record[f"update_norm/{name}"], 0)
            gradients = [value for key, value in record.items() if key.startswith("gradient_norm/")]
            self.assertEqual(21, len(gradients))
            self.assertAlmostEqual(record["grad_norm"], sum(value**2 for value in gradients)**0.5, places=5)

    def testMetricsAtIntervals(self):
        self.train("a", "metrics.interval=5")
        self.assertEqual([1, 5, 6, 10, 12], [record["step"] for record in self.metrics("a")])  # 6: evaluated; 12: the last


class Generate(TrainingTest):

    def setUp(self):
        super().setUp()
        self.train("a", "train.steps=60", "checkpoint.interval=20")

    def generated(self, *options):
        return self.passes("weft", "generate", "runs/a", *options)

    def testTheSameSeedGivesTheSameText(self):
        first = self.generated("--prompt", "the cat", "--tokens", "60", "--seed", "3")
        self.assertTrue(first.startswith("the cat"))
        self.assertEqual(first, self.generated("--prompt", "the cat", "--tokens", "60", "--seed", "3"))
        self.assertNotEqual(first, self.generated("--prompt", "the cat", "--tokens", "60", "--seed", "4"))
        self.assertEqual(len("the cat") + 60 + 1, len(first))

    def testTemperatureZeroAndTopOneAreTheLikeliestTokens(self):
        self.assertEqual(self.generated("--prompt", "dog ", "--tokens", "40", "--temperature", "0"),
                         self.generated("--prompt", "dog ", "--tokens", "40", "--top-k", "1", "--seed", "9"))

    def testTopPOfNothingIsTheLikeliestTokens(self):
        self.assertEqual(self.generated("--prompt", "dog ", "--tokens", "40", "--temperature", "0"),
                         self.generated("--prompt", "dog ", "--tokens", "40", "--top-p", "0", "--seed", "9"))
        self.assertNotEqual(self.generated("--prompt", "dog ", "--tokens", "60", "--temperature", "2"),
                            self.generated("--prompt", "dog ", "--tokens", "60", "--temperature", "2", "--top-p", "0.5"))

    def testTheSpeedIsToldOnStandardError(self):
        done = self.command("weft", "generate", "runs/a", "--prompt", "dog ", "--tokens", "40")
        self.assertRegex(done.stderr, r"^4 tokens of prompt in [\d.]+ s, then [\d.]+ tokens/s\n$")

    def testASignalEndsTheTextBehindAToken(self):
        process = subprocess.Popen(["weft", "generate", "runs/a", "--prompt", "dog ", "--tokens", "10000000"], cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual("dog ", process.stdout.read(4))
        process.stdout.read(100)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
        self.assertEqual(5, process.returncode, errors)
        self.assertTrue(rest.endswith("\n"))
        self.assertRegex(errors, r"stopped by a signal after \d+ tokens")

    def testTextLongerThanTheSequenceGoesOn(self):
        self.assertEqual(300 + 50 + 1, len(self.generated("--prompt", "cat " * 75, "--tokens", "50")))

    def testAnExecutableNeedsACheckpoint(self):
        self.passes("weft", "compile", "run.yaml", "-o", "run.weft", "--set", "train.steps=60")
        self.refuses(2, "run.weft: an executable holds no weights. --checkpoint says where they are.", "weft", "generate", "run.weft")
        sampled = ("--prompt", "the", "--tokens", "30")
        self.assertEqual(self.generated(*sampled), self.passes("weft", "generate", "run.weft", "--checkpoint", "runs/a", *sampled))
        self.assertNotEqual(self.generated(*sampled),
                            self.passes("weft", "generate", "run.weft", "--checkpoint", "runs/a/checkpoints/step-20", *sampled))

    def testARunWithoutCheckpointsSaysSo(self):
        self.refuses(2, "runs/b/program/run.weft", "weft", "generate", "runs/b")

    def testEvalMeasuresWhatTheTrainingMeasured(self):
        printed = self.passes("weft", "eval", "runs/a")
        self.assertIn(f"step 60   validation {self.metrics('a')[-1]['val_loss']:.4f} (", printed)
        more = self.passes("weft", "eval", "runs/a", "--set", "eval.batches=8")
        self.assertRegex(more, r"64 samples")


class EvaluateFiles(TrainingTest):

    def setUp(self):
        super().setUp()
        self.train("a", "train.steps=60")
        words = random.Random(2)
        self.documents = [" ".join(words.choice(WORDS) for _ in range(count)) for count in (120, 1, 60)]

    def evaluated(self, path, *options):
        return json.loads(self.passes("weft", "eval", "runs/a", "--data", path, "--json", *options))

    def testEveryTokenIsPredictedOnce(self):
        self.write("held.txt", self.documents[0])
        found = self.evaluated("held.txt")
        self.assertEqual(len(self.documents[0]), found["bytes"])
        self.assertEqual(found["bytes"] + 1, found["tokens"])  # and the end of the document
        self.assertAlmostEqual(math.exp(found["loss"]), found["perplexity"])
        self.assertAlmostEqual(found["loss"] * found["tokens"] / math.log(2) / found["bytes"], found["bits_per_byte"])
        self.assertEqual(60, found["step"])
        printed = self.passes("weft", "eval", "runs/a", "--data", "held.txt")
        self.assertIn(f"   loss {found['loss']:.4f}   perplexity {found['perplexity']:.4g}   {found['bits_per_byte']:.4f} bits per byte   ", printed)

    def testOneDocumentInOneWindowIsWhatTheModelSaysOfIt(self):
        """A text as long as the window, at every stride, and cut off behind a token: sums of the same terms."""
        self.write("held.txt", self.documents[0][:31])
        self.assertEqual(1, self.evaluated("held.txt")["samples"])
        self.assertEqual(self.evaluated("held.txt"), self.evaluated("held.txt", "--stride", "3"))

    def testWindowsThatOverlapPredictEachTokenOnce(self):
        self.write("held.txt", self.documents[0])
        apart, overlapping = self.evaluated("held.txt"), self.evaluated("held.txt", "--stride", "4")
        self.assertEqual(apart["tokens"], overlapping["tokens"])
        self.assertGreater(overlapping["samples"], 4 * apart["samples"])
        self.assertNotEqual(overlapping["loss"], apart["loss"])

    def testTheFormOfTheFileDoesNotMatter(self):
        lines = "".join(json.dumps({"body": text}) + "\n" for text in self.documents)
        self.write("held.jsonl", lines)
        with gzip.open(os.path.join(self.folder, "held.jsonl.gz"), "wt") as file:
            file.write(lines)
        self.passes("weft", "data", "prepare", "held.jsonl", "-o", "held", "--json-key", "body", "--quiet")
        forms = [self.evaluated(path, "--json-key", "body") for path in ("held.jsonl", "held.jsonl.gz", "held")]
        self.assertEqual(sum(map(len, self.documents)), forms[0]["bytes"])
        self.assertEqual(forms[0]["bytes"] + 3, forms[0]["tokens"])
        for form in forms:
            form.pop("data")
        self.assertEqual(forms[0], forms[1])
        self.assertEqual(forms[0], forms[2])

    def testWhatCannotBeMeasuredIsRefused(self):
        self.write("held.txt", self.documents[0])
        self.write("empty.txt", "")
        self.refuses(3, "a stride of 33 tokens; windows of 32 are 1 to 32 tokens apart", "weft", "eval", "runs/a", "--data", "held.txt",
                     "--stride", "33")
        self.refuses(3, "empty.txt: no text at all", "weft", "eval", "runs/a", "--data", "empty.txt")
        self.refuses(3, "nowhere.txt", "weft", "eval", "runs/a", "--data", "nowhere.txt")
        self.refuses(2, "--stride requires --data", "weft", "eval", "runs/a", "--stride", "3")


class Compare(TrainingTest):

    def testEqualRunsAreEqual(self):
        for name in ("a", "b"):
            self.train(name, "train.dump.steps=[1,5]")
        printed = self.passes("weft", "compare", "runs/a", "runs/b")
        self.assertIn("losses: equal in all 12 steps\n", printed)
        self.assertEqual(2, len(re.findall(r"  equal: \d{3} values", printed)))

    def testTheFirstOperationThatDiffersIsNamed(self):
        # Label smoothing changes the loss and nothing before it.
        self.train("a", "train.dump.steps=[1]")
        self.train("b", "train.dump.steps=[1]", "loss.label_smoothing=0.1")
        done = self.command("weft", "compare", "runs/a", "runs/b")
        self.assertEqual(4, done.returncode)
        self.assertRegex(done.stdout, r"losses: of 12 steps the first that differs is 1: ")
        self.assertRegex(done.stdout, r"values differ; the first in program order is\n  loss/linear_cross_entropy_forward_backward/microbatch\.0: "
                                      r"\d+ of \d+ elements differ, the first is 0: ")

    def testAChangedWeightShowsWhereItIsUsed(self):
        self.train("a", "train.dump.steps=[1]", "train.dump.match=[\"model.layers.*\"]")
        self.train("b", "train.dump.steps=[1]", "train.dump.match=[\"model.layers.*\"]", "model.rope_theta=5000")
        done = self.command("weft", "compare", "runs/a", "runs/b")
        self.assertEqual(4, done.returncode)
        self.assertRegex(done.stdout, r"in program order is\n  model\.layers\.0\.self_attn[\w.]*/rope/microbatch\.0: ")

    def testAForeignFileIsComparedByName(self):
        self.train("a", "train.dump.steps=[1]")
        header, data = self.tensors("runs/a/dumps/step-1.safetensors")
        name = "model.layers.0.mlp.gate_proj/einsum/microbatch.0"
        begin, end = header[name]["data_offsets"]
        floats = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
        self.foreign(name, header[name]["shape"], floats)
        self.assertIn("equal: 1 values", self.passes("weft", "compare", "runs/a", "other.safetensors", "--tolerance", "1e-6"))
        self.foreign(name, header[name]["shape"], [value * 1.01 for value in floats])
        done = self.command("weft", "compare", "runs/a", "other.safetensors", "--tolerance", "1e-6")
        self.assertEqual(4, done.returncode)
        self.assertRegex(done.stdout, rf"program order is\n  {re.escape(name)}: \d+ of 8192 elements differ, the first is \d+: ")

    def testNothingInCommonIsAnError(self):
        self.train("a", "train.dump.steps=[1]")
        self.foreign("other", [1], [1.0])
        self.refuses(2, "have no name in common", "weft", "compare", "runs/a", "other.safetensors")

    def testAPatternThatMatchesNothingIsRefused(self):
        self.refuses(2, "train.dump.match: no value is called nothing*", *self.training("a", "train.dump.steps=[1]", "train.dump.match=[\"nothing*\"]"))

    def tensors(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            return json.loads(file.read(length)), file.read()

    def foreign(self, name, shape, values):
        """Another framework's file: one float64 tensor and no order."""
        header = json.dumps({name: {"dtype": "F64", "shape": shape, "data_offsets": [0, 8 * len(values)]}}).encode()
        with open(os.path.join(self.folder, "other.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}d", *values))
