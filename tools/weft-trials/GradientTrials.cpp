#include "tools/weft-trials/Cases.h"
#include "tools/weft-trials/Derivatives.h"
#include "tools/weft-trials/Diagnostics.h"
#include "tools/weft-trials/ShardingRules.h"
#include "tools/weft-trials/Trials.h"

#include "absl/strings/str_cat.h"

#include <cstdio>

using namespace mlir;

namespace weft::trials {
namespace {
/// What is broken on purpose.
struct Sabotage {
  bool derivative = false, part = false;
};

void runCase(MLIRContext &context, const Generator &generator, uint64_t seed, Sabotage sabotage,
             Report &report) {
  Random random(seed);
  Style style;
  style.smooth = random.chance(0.7);
  style.integers = random.chance(0.3);
  CaseBuilder builder(&context, random, style);
  generator(builder);
  FailureOr<Case> item = builder.finish();
  if (failed(item))
    return report.fail("the generator's op is not valid");
  if (isa<nn::DifferentiableOpInterface>(item->op))
    checkDerivatives(*item, random, style.smooth, sabotage.derivative, report);
  if (isa<nn::ShardingRuleOpInterface>(item->op))
    checkShardingRule(*item, random, sabotage.part, report);
}
} // namespace

int runGradientTrials(const Options &options) {
  Sabotage sabotage{options.sabotage == "derivative", options.sabotage == "part"};
  if (!options.sabotage.empty() && !sabotage.derivative && !sabotage.part) {
    std::fprintf(stderr, "gradients: --sabotage takes derivative or part, not %s\n",
                 options.sabotage.c_str());
    return 2;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, func::FuncDialect>();
  FailureOr<Selection> selection = selectOps(context, options, {});
  if (failed(selection))
    return 2;
  Report report("gradients", options.only.empty() ? "" : absl::StrCat(" --only ", options.only));
  Deadline deadline(options.minutes);
  std::printf(
      "derivatives: |VJP - central difference| <= 1e-6 max(|difference|, 1); VJP of a composite against "
      "that of its decomposition: 1e-9; sharding rules: 1e-12; all in float64\n");
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index) {
    uint64_t seed = options.seed + static_cast<uint64_t>(index);
    const std::string &op = selection->opOf(seed);
    report.beginCase(op, seed);
    DiagnosticText diagnostics(&context);
    runCase(context, selection->generators.at(op), seed, sabotage, report);
    if (!diagnostics.text().empty())
      report.fail(diagnostics.text());
    report.endCase();
  }
  return report.close();
}

} // namespace weft::trials
