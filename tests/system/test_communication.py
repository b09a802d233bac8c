"""What a rank sends in a step: the formulas of docs/communication.md, the compiled program, and the communicator's own count
are the same integers, scheme by scheme; and what a rank keeps between steps under ZeRO-3."""

import os
import re
import unittest

from harness import ROOT
from training import TrainingTest

PAGE = os.path.join(ROOT, "docs", "communication.md")

# The model of the page, in elements.
HIDDEN, LAYERS, HEADS, GROUPS, WIDTH, VOCABULARY, SEQUENCE, BATCH, GLOBAL_BATCH = 32, 2, 4, 2, 64, 264, 32, 2, 32
HEAD = HIDDEN // HEADS
NORMS = (2 * LAYERS + 1) * HIDDEN
EMBEDDING = VOCABULARY * HIDDEN
LAYER = 2 * HEADS * HEAD * HIDDEN + 2 * GROUPS * HEAD * HIDDEN + 3 * WIDTH * HIDDEN + 2 * HIDDEN
PARAMETERS = 2 * EMBEDDING + LAYERS * LAYER + HIDDEN
ACTIVATION = 4 * BATCH * SEQUENCE * HIDDEN  # bytes of one microbatch's activation
TOKENS = BATCH * SEQUENCE


def share(ranks, size):
    """What a rank sends to gather or to scatter `size` bytes."""
    assert size * (ranks - 1) % ranks == 0
    return size * (ranks - 1) // ranks


def reduction(ranks, size):
    """What a rank sends to reduce `size` bytes on all ranks."""
    return share(ranks, 2 * size)


def microbatches(dataRanks):
    return GLOBAL_BATCH // (BATCH * dataRanks)


class Scheme:
    """textbook: bytes by the formula of the literature. added: (what, bytes) that this program sends beyond it; less than 0
    where it sends less."""

    def __init__(self, name, parallel, textbook, *added):
        self.name, self.parallel, self.textbook, self.added = name, parallel, textbook, added

    @property
    def total(self):
        return self.textbook + sum(size for _, size in self.added)

    @property
    def row(self):
        """Its line in the page's table."""
        added = ", ".join(f"{what} {size:,}" for what, size in self.added)
        return f"| {self.name} | `{{{self.parallel}}}` | {self.textbook:,} | {added} | {self.total:,} |"


def scalars(ranks, *sizes):
    return sum(reduction(ranks, size) for size in sizes)


