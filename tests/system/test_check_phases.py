"""weft-run --check-phases on run files: every phase of the compiler keeps what the program before it computes, on one
device and on meshes; and says so when one does not."""

import glob
import os

from harness import ROOT, SystemTest

RUN = """
model: {{family: llama, hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 4, num_key_value_heads: 2, intermediate_size: 17, vocab_size: 261{tied}}}
tokenizer: {{kind: bytes}}
data: {{train: [{{path: {text}}}], sequence_length: 8}}
optimizer: {{kind: {optimizer}, lr: 1.0e-2, epsilon: 1.0e-3}}
precision: {{recipe: {recipe}}}
train: {{steps: 4, micro_batch: 1, global_batch: 8}}
"""


class CheckPhasesTest(SystemTest):
    def runFile(self, name="run.yaml", tied="", optimizer="adamw", recipe="fp32"):
        text = os.path.join(ROOT, "README.md")
        return self.write(name, RUN.format(tied=tied, optimizer=optimizer, recipe=recipe, text=text))

    def check(self, path, *arguments):
        return self.command("weft-run", path, "--check-phases", *arguments, timeout=300)

    def holds(self, path, *arguments):
        done = self.check(path, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no phase changed a value", done.stdout)
        return done.stdout

    def test_one_device(self):
        output = self.holds(self.runFile())
        for program in ("step", "evaluate", "prefill", "decode"):
            self.assertRegex(output, rf"(?m)^schedule +{program} ")
            self.assertRegex(output, rf"(?m)^executable +{program} ")

    def test_lower_precision_is_the_same_exact_program(self):
        self.holds(self.runFile(recipe="bf16", optimizer="lion"))

    def test_every_scheme_of_parallelism(self):
        plain, tied = self.runFile(), self.runFile("tied.yaml", tied=", tie_word_embeddings: true")
        for keys in (
            ["data_shard=4"],
            ["data_shard=2", "zero=1", "data_replicate=2"],
            ["data_shard=2", "zero=2", "tensor=2"],
            ["data_shard=2", "zero=3", "tensor=4", "sequence=true"],
            ["data_shard=2", "zero=2", "tensor=2", "context.size=2"],
            ["data_shard=2", "zero=3", "tensor=2", "context.size=2", "context.method=all_to_all"],
            ["data_shard=2", "zero=1", "tensor=2", "sequence=true", "context.size=2", "context.method=ring"],
            ["zero=3", "context.size=4", "context.method=ring"],
        ):
            for path in (plain, tied):
                self.holds(path, *[argument for key in keys for argument in ("--set", f"parallel.{key}")])

    def test_pipelines(self):
        """Programs of pipeline ranks, side by side, are the program that was cut; and so are their executables."""
        plain, tied = self.runFile(), self.runFile("tied.yaml", tied=", tie_word_embeddings: true")
        for keys in (
            ["pipeline.size=2"],
            ["pipeline.size=4", "pipeline.schedule=zb_h1", "data_shard=2", "zero=1"],
            ["pipeline.size=2", "pipeline.schedule=interleaved", "tensor=2", "sequence=true"],
            ["pipeline.size=2", "pipeline.schedule=zb_v", "data_shard=2", "zero=3"],
            ["pipeline.size=2", "pipeline.schedule=dualpipe_v", "data_shard=2", "zero=2", "context.size=2", "context.method=ring"],
        ):
            for path in (plain, tied):
                with self.subTest(os.path.basename(path), keys=keys):
                    self.holds(path, "--set", "model.num_hidden_layers=4",
                               *[word for key in keys for word in ("--set", f"parallel.{key}")])
        self.holds(tied, "--set", "model.num_hidden_layers=2", "--set", "train.reduction=canonical", "--set", "parallel.pipeline.size=2",
                   "--set", "parallel.data_shard=2")

    def test_the_canonical_sum(self):
        plain, tied = self.runFile(), self.runFile("tied.yaml", tied=", tie_word_embeddings: true")
        for keys in (["data_shard=1"], ["data_shard=4"], ["data_shard=2", "zero=2", "data_replicate=2"], ["data_shard=8", "zero=3"]):
            for path in (plain, tied):
                self.holds(path, "--set", "train.reduction=canonical",
                           *[argument for key in keys for argument in ("--set", f"parallel.{key}")])

    def test_every_model_of_the_zoo_on_three_meshes(self):
        """The zoo is what is compared with other implementations: every family, and features of Llama one by one."""
        zoo = sorted(glob.glob(os.path.join(ROOT, "tests/parity/configs/*.yaml")))
        self.assertGreaterEqual(len(zoo), 15)
        for path in zoo:
            for keys in (
                ["data_shard=2", "zero=1", "tensor=2", "sequence=true"],
                ["data_replicate=2", "data_shard=2", "zero=3"],
                ["data_shard=2", "zero=2", "tensor=4", "sequence=true"],
            ):
                with self.subTest(os.path.basename(path), keys=keys):
                    self.holds(path, "--set", "train.global_batch=8", "--set", "data.sequence_length=16",
                               *[word for key in keys for word in ("--set", f"parallel.{key}")])

    def test_families_where_the_sequence_or_the_layers_are_split(self):
        """Learned positions and dropout, two rotary tables, windows, capped scores, norms over all heads."""
        for family, keys in (
            ("gpt2", ["model.embd_pdrop=0.1", "model.resid_pdrop=0.2", "parallel.data_shard=2", "parallel.zero=3", "parallel.context.size=2",
                      "parallel.context.method=ring"]),
            ("gpt2", ["model.embd_pdrop=0.1", "model.resid_pdrop=0.2", "parallel.tensor=2", "parallel.sequence=true", "parallel.pipeline.size=2"]),
            ("gemma3_text", ["parallel.context.size=2", "parallel.context.method=ring", "parallel.data_shard=2", "parallel.zero=2"]),
            ("gemma3_text", ["parallel.pipeline.size=2", "parallel.tensor=2", "parallel.sequence=true"]),
            ("olmo2", ["parallel.context.size=2", "parallel.context.method=all_to_all", "parallel.tensor=2"]),
            ("gemma2", ["parallel.context.size=2", "parallel.context.method=gather", "parallel.tensor=2", "parallel.sequence=true",
                        "precision.recipe=bf16"]),
            ("qwen3", ["parallel.tensor=4", "parallel.sequence=true", "parallel.data_shard=2", "parallel.zero=3"]),
            ("mistral", ["parallel.context.size=4", "parallel.context.method=ring"]),
        ):
            with self.subTest(family, keys=keys):
                self.holds(os.path.join(ROOT, f"tests/parity/configs/{family}.yaml"), "--set", "train.global_batch=8",
                           "--set", "data.sequence_length=16", *[word for key in keys for word in ("--set", key)])

    def test_a_broken_phase_is_named(self):
        done = self.check(self.runFile(), "--set", "parallel.tensor=2", "--sabotage", "drop_reduction")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("phase partition changed what", done.stdout)
        self.assertIn("first op that differs:", done.stdout)
        self.assertIn("phase partition is wrong", done.stderr)

    def test_a_broken_cut_is_named(self):
        for sabotage in ("doubled_microbatch", "lost_microbatch", "lost_message", "zero_message", "lost_term", "overwritten_sum",
                         "lost_write"):
            with self.subTest(sabotage):
                done = self.check(self.runFile(), "--set", "model.num_hidden_layers=2", "--set", "parallel.pipeline.size=2",
                                  "--sabotage", sabotage)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn("phase schedule changed what step computes", done.stdout)

    def test_a_broken_executable_is_named(self):
        done = self.check(self.runFile(), "--sabotage", "lost_mask")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("broken on purpose after fuse", done.stdout)
        self.assertIn("phase executable is wrong", done.stderr)
