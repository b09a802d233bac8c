"""weft train on pipelines: no bit of a run depends on how many ranks its pipeline has, on their schedule, or on where the model
is cut, alone and beside every other way to share the work."""

import os
import re

from harness import ROOT
from processes import ProcessTest

#: Pipelines that differ in ranks, schedule and cut. The model has 6 layers; 3 ranks with 2 stages each need more than half
#: of its parts.
PIPELINES = {
    "two": "{size: 2}",
    "there_and_back": "{size: 2, schedule: zb_v}",
    "three": "{size: 3, schedule: interleaved}",
    "four": "{size: 4, schedule: zb_h2, layout: E t | t*3 | t | t L}",
    "alone": "{size: 4, schedule: dualpipe_v, layout: E | t | t | t | t | t | t | L}",
}

#: What a pipeline of two shares its stages with.
BESIDE = {
    "replicas": "data_replicate: 2",
    "zero1": "data_shard: 2, zero: 1",
    "zero2": "data_shard: 2, zero: 2",
    "zero3": "data_shard: 2, zero: 3",
    "tensor": "tensor: 2, sequence: true",
    "gather": "context: {size: 2, method: gather}",
    "exchange": "context: {size: 2, method: all_to_all}",
    "ring": "context: {size: 2, method: ring}",
    "all": "data_shard: 2, zero: 1, tensor: 2, sequence: true, context: {size: 2}",
}

#: A model written by hand: an embedding, one layer and a head, for four microbatches of two samples.
PROGRAM = """\
nn.parameter @embedding : tensor<257x16xf32> normal {deviation = 0.1}
nn.parameter @layer : tensor<16x16xf32> normal {deviation = 0.3}
nn.parameter @head : tensor<257x16xf32> normal {deviation = 0.1}
nn.step @step microbatches(4) inputs(["tokens", "targets"]) attributes {objective = "loss_sum", denominator = 0 : i64}
prepare {
^bb0(%tokens: tensor<4x2x32xi32>, %targets: tensor<4x2x32xi32>):
  %count = nn.constant dense<256> : tensor<i64>
  nn.yield %count : tensor<i64>
} microbatch {
^bb0(%tokens: tensor<2x32xi32>, %targets: tensor<2x32xi32>, %count: tensor<i64>):
  %table = nn.read @embedding : tensor<257x16xf32>
  %x = nn.gather %table, %tokens : (tensor<257x16xf32>, tensor<2x32xi32>) -> tensor<2x32x16xf32>
  %0 = nn.boundary 0 %x : tensor<2x32x16xf32>
  %w = nn.read @layer : tensor<16x16xf32>
  %y = nn.einsum "bsh,fh->bsf" (%0, %w) : (tensor<2x32x16xf32>, tensor<16x16xf32>) -> tensor<2x32x16xf32>
  %a = nn.activation gelu %y : tensor<2x32x16xf32>
  %1 = nn.boundary 1 %a : tensor<2x32x16xf32>
  %head = nn.read @head : tensor<257x16xf32>
  %loss, %z, %lse = nn.linear_cross_entropy %1, %head, %targets
    : (tensor<2x32x16xf32>, tensor<257x16xf32>, tensor<2x32xi32>) -> (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>)
  %loss_sum = nn.reduce sum %loss [0, 1] : tensor<2x32xf32> -> tensor<f32>
  nn.carry ["loss_sum"] ["sum"] %loss_sum : tensor<f32>
} update {
^bb0(%loss_sum: tensor<f32>, %count: tensor<i64>):
  %divisor = nn.cast %count : tensor<i64> -> tensor<f32>
  %loss = nn.divide %loss_sum, %divisor : tensor<f32>
  nn.yield ["loss", "target_tokens"] %loss, %count : tensor<f32>, tensor<i64>
}
"""

BY_HAND = """\
model:       {program: model.mlir}
data:        {train: [{path: corpus.txt}], sequence_length: 32}
optimizer:   {kind: adamw, lr: 1.0e-2}
train:       {steps: 5, micro_batch: 2, global_batch: 8}
"""

SIX_LAYERS = ("model.num_hidden_layers=6", "train.micro_batch=1", "launch.threads=1")
SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v", "v_half", "v_min", "dualpipe_v", "auto")


class PipelineTest(ProcessTest):

    def settings(self, *sets):
        """The overrides of a run of six layers and eight microbatches; of one key the last counts."""
        return [f"{key}={value}" for key, value in dict(one.split("=", 1) for one in (*SIX_LAYERS, *sets)).items()]

    def trainOn(self, name, pipeline, *sets, **options):
        """A run on a pipeline; None: without one."""
        further = (f"parallel.pipeline={pipeline}",) if pipeline else ()
        return self.train(name, *self.settings(*further, *sets), **options)


