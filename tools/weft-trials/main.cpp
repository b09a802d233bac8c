//===- main.cpp - weft-trials: the engine of randomized trials --------------===//
//
// scripts/trials.sh starts it. Each trial prints what failed with the command that repeats it, a table, and
// closes with `N passed, N failed`; the exit status is 0 when nothing failed, 2 for a wrong command line.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/Trials.h"

#include <CLI/CLI.hpp>

using namespace weft::trials;

namespace {
void addCommonOptions(CLI::App &trial, Options &options, bool isOfOps) {
  trial.add_option("--count", options.count, "How many cases")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  trial.add_option("--seed", options.seed, "What the cases are drawn from")->capture_default_str();
  trial.add_option("--minutes", options.minutes, "Stop after this time, whatever the count")
      ->check(CLI::PositiveNumber);
  if (isOfOps)
    trial.add_option("--only", options.only, "One op, by its name without nn.");
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("The engine of randomized trials: scripts/trials.sh starts it.", "weft-trials");
  app.require_subcommand(1);
  Options options;
  CLI::App *gradients = app.add_subcommand("gradients", "Derivatives and sharding rules of every op");
  addCommonOptions(*gradients, options, true);
  gradients->add_option("--sabotage", options.sabotage,
                        "derivative: twice the right one; part: one part of a split op is lost");
  CLI::App *kernels = app.add_subcommand("kernels", "CPU kernels against the exact interpreter");
  addCommonOptions(*kernels, options, true);
  kernels->add_option("--instruction-set", options.instructionSet, "Default: the highest of this machine");
  kernels->add_option("--sabotage", options.sabotage,
                      "term: one element of an operand is lost; bits: 3 threads give another last bit");
  CLI::App *reshard = app.add_subcommand("reshard", "Paths between placements, on virtual ranks");
  addCommonOptions(*reshard, options, false);
  reshard->add_option(
      "--sabotage", options.sabotage,
      "reduction: one is left out; order: axes of a collective are turned around; bytes: the path "
      "sends more than it must");
  CLI::App *ring =
      app.add_subcommand("ring", "Attention around a ring of ranks against attention as a whole");
  addCommonOptions(*ring, options, false);
  ring->add_option("--sabotage", options.sabotage, "A broken partition pass of weft-run --sabotage");
  CLI::App *mesh = app.add_subcommand("mesh", "Small models on random meshes against one device");
  addCommonOptions(*mesh, options, false);
  mesh->add_option(
      "--sabotage", options.sabotage,
      "element: one rank begins with one element less; or a broken partition pass of weft-run --sabotage");
  CLI::App *order =
      app.add_subcommand("order", "The order of samples, blends, and documents that do not see each other");
  addCommonOptions(*order, options, false);
  order->add_option("--sabotage", options.sabotage,
                    "rank: data ranks read each other's samples; blend: one input has a hundredth more; "
                    "segments: attentions lose them");
  CLI::App *schedule = app.add_subcommand("schedule", "Changed schedules, verified and executed");
  addCommonOptions(*schedule, options, false);
  schedule->add_option("--sabotage", options.sabotage, "accept: all are; refuse: none is accepted");
  FaultyRanksOptions faulty;
  CLI::App *ranks = app.add_subcommand("faulty-ranks", "Trains with a rank that dies or freezes");
  ranks->add_option("FILE", faulty.file, "An executable")->required();
  ranks->add_option("--name", faulty.name, "The run's name");
  ranks->add_option("--fault", faulty.fault)
      ->check(CLI::IsMember({"none", "die", "freeze"}))
      ->capture_default_str();
  ranks->add_option("--rank", faulty.rank, "Which rank has it");
  ranks->add_option("--collective", faulty.collective, "Before which of its collectives, from 1")
      ->check(CLI::PositiveNumber);
  ranks->add_flag("--in-save", faulty.inSave, "Count the collectives of saves alone");
  CLI::App *checkpoints = app.add_subcommand("checkpoint", "Saves on random meshes, loads on others");
  addCommonOptions(*checkpoints, options, false);
  checkpoints->add_option("--sabotage", options.sabotage, "element: one changes between loading and saving");
  VolatileDiskOptions disk;
  CLI::App *onDisk =
      app.add_subcommand("volatile-disk", "Trains; what is not synced is lost with the process");
  onDisk->add_option("FILE", disk.file, "An executable")->required();
  onDisk->add_option("--name", disk.name, "The run's name");
  onDisk
      ->add_option("--sabotage", disk.sabotage,
                   "skip_fsync: files are not synced; late_snapshot: the copy is made after further steps")
      ->check(CLI::IsMember({"skip_fsync", "late_snapshot"}));
  CLI::App *sets = app.add_subcommand("instruction-sets", "Lists those that this machine runs");
  CLI11_PARSE(app, argc, argv);
  if (sets->parsed())
    return listInstructionSets();
  if (ranks->parsed())
    return runFaultyRanks(faulty);
  if (checkpoints->parsed())
    return runCheckpointTrials(options);
  if (onDisk->parsed())
    return runVolatileDisk(disk);
  if (mesh->parsed())
    return runMeshTrials(options);
  if (ring->parsed())
    return runRingTrials(options);
  if (order->parsed())
    return runOrderTrials(options);
  if (schedule->parsed())
    return runScheduleTrials(options);
  if (reshard->parsed())
    return runReshardTrials(options);
  return gradients->parsed() ? runGradientTrials(options) : runKernelTrials(options);
}
