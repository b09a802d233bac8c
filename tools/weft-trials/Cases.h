//===- Cases.h - A generator for every op of nn -----------------------------===//
//
// Which op has which generator, by the op's name. A generator draws every attribute that the op has, and
// shapes: an op that joins the dialect joins a table here, or every run of the trials fails.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_CASES_H
#define WEFT_TOOLS_WEFT_TRIALS_CASES_H

#include "tools/weft-trials/CaseBuilder.h"
#include "tools/weft-trials/Trials.h"

#include <map>

namespace weft::trials {

using Generator = std::function<void(CaseBuilder &)>;
/// By name without the dialect's prefix.
using Generators = std::map<std::string, Generator>;

// Each adds the ops of one family of dialects/nn.
void addElementwiseCases(Generators &generators);
void addShapeCases(Generators &generators);
void addIndexingCases(Generators &generators);
void addContractionCases(Generators &generators);
void addCompositeCases(Generators &generators);
void addAttentionCases(Generators &generators);
void addLossCases(Generators &generators);
void addOptimizerCases(Generators &generators);
// Each adds ops that are compiled together.
void addElementwiseGroup(Generators &generators);
void addLossHeadGroup(Generators &generators);

Generators allGenerators();
/// Several ops that are compiled together: random element-wise regions, and a loss head with its backward.
Generators groupGenerators();

/// The registered ops of nn that answer a question of NnInterfaces.td, sorted by name, without the prefix.
std::vector<std::string> opsUnderTest(mlir::MLIRContext &context);

/// The ops that a run draws from.
struct Selection {
  Generators generators;
  std::vector<std::string> ops;

  const std::string &opOf(uint64_t seed) const { return ops[seed % ops.size()]; }
};

/// All ops and all of `groups`, or the one that the options name. Fails, having said why, when an op has no
/// generator, whichever is chosen, or the named one does not exist.
mlir::FailureOr<Selection> selectOps(mlir::MLIRContext &context, const Options &options,
                                     const Generators &groups);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_CASES_H