class Bits(PipelineTest):

    def trials(self, *options):
        return self.command(os.path.join(ROOT, "scripts", "trials.sh"), "pipeline", *options, timeout=900)

    def testEveryScheduleOnEveryNumberOfRanks(self):
        """One run of each pair; `scripts/trials.sh pipeline --count 264` has each with all microbatches and precisions."""
        done = self.trials("--count", "44")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        for schedule in (*SCHEDULES, "file"):
            self.assertRegex(done.stdout, rf"(?m)^{schedule} +(1 0 0|0 1 0|0 0 1)( +(1 0 0|0 1 0|0 0 1)){{3}}$")
        self.assertIn("44 passed, 0 failed\n", done.stdout)

    def testOneBitMakesTheTrialsFail(self):
        for sabotage in ("flip", "loss"):
            done = self.trials("--count", "1", "--sabotage", sabotage)
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertIn("FAILED trial 0", done.stdout)

    def testTiedEmbeddingsStayEqualFor200Steps(self):
        """First and last stage have one of two uses each; where the copies parted, so would the losses."""
        long = ("model.tie_word_embeddings=true", "train.steps=200", "eval.interval=100", "checkpoint.interval=100")
        self.trainOn("one", None, *long)
        self.trainOn("tied", PIPELINES["two"], *long, timeout=600)
        self.assertEqual(200, len(self.losses("one")))
        self.assertSameRun("one", "tied")

    def testLossScalingSkipsTheSameSteps(self):
        half = ("precision.recipe=fp16", "precision.loss_scale.initial=16777216")
        self.trainOn("one", None, *half)
        self.assertTrue(any(line.get("skipped") for line in self.metrics("one")), self.metrics("one"))
        for name in ("two", "three"):
            self.trainOn(name, PIPELINES[name], *half)
            self.assertSameRun("one", name)

    def testThreadsChangeNoBit(self):
        """Of four ranks in one place; in two; and in places enough for all, with workers who help them."""
        self.trainOn("one", None)
        for threads in ("1", "2", "3", "128"):
            self.trainOn(threads, PIPELINES["four"], f"launch.threads={threads}")
            self.assertSameRun("one", threads)

    def testOptimizersAndNormsOfParameters(self):
        for optimizer in ("sgd", "lion"):
            sets = (f"optimizer.kind={optimizer}", "optimizer.lr=1e-3", "metrics.per_parameter=6", "optimizer.clip_grad_norm=0.5")
            self.trainOn(f"one-{optimizer}", None, *sets)
            self.trainOn(f"four-{optimizer}", PIPELINES["four"], *sets)
            self.assertSameRun(f"one-{optimizer}", f"four-{optimizer}")


class Beside(PipelineTest):

    def testAPipelineChangesNoBitOfAnyMesh(self):
        """And the mesh is within rounding of one device."""
        four = ("train.steps=6", "eval.interval=6")
        self.trainOn("one", None, *four)
        for number, (name, parallel) in enumerate(BESIDE.items()):
            with self.subTest(name):
                schedule = SCHEDULES[number % len(SCHEDULES)]
                self.trainOn(name, None, f"parallel={{{parallel}}}", *four)
                self.trainOn(f"pipeline-{name}", None, f"parallel={{{parallel}, pipeline: {{size: 2, schedule: {schedule}}}}}", *four)
                self.assertSameRun(name, f"pipeline-{name}")
                for expected, actual in zip(self.metrics("one"), self.metrics(name), strict=True):
                    for key in ("loss", "grad_norm"):
                        self.assertAlmostEqual(1, actual[key] / expected[key], delta=1e-5, msg=f"{key} of step {expected['step']}")

    def testTheCanonicalSumDependsOnNeither(self):
        sets = ("train.reduction=canonical", "train.steps=6")
        self.trainOn("one", None, *sets)
        self.trainOn("eight", None, "parallel={data_shard: 4, zero: 3, pipeline: {size: 2, schedule: zb_h1}}", *sets)
        self.assertSameRun("one", "eight")

    def testProcessesHaveTheBitsOfThreads(self):
        self.trainOn("one", None)
        for name in ("four", "there_and_back"):
            with self.subTest(name):
                sets = self.settings(f"parallel.pipeline={PIPELINES[name]}")
                self.trainProcesses(name, *sets, count=2 if name == "there_and_back" else 4)
                self.assertSameRun("one", name)


