//===- SchemaTraining.cpp - The keys of the optimizer and the loop --------===//
//
// `optimizer`, `lr_schedule`, `loss` and `train`: what one step does with gradients, and how many steps there
// are.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"

namespace weft {

/// The keys of one map of optimizer.groups.
static const std::vector<Key> &parameterGroupKeys() {
  static const std::vector<Key> keys = {
      Key("match", fieldOf<&ParameterGroup::match>(),
          "A shell pattern over parameter names (`*` any text, `?` one character).")
          .required(),
      Key("lr_scale", fieldOf<&ParameterGroup::lrScale>(), "Factor on the learning rate.")
          .atLeast(0)
          .atMost(1e6),
      Key("weight_decay", fieldOf<&ParameterGroup::weightDecay>(),
          "Decay of this group, one-dimensional parameters included; auto: optimizer.weight_decay and its "
          "rules.")
          .atLeast(0)
          .atMost(1e6),
  };
  return keys;
}

static void addOptimizerKeys(std::vector<Key> &keys) {
  using Optimizer = OptimizerConfig;
  auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("optimizer." + name, binding, std::move(doc)).mayChange();
  };
  add("kind", fieldOf<&Config::optimizer, &Optimizer::kind>(), "The update rule.")
      .choice("adamw", "Adam with decoupled weight decay (arXiv:1711.05101)")
      .choice("sgd", "gradient descent with momentum; weight decay is added to the gradient")
      .choice("lion", "the sign of an interpolated momentum, decoupled weight decay (arXiv:2302.06675)")
      .mustStay("the checkpoint holds another optimizer's state");
  add("lr", fieldOf<&Config::optimizer, &Optimizer::lr>(),
      "The highest learning rate; lr_schedule shapes it.")
      .required()
      .atLeast(0)
      .atMost(1e6);
  add("betas", fieldOf<&Config::optimizer, &Optimizer::betas>(),
      "Decay rates of the two averages of gradients.")
      .usedWith("optimizer.kind", {"adamw", "lion"})
      .atLeast(0)
      .below(1);
  add("epsilon", fieldOf<&Config::optimizer, &Optimizer::epsilon>(),
      "Added to the root of the second average.")
      .usedWith("optimizer.kind", {"adamw"})
      .above(0)
      .atMost(1);
  add("weight_decay", fieldOf<&Config::optimizer, &Optimizer::weightDecay>(),
      "Pull toward zero on every parameter with more than one dimension that no_decay does not name.")
      .atLeast(0)
      .atMost(1e6);
  add("momentum", fieldOf<&Config::optimizer, &Optimizer::momentum>(),
      "Decay rate of the average of gradients.")
      .usedWith("optimizer.kind", {"sgd"})
      .atLeast(0)
      .below(1)
      .mustStay("the checkpoint's averages were made with another");
  add("clip_grad_norm", fieldOf<&Config::optimizer, &Optimizer::clipGradNorm>(),
      "Gradients are scaled down to this global norm when theirs is larger; 0: never.")
      .atLeast(0)
      .atMost(1e30);
  add("no_decay", fieldOf<&Config::optimizer, &Optimizer::noDecay>(),
      "Shell patterns of further parameters that do not decay.");
  add("groups", fieldOf<&Config::optimizer, &Optimizer::groups>(),
      "Parameters with a rate or decay of their own; the first group that matches a name counts.")
      .elementKeys(parameterGroupKeys());
}

static void addScheduleKeys(std::vector<Key> &keys) {
  using Schedule = LrScheduleConfig;
  auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("lr_schedule." + name, binding, std::move(doc))
        .mayChange("the rest of the schedule has the new shape");
  };
  add("kind", fieldOf<&Config::lrSchedule, &Schedule::kind>(), "The shape after the warmup.")
      .choice("constant", "optimizer.lr to the end")
      .choice("linear", "a straight line from optimizer.lr to min_lr_ratio times it at train.steps")
      .choice("cosine", "half a cosine from optimizer.lr to min_lr_ratio times it at train.steps")
      .choice("wsd", "optimizer.lr, then a straight line to min_lr_ratio times it over the last decay_steps")
      .choice("inverse_sqrt", "optimizer.lr * sqrt(w / step), with w = warmup_steps or, without warmup, 1");
  add("warmup_steps", fieldOf<&Config::lrSchedule, &Schedule::warmupSteps>(),
      "Length of the straight line from 0 to optimizer.lr at the start.")
      .unit("steps")
      .atLeast(0)
      .atMost(2147483647);
  add("min_lr_ratio", fieldOf<&Config::lrSchedule, &Schedule::minLrRatio>(),
      "The last learning rate, as a part of optimizer.lr.")
      .usedWith("lr_schedule.kind", {"linear", "cosine", "wsd"})
      .atLeast(0)
      .atMost(1);
  add("decay_steps", fieldOf<&Config::lrSchedule, &Schedule::decaySteps>(), "Length of the decay at the end.")
      .usedWith("lr_schedule.kind", {"wsd"})
      .required()
      .unit("steps")
      .atLeast(1)
      .atMost(2147483647);
}

