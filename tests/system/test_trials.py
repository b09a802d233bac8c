"""The randomized trials, with small counts; and that each fails when one thing is broken on purpose."""

import os
import re

from harness import ROOT, SystemTest

# Some cases of every op: its number among the ops is the seed's remainder.
EVERY_OP = "250"


class TrialsTest(SystemTest):
    def trial(self, *arguments):
        return self.command(os.path.join(ROOT, "scripts", "trials.sh"), *arguments, timeout=300)

    def holds(self, *arguments):
        done = self.trial(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def fails(self, *arguments):
        done = self.trial(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("FAILED", done.stdout)
        return done.stdout

    def test_gradients_of_every_op(self):
        output = self.holds("gradients", "--count", EVERY_OP, "--seed", "1")
        for op in ("attention", "linear_cross_entropy", "einsum", "scatter_add"):
            self.assertRegex(output, rf"(?m)^{op} .*difference")

    def test_gradients_fail_when_a_derivative_is_wrong(self):
        self.fails("gradients", "--count", EVERY_OP, "--sabotage", "derivative")

    def test_gradients_fail_when_a_part_is_lost(self):
        self.fails("gradients", "--count", EVERY_OP, "--sabotage", "part")

    def test_a_failed_case_is_repeated_alone_by_its_seed(self):
        output = self.fails("gradients", "--count", EVERY_OP, "--sabotage", "derivative")
        op, seed = re.search(r"(?m)^FAILED (\w+):.*\n.*--count 1 --seed (\d+)", output).groups()
        self.assertIn(f"FAILED {op}:", self.fails("gradients", "--count", "1", "--seed", seed, "--sabotage", "derivative"))

    def test_kernels_of_every_op(self):
        output = self.holds("kernels", "--count", EVERY_OP, "--seed", "1")
        self.assertIn("tolerance: rounding errors", output)
        for op in ("attention_backward", "rms_norm", "linear_cross_entropy_head"):
            self.assertRegex(output, rf"(?m)^{op} .*as kernel")

    def test_kernels_fail_when_a_term_is_lost(self):
        self.fails("kernels", "--count", EVERY_OP, "--sabotage", "term")

    def test_kernels_fail_when_threads_change_a_bit(self):
        self.assertIn("threads give other bits", self.fails("kernels", "--count", EVERY_OP, "--sabotage", "bits"))

    def test_an_unknown_sabotage_is_refused(self):
        done = self.trial("gradients", "--sabotage", "everything")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--sabotage takes derivative or part, not everything", done.stderr)

    def test_changed_programs_are_refused_or_compiled(self):
        self.holds("fuzz", "--count", "600", "--seed", "7")

    def test_fuzz_fails_when_the_process_aborts(self):
        self.fails("fuzz", "--count", "1", "--sabotage", "abort")

    def test_reshards_give_values_back_at_the_fewest_bytes(self):
        output = self.holds("reshard", "--count", "600")
        for note in ("uneven", "pending sum", "pending maximum", "pending log-sum-exp", "several axes in a dimension"):
            self.assertIn(note, output)

    def test_reshard_fails_when_something_is_broken(self):
        for sabotage in ("reduction", "order", "bytes"):
            self.fails("reshard", "--count", "100", "--sabotage", sabotage)

    def test_attention_around_a_ring_is_attention(self):
        output = self.holds("ring", "--count", "60")
        self.assertRegex(output, r"worst tensor in float64: \S+ \(bound 1e-11\); in float32: \S+ \(bound 1e-05\)")
        self.assertRegex(output, r"work of the busiest rank over the mean, causal: 1\.0\d+ zigzag")
        for note in ("segments", "window", "sinks", "softcap", "zigzag", "two axes", "tensor", "bytes"):
            self.assertIn(note, output)

    def test_ring_fails_when_something_is_broken(self):
        for sabotage in ("last_block_alone", "positions_stay_behind"):
            self.fails("ring", "--count", "6", "--sabotage", sabotage)

    def test_the_order_is_a_function_of_the_number(self):
        output = self.holds("order", "--count", "16")
        for row in ("sequence", "leak", "leak, gather", "leak, all_to_all", "leak, ring"):
            self.assertRegex(output, rf"(?m)^{row} ")
        for comparison in ("bits", "prefixes", "passes", "global", "local", "executed"):
            self.assertRegex(output, rf"{comparison} \d+")

    def test_order_fails_when_something_is_broken(self):
        for sabotage in ("rank", "blend", "segments"):
            self.fails("order", "--count", "4", "--sabotage", sabotage)

    def test_meshes_train_as_one_device_does(self):
        output = self.holds("mesh", "--count", "12")
        self.assertRegex(output, r"worst tensor in float64: \S+, \S+")
        self.assertIn("cases with both", output)
        self.assertRegex(output, r"(?m)^schedules: .*no pipeline \d+")
        self.assertRegex(output, r"(?m)bits \d+, float32 \d+, float64 \d+$")

    def test_mesh_fails_when_something_is_broken(self):
        for sabotage in ("drop_reduction", "element", "zero_message", "lost_term"):
            self.fails("mesh", "--count", "4", "--sabotage", sabotage)

    def test_tokenizers_have_the_ids_of_their_references(self):
        for name, library in (("cl100k_base", "tiktoken"), ("trained-gpt2", "tokenizers"), ("trained-sp-bpe", "sentencepiece")):
            output = self.holds("tokenizer", "--count", "400", "--megabytes", "0.2", "--only", name)
            self.assertRegex(output, rf"(?m)^{name} +[\d,]+ as {library} [\d.]+, 0 not")

    def test_tokenizer_fails_when_an_id_is_wrong(self):
        self.assertRegex(self.fails("tokenizer", "--count", "40", "--megabytes", "0.01", "--only", "trained-gpt2", "--sabotage", "wrong_id"),
                         r"(?m)^FAILED trained-gpt2: .*\(plain\)$")