class RunFolder(PipelineTest):

    def testOneRankSpeaksAndPlansAreAllocated(self):
        for schedule in SCHEDULES:
            with self.subTest(schedule):
                printed = self.trainOn(schedule, f"{{size: 2, schedule: {schedule}}}", "train.steps=2", "eval.interval=0")
                stages = "" if schedule in ("gpipe", "1f1b", "zb_h1", "zb_h2", "auto") else ", 2 stages a rank"
                self.assertIn(f"   2 ranks: pipeline 2 ({schedule}{stages})   ", printed)
                found = re.search(r"allocated ([\d,]+) of ([\d,]+) bytes planned", printed)
                self.assertEqual(found[1], found[2])

    def testARunGoesOnOnAnyOtherPipeline(self):
        self.trainOn("whole", None)
        for step, pipeline in ((4, "two"), (8, "there_and_back"), (10, None), (12, "four")):
            printed = self.trainOn("moved", PIPELINES.get(pipeline), f"train.steps={step}", "lr_schedule.kind=constant")
            if step > 4:
                self.assertIn("no bit changes: a pipeline says who computes what, and when", printed)
        self.trainOn("constant", None, "lr_schedule.kind=constant")
        self.assertEqual(self.curve("constant"), self.curve("moved"))
        self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", "runs/constant", "runs/moved"))

    def testEveryMeshEvaluatesAndWritesWhatAPipelineSaved(self):
        self.trainOn("one", None, "train.steps=2")
        for name in ("two", "there_and_back", "four"):
            self.trainOn(name, PIPELINES[name])
        texts = set()
        for name in ("one", "two", "there_and_back", "four"):
            evaluated = self.passes("weft", "eval", f"runs/{name}", "--checkpoint", "runs/two")
            written = self.passes("weft", "generate", f"runs/{name}", "--checkpoint", "runs/two", "--prompt", "the ", "--tokens", 20,
                                  "--temperature", 0)
            self.assertTrue(written.startswith("the "))
            texts.add((evaluated, written))
        self.assertEqual(1, len(texts), texts)

    def testAnExecutableHasAllStages(self):
        sets = [word for one in self.settings(f"parallel.pipeline={PIPELINES['three']}") for word in ("--set", one)]
        self.passes("weft", "compile", "run.yaml", *sets, "-o", "run.weft")
        self.train("compiled", file="run.weft")
        self.trainOn("one", None)
        self.assertSameRun("one", "compiled")
        self.refuses(2, "run.weft was compiled with 3. Compile again: ", *self.training("a", "parallel.pipeline.size=2", file="run.weft"))


class WholeProgram(PipelineTest):
    """What one rank tells is told of all stages."""

    def testADumpHoldsTheValuesOfAllStages(self):
        """Products of the forward pass, of which no cut changes the names."""
        dump = ("train.steps=2", "train.dump.steps=[2]", "train.dump.match=['model.layers.*/einsum/microbatch.[0-9]']")
        dumped = re.search(r"dumped (\d+) values", self.trainOn("one", None, *dump))
        for name in ("two", "there_and_back"):
            self.assertIn(f"dumped {dumped[1]} values", self.trainOn(name, PIPELINES[name], *dump))
            compared = self.passes("weft", "compare", "runs/one", f"runs/{name}")
            self.assertIn(f"\n  equal: {dumped[1]} values\n", compared)
            self.assertNotIn("not compared", compared)

    def testAProfileShowsEveryStage(self):
        printed = self.passes(*self.training("a", *self.settings(f"parallel.pipeline={PIPELINES['three']}", "train.steps=3")), "--profile")
        for rank in range(3):
            self.assertIn(f"pipeline rank {rank}: profile: one step, ", printed)
        counted = re.findall(r"communication: one step, (\d+) bytes sent by this rank, (\d+) compiled", printed)
        self.assertEqual(3, len(counted))
        for seen, compiled in counted:
            self.assertEqual(seen, compiled)

    def testTheFirstValueThatIsNotFiniteIsThatOfOneDevice(self):
        """In every schedule: by what a value depends on, not by when its rank came to it."""
        sets = ("optimizer={kind: sgd, lr: 1.0e+6, clip_grad_norm: 0}", "lr_schedule.warmup_steps=0", "train.on_nonfinite=stop")
        told = set()
        for name in ("one", "two", "there_and_back"):
            pipeline = (f"parallel.pipeline={PIPELINES[name]}",) if name != "one" else ()
            done = self.refuses(6, "\nfirst in program order: ", *self.training(name, *self.settings(*pipeline, *sets)))
            told.add(done.stderr[done.stderr.index("first in program order"):])
        self.assertEqual(1, len(told), told)

    def testMemoryIsExplainedRankByRank(self):
        sets = [word for one in self.settings(f"parallel.pipeline={PIPELINES['there_and_back']}") for word in ("--set", one)]
        text = self.passes("weft", "compile", "run.yaml", *sets, "--explain", "memory")
        rows = re.findall(r"(?m)^  pipeline rank (\d) \(stages (\d), (\d)\) .* (\d+)$", text)
        self.assertEqual([("0", "0", "3"), ("1", "1", "2")], [row[:3] for row in rows])
        most = max(int(row[3]) for row in rows)
        self.assertRegex(text, rf"memory: [\d.]+ MiB per rank on pipeline rank \d .*, which needs most, .* \({most} bytes\)")

    def testRanksThatNeedLessMakeRoomForOthers(self):
        """launch.memory_limit is of all ranks together, launch.memory_per_rank of each."""
        sets = self.settings("parallel.pipeline={size: 4, layout: E t | t | t*3 | t L}", "train.steps=2", "eval.interval=0")
        text = self.passes("weft", "compile", "run.yaml", "--explain", "memory", *(word for one in sets for word in ("--set", one)))
        needed = [int(bytes) for bytes in re.findall(r"(?m)^  pipeline rank \d .* (\d+)$", text)]
        self.assertEqual(4, len(needed))
        self.assertLess(sum(needed), 4 * max(needed))
        self.passes(*self.training("fits", *sets, f"launch.memory_limit={sum(needed)}"))
        largest = needed.index(max(needed))
        self.refuses(8, f"; pipeline rank {largest} (stage {largest}) needs most, ",
                     *self.training("all", *sets, f"launch.memory_limit={sum(needed) - 1}"))
        self.refuses(8, f"memory: pipeline rank {largest} (stage {largest}) needs ",
                     *self.training("each", *sets, f"launch.memory_per_rank={max(needed) - 1}"))