static void addTrainKeys(std::vector<Key> &keys) {
  using Train = TrainConfig;
  auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("train." + name, binding, std::move(doc)).mayChange();
  };
  add("steps", fieldOf<&Config::train, &Train::steps>(), "Optimizer steps of the whole run.")
      .required()
      .unit("steps")
      .atLeast(1)
      .atMost(2147483647)
      .mayChange("the rest of the learning-rate schedule follows the new length");
  add("micro_batch", fieldOf<&Config::train, &Train::microBatch>(),
      "Samples that each data rank computes at once.")
      .required()
      .unit("samples")
      .atLeast(1)
      .atMost(1 << 20)
      .mayChange("sums are rounded in another order, so bits differ from an unchanged run");
  add("global_batch", fieldOf<&Config::train, &Train::globalBatch>(),
      "Samples of one optimizer step, on all data ranks.")
      .required()
      .unit("samples")
      .atLeast(1)
      .atMost(2147483647)
      .mustStay("the samples of each step would be others");
  add("seed", fieldOf<&Config::train, &Train::seed>(),
      "Seed of initial values, dropout and the order of samples.")
      .atLeast(0)
      .atMost(9007199254740992)
      .mustStay("the data order would change");
  add("reduction", fieldOf<&Config::train, &Train::reduction>(),
      "The order of the additions that make sums over the global batch.")
      .choice("fast", "as microbatches and ranks come: other numbers of data ranks round otherwise")
      .choice("canonical",
              "one binary tree over the microbatches in the order of samples: the same bits on 1, 2, 4, ... "
              "data ranks and on every zero level; takes more memory, and no tensor ranks")
      .mayChange("sums are rounded in another order, so bits differ from an unchanged run");
  add("on_nonfinite", fieldOf<&Config::train, &Train::onNonfinite>(),
      "What is done when the loss or a gradient is not finite.")
      .choice("skip", "the step changes nothing and the run goes on; of several such steps in a row the "
                      "first is examined")
      .choice("stop",
              "the run ends with its own exit code, and names the first operation that was not finite")
      .choice("report", "as skip, and the operation is named at each such step");
  add("spike.factor", fieldOf<&Config::train, &Train::spike, &SpikeConfig::factor>(),
      "A loss over factor times the mean of the last window losses is a spike; 0: not looked for.")
      .atLeast(0)
      .atMost(1e6);
  add("spike.window", fieldOf<&Config::train, &Train::spike, &SpikeConfig::window>(),
      "Losses in the mean; none is a spike before there are as many.")
      .usedWithPositive("train.spike.factor")
      .unit("steps")
      .atLeast(1)
      .atMost(100000);
  add("spike.action", fieldOf<&Config::train, &Train::spike, &SpikeConfig::action>(),
      "What is done about a spike.")
      .usedWithPositive("train.spike.factor")
      .choice("report", "a message names the step and its samples")
      .choice("stop", "as report, then the run ends with the exit code of a non-finite loss");
  add("dump.steps", fieldOf<&Config::train, &Train::dump, &DumpConfig::steps>(),
      "Steps, counted from 1, whose values are written; none: nothing is.")
      .atLeast(1)
      .atMost(2147483647);
  add("dump.match", fieldOf<&Config::train, &Train::dump, &DumpConfig::match>(),
      "Shell patterns of the names of values to write.")
      .usedWithAny("train.dump.steps");
}

std::vector<Key> trainingKeys() {
  std::vector<Key> keys;
  addOptimizerKeys(keys);
  addScheduleKeys(keys);
  keys.push_back(Key("loss.label_smoothing", fieldOf<&Config::loss, &LossConfig::labelSmoothing>(),
                     "Part of the target's probability that is spread over the whole vocabulary.")
                     .atLeast(0)
                     .below(1)
                     .mayChange());
  keys.push_back(Key("loss.z_loss", fieldOf<&Config::loss, &LossConfig::zLoss>(),
                     "Weight of the squared log-sum-exp of the logits, which keeps them small.")
                     .atLeast(0)
                     .atMost(1e6)
                     .mayChange());
  addTrainKeys(keys);
  return keys;
}

} // namespace weft
