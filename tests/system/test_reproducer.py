"""A pass that fails leaves its input and its options with `weft-compile --reproducer`, and weft-opt fails on them alike."""

from harness import SystemTest

PROGRAM = """\
nn.parameter @w : tensor<2x4xf32> normal {{deviation = 0.02}}
nn.step @step microbatches(1) inputs(["tokens", "targets"]) attributes {{objective = "loss_sum", denominator = {denominator}}}
prepare {{ ^bb0(%tokens: tensor<1x2x4xi32>, %targets: tensor<1x2x4xi32>):
  %count = nn.constant dense<8> : tensor<i64>
  nn.yield %count : tensor<i64>
}} microbatch {{ ^bb0(%tokens: tensor<2x4xi32>, %targets: tensor<2x4xi32>, %count: tensor<i64>):
  %w = nn.read @w : tensor<2x4xf32>
  %s = nn.{op} : tensor<2x4xf32>
  %loss_sum = nn.reduce sum %s [0, 1] : tensor<2x4xf32> -> tensor<f32>
  nn.carry ["loss_sum"] ["sum"] %loss_sum : tensor<f32>
}} update {{ ^bb0(%loss_sum: tensor<f32>, %count: tensor<i64>):
  nn.yield ["loss", "target_tokens"] %loss_sum, %count : tensor<f32>, tensor<i64>
}}
"""

RUN = """\
model: {program: program.mlir}
data: {train: [{path: corpus.txt}], sequence_length: 4}
optimizer: {kind: adamw, lr: 1.0e-2, no_decay: ["*.bias", "b?"], groups: [{match: "[w]*", lr_scale: 0.3, weight_decay: 1.0e-7}]}
train: {steps: 2, micro_batch: 2, global_batch: 2}
"""


class Reproducer(SystemTest):

    def setUp(self):
        super().setUp()
        self.write("run.yaml", RUN)

    def failsAlike(self, message, pipeline, **program):
        self.write("program.mlir", PROGRAM.format(**program))
        done = self.refuses(2, message, "weft-compile", "run.yaml", "--reproducer", "failed.mlir")
        self.assertIn("reproducer generated at `failed.mlir`", done.stderr)
        self.assertIn(f'pipeline: "builtin.module({pipeline}', self.read("failed.mlir"))
        self.refuses(1, message, "weft-opt", "--run-reproducer", "failed.mlir")

    def testAPassWithoutOptions(self):
        self.failsAlike("'nn.cumulative_sum' op has no derivative", "weft-differentiate", op="cumulative_sum %w 1", denominator=0)

    def testAPassWithPatternsAndNumbersAsOptions(self):
        self.failsAlike("'nn.step' op has denominator 5, but prepare yields 1 values", "weft-update{", op="tanh %w", denominator=5)
        written = self.read("failed.mlir")
        self.assertIn("no-decay={*.bias,b?}", written)
        self.assertIn("groups={[w]*:0.29999999999999999:9.9999999999999995e-08}", written)

    def testNothingIsLeftWhenAllPassesSucceed(self):
        self.write("program.mlir", PROGRAM.format(op="tanh %w", denominator=0))
        self.passes("weft-compile", "run.yaml", "--reproducer", "failed.mlir")
        self.refuses(1, "failed.mlir", "weft-opt", "--run-reproducer", "failed.mlir")