class Example(PipelineTest):

    def testItCompilesWithoutItsData(self):
        example = os.path.join(ROOT, "examples", "pipeline", "run.yaml")
        plan = self.passes("weft", "compile", example, "--explain", "memory")
        self.assertRegex(plan, r"step: 6 microbatches from 1F to 1W")


class ByHand(PipelineTest):
    """A program is cut at its boundaries."""

    def setUp(self):
        super().setUp()
        self.write("model.mlir", PROGRAM)
        self.write("hand.yaml", BY_HAND)

    def testStagesBeginAtItsBoundaries(self):
        self.train("one", file="hand.yaml")
        for name, pipeline in {"two": "{size: 2, schedule: zb_h1}", "three": "{size: 3}", "written": "{size: 2, layout: E | t L}"}.items():
            self.train(name, f"parallel.pipeline={pipeline}", file="hand.yaml")
            self.assertSameRun("one", name)

    def testStagesThatItDoesNotHaveAreRefused(self):
        self.refuses(2, "4 ranks with 1 stage each (schedule 1f1b) are 4 stages, and 1 layer makes at most 3",
                     *self.training("a", "parallel.pipeline.size=4", file="hand.yaml"))
        self.refuses(2, "has 2 layers, the model 1. Works: auto, 2, or \"E t | L\"",
                     *self.training("a", "parallel.pipeline={size: 2, layout: E t | t L}", file="hand.yaml"))
        self.write("model.mlir", re.sub(r"nn.boundary \d", "nn.stop_gradient", PROGRAM))
        self.refuses(2, "model.mlir has no nn.boundary, where it could be cut into stages. Works: 1, or a program in which",
                     *self.training("a", "parallel.pipeline.size=2", file="hand.yaml"))


class Trouble(PipelineTest):

    def testWhatCannotBeIsRefusedWithWhatCanBeforeAnythingIsWritten(self):
        for pipeline, message in {
            "{size: 16}": "16 ranks with 1 stage each (schedule 1f1b) are 16 stages, and 6 layers make at most 8: embedding and head "
                          "count as one each. Works: parallel.pipeline.size: 8 or less, or a model of 14 layers or more.",
            "{size: 8, schedule: dualpipe_v, layout: 16}": "has 16 stages, and 6 layers make at most 8",
            "{size: 2, layout: E t*3 | t*2 L}": "has 5 layers, the model 6. Works: auto, 2, or \"E t*3 | t*3 L\".",
            "{size: 3, schedule: dualpipe_v}": "dualpipe_v on 3 ranks needs 6 microbatches, and a step has 5",
        }.items():
            self.refuses(2, message, *self.training("a", *self.settings("train.global_batch=5", f"parallel.pipeline={pipeline}")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def testAScheduleOfAFileMustFitTheRun(self):
        self.passes("weft", "schedule", "show", "1f1b", "--ranks", 2, "--microbatches", 4, "--output", "mine.txt")
        sets = ("parallel.pipeline={size: 2, schedule: 'file:mine.txt'}",)
        self.refuses(2, "mine.txt has 4 microbatches, the run 8 (train.global_batch / (micro_batch x data ranks)). Works: "
                     "train.global_batch: 4, or a file for 8.", *self.training("a", *self.settings(*sets)))
        self.trainOn("mine", None, *sets, "train.global_batch=4")
        self.trainOn("one", None, "train.global_batch=4")
        self.assertSameRun("one", "mine")