def dataParallel():
    """Four replicas or shards: gradients in float32, of P parameters."""
    n, m, p = 4, microbatches(4), 4 * PARAMETERS
    count, loss, norm = 8, 4, 8
    yield Scheme("DDP", "data_replicate: 4", reduction(n, p), ("target count, loss", scalars(n, count, loss)))
    sharded = ("target count, loss, norm", scalars(n, count, loss, norm))
    yield Scheme("ZeRO-1", "data_shard: 4, zero: 1", 2 * share(n, p), sharded)
    yield Scheme("ZeRO-2", "data_shard: 4, zero: 2", (1 + m) * share(n, p), sharded)
    n, m = 8, microbatches(8)
    # What has its forward beside its backward is gathered once: the embedding, the last norm and the head.
    once = 4 * (2 * EMBEDDING + HIDDEN)
    yield Scheme("ZeRO-3", "data_shard: 8, zero: 3", 3 * m * share(n, p), ("gathered once", -m * share(n, once)),
                 ("target count, loss, norm", scalars(n, count, loss, norm)))
    r, n = 2, 4
    common = ("target count, loss, norm", scalars(r * n, count, loss) + scalars(n, norm))
    yield Scheme("HSDP, ZeRO-1", "data_replicate: 2, data_shard: 4, zero: 1", 2 * share(n, p) + reduction(r, p // n), common)
    yield Scheme("HSDP, ZeRO-3", "data_replicate: 2, data_shard: 4, zero: 3", 3 * m * share(n, p) + reduction(r, p // n),
                 ("gathered once", -m * share(n, once)), common)


def tensorParallel():
    t, m = 2, microbatches(1)
    layers = m * 4 * LAYERS * reduction(t, ACTIVATION)
    statistic = m * reduction(t, 4 * TOKENS)
    vocabulary = m * 2 * reduction(t, ACTIVATION) + 3 * statistic
    # The logarithm of the sum of exponentials is one statistic, where the textbook reduces a maximum and a sum.
    merged, norm = ("one statistic less", -statistic), ("norm", scalars(t, 8))
    yield Scheme("TP and vocabulary", "tensor: 2", layers + vocabulary, merged, norm)
    yield Scheme("TP+SP and vocabulary", "tensor: 2, sequence: true", layers + vocabulary, merged,
                 ("norm weights", reduction(t, 4 * NORMS)), norm)


def contextParallel():
    """Four ranks read the same samples. By the placement of parameters they are as data ranks; attention is what is new."""
    c, m, p = 4, microbatches(1), 4 * PARAMETERS
    queries, keys = 4 * TOKENS * HEADS * HEAD, 4 * TOKENS * GROUPS * HEAD  # bytes of one layer's, of whole samples
    common = reduction(c, p), ("target count, loss", scalars(c, 8, 4))
    gathered = m * LAYERS * 4 * share(c, keys)
    yield Scheme("CP, gather", "context: {size: 4, method: gather}", gathered + common[0], common[1])
    # Around the ring: keys and values in each direction, their gradients once more than blocks meet, to come home.
    around, positions = m * LAYERS * (4 * share(c, keys) + 2 * keys), m * LAYERS * 2 * share(c, 4 * TOKENS)
    yield Scheme("CP, ring", "context: {size: 4, method: ring}", around + common[0], ("positions", positions), common[1])
    c = 2  # as many as key groups: each rank has one
    common = reduction(c, p), ("target count, loss", scalars(c, 8, 4))
    exchanged = m * LAYERS * 4 * (share(c, queries // c) + share(c, keys // c))
    yield Scheme("CP, all-to-all", "context: {size: 2, method: all_to_all}", exchanged + common[0], common[1])
    yield Scheme("CP, gather, ZeRO-1", "context: {size: 2, method: gather}, zero: 1",
                 m * LAYERS * 4 * share(c, keys) + 2 * share(c, p), ("target count, loss, norm", scalars(c, 8, 4, 8)))


SCHEMES = [*dataParallel(), *tensorParallel(), *contextParallel()]


class PageTest(TrainingTest):
    """self.folder holds the run file of the page."""

    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            self.page = file.read()
        self.write("run.yaml", re.search(r"```yaml file=run.yaml\n(.*?)```", self.page, re.DOTALL)[1])


class Communication(PageTest):

    def compiled(self, parallel, *sets):
        """Bytes of a step, and of each row (part, operation, axes)."""
        text = self.passes("weft", "compile", "run.yaml", "--set", f"parallel={{{parallel}}}", *sets, "--explain", "communication")
        total = int(re.match(r"communication: program step, (\d+) bytes sent by each of \d+ ranks\n", text)[1])
        rows = {(part, operation, axes): (int(calls), int(size)) for part, operation, axes, calls, size in
                re.findall(r"^  (\S+(?: x \d+)?) +(\w+) +(\[.*?\]) +(\d+) calls +(\d+) bytes$", text, re.MULTILINE)}
        self.assertEqual(total, sum(size for _, size in rows.values()), text)
        return total, rows

    def testAProgramSendsWhatTheFormulaSays(self):
        for scheme in SCHEMES:
            with self.subTest(scheme.name):
                self.assertEqual(scheme.total, self.compiled(scheme.parallel)[0])

    def testThePageShowsTheSameNumbers(self):
        shown = re.findall(r"^\| [^|]+ \| `\{.*", self.page, re.MULTILINE)
        self.assertEqual([scheme.row for scheme in SCHEMES], shown)

    def testARealStepSendsWhatWasCompiledFromTheMemoryThatWasPlanned(self):
        for scheme in SCHEMES:
            with self.subTest(scheme.name):
                printed = self.passes(*self.training(scheme.name, f"parallel={{{scheme.parallel}}}", "train.steps=3"), "--profile")
                self.assertIn(f"communication: one step, {scheme.total} bytes sent by this rank, {scheme.total} compiled\n", printed)
                rows = re.findall(r"^  (?:all_\w+|reduce_scatter|shift) +(\d+) +(\d+) +(\d+) +(\d+)$", printed, re.MULTILINE)
                self.assertGreater(len(rows), 0)
                for calls, size, compiledCalls, compiledSize in rows:
                    self.assertEqual((calls, size), (compiledCalls, compiledSize))
                allocated = re.search(r"allocated ([\d,]+) of ([\d,]+) bytes planned", printed)
                self.assertEqual(allocated[1], allocated[2])

    def testEachPartOfAStepHasItsOwnTraffic(self):
        _, rows = self.compiled("data_shard: 4, zero: 2")
        p, m = 4 * PARAMETERS, microbatches(4)
        variables = 2 + LAYERS * 9 + 1
        self.assertEqual((variables, share(4, p)), rows["prepare", "all_gather", "[d0, d1]"])
        self.assertEqual((m * variables, m * share(4, p)), rows[f"forward_backward x {m}", "reduce_scatter", "[d0, d1]"])
        self.assertEqual({"prepare", f"forward_backward x {m}", "update"}, {part for part, _, _ in rows})

    def testALayerMoreCostsFourReductionsOfAnActivation(self):
        for parallel in ("tensor: 2", "tensor: 2, sequence: true"):
            less, more = (sum(size for (part, _, _), (_, size) in
                              self.compiled(parallel, "--set", f"model.num_hidden_layers={layers}")[1].items()
                              if part.startswith("forward_backward")) for layers in (2, 3))
            self.assertEqual(microbatches(1) * 4 * reduction(2, ACTIVATION), more - less, parallel)

    def testOneRankSendsNothing(self):
        self.assertEqual("communication: program step, 0 bytes sent by each of 1 ranks\n",
                         self.passes("weft", "compile", "run.yaml", "--explain", "communication"))
        self.assertNotIn("communication:", self.passes(*self.training("one", "train.steps=3"), "--profile"))


class Persistent(PageTest):
    """What a rank keeps between steps: parameters and the two moments of AdamW, in float32, and the number of its steps."""

    STEPS = 8  # bytes

    def persistent(self, *sets):
        """Bytes on a rank, and of all ranks: the whole, further copies, uneven parts, alignment."""
        words = [word for one in ("parallel={data_shard: 8, zero: 3}", *sets) for word in ("--set", one)]
        text = self.passes("weft", "compile", "run.yaml", *words, "--explain", "memory")
        found = re.search(r"^persistent: (\d+) bytes on each of 8 ranks, which all together hold (\d+) = (\d+) of the whole "
                          r"\+ (\d+) of further copies \+ (\d+) of uneven parts \+ (\d+) of alignment$", text, re.MULTILINE)
        onRank, onAll, *parts = map(int, found.groups())
        self.assertEqual(onAll, sum(parts))
        self.assertEqual(onAll, 8 * onRank)
        planned = sum(int(size) for size in re.findall(r"^  (?:parameters|optimizer) +(\d+) bytes", text, re.MULTILINE))
        self.assertEqual(planned, onRank)
        return onRank, *parts

    def testEachOfEightRanksKeepsAnEighthAndTheStatedPadding(self):
        onRank, whole, copies, uneven, alignment = self.persistent()
        self.assertEqual((3 * 4 * PARAMETERS + self.STEPS, 7 * self.STEPS, 0), (whole, copies, uneven))
        # Places are multiples of 64 bytes: 16 of an eighth of a norm's weights become 64, 8 of the number of steps too.
        self.assertEqual(8 * (3 * (2 * LAYERS + 1) * (64 - 4 * HIDDEN // 8) + 64 - self.STEPS), alignment)
        self.assertIn(f"{whole:,} / 8 + ({copies:,} + {uneven:,} + {alignment:,}) / 8 = {onRank:,} bytes", self.page)

    def testDimensionsThatDoNotDividePadTheLastParts(self):
        """36 elements in eight parts of 5: four elements too many. Two heads of 18: no dimension of 8 and more divides."""
        _, whole, _, uneven, _ = self.persistent("model.hidden_size=36", "model.num_attention_heads=2", "model.num_key_value_heads=1")
        parameters = 2 * 264 * 36 + 2 * (6 * 18 * 36 + 3 * 64 * 36) + 5 * 36
        self.assertEqual(3 * 4 * parameters + self.STEPS, whole)
        rows = 2 * 6 * 18 + 5  # of 36 elements that are cut: those of attention, and the norms
        self.assertEqual(3 * 4 * rows * (5 * 8 - 36), uneven)


if __name__ == "__main__":
    unittest.main()
