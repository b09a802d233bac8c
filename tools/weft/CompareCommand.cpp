//===- CompareCommand.cpp - weft compare ----------------------------------===//
//
// Prints where two runs begin to differ. The exit code is that of `weft ckpt diff`: 0 when they are equal, 4
// when they differ.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/CompareCommand.h"

#include "runtime/train/RunComparison.h"
#include "tools/weft/Command.h"

#include <cstdio>
#include <memory>

namespace weft {

namespace {
struct CompareCommandOptions {
  std::string first, second;
  std::optional<int64_t> step;
  double tolerance = 0;
};
} // namespace

static void compare(const CompareCommandOptions &options) {
  absl::StatusOr<RunComparison> comparison =
      compareRuns(options.first, options.second, options.step, options.tolerance);
  if (!comparison.ok())
    failCommand(comparison.status());
  std::fputs(comparison->text().c_str(), stdout);
  std::fflush(stdout);
  if (!comparison->equal())
    endCommand(ExitCode::Checkpoint);
}

void addCompareCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("compare", "Show where two runs begin to differ");
  auto options = std::make_shared<CompareCommandOptions>();
  command->add_option("A", options->first, "A run's folder, or a safetensors file of values")->required();
  command->add_option("B", options->second, "Likewise")->required();
  command->add_option("--step", options->step, "Compare the values of this dumped step only")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--tolerance", options->tolerance,
                   "The relative error of a tensor that counts as equal (default: equal bits)")
      ->check(CLI::NonNegativeNumber);
  command->callback([options] { compare(*options); });
}

} // namespace weft
