#include "tools/weft-trials/Cases.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

namespace weft::trials {

Generators allGenerators() {
  Generators generators;
  addElementwiseCases(generators);
  addShapeCases(generators);
  addIndexingCases(generators);
  addContractionCases(generators);
  addCompositeCases(generators);
  addAttentionCases(generators);
  addLossCases(generators);
  addOptimizerCases(generators);
  return generators;
}

Generators groupGenerators() {
  Generators generators;
  addElementwiseGroup(generators);
  addLossHeadGroup(generators);
  return generators;
}

std::vector<std::string> opsUnderTest(mlir::MLIRContext &context) {
  std::vector<std::string> names;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "nn" && (name.hasInterface<nn::DifferentiableOpInterface>() ||
                                               name.hasInterface<nn::ShardingRuleOpInterface>() ||
                                               name.hasInterface<nn::DecomposableOpInterface>()))
      names.push_back(mlir::OperationName(name).stripDialect().str());
  llvm::sort(names);
  return names;
}

mlir::FailureOr<Selection> selectOps(mlir::MLIRContext &context, const Options &options,
                                     const Generators &groups) {
  Selection selection{allGenerators(), opsUnderTest(context)};
  bool complete = true;
  for (const std::string &op : selection.ops)
    if (!selection.generators.contains(op)) {
      complete = false;
      std::fprintf(stderr, "nn.%s has no case: add one in tools/weft-trials/Cases*.cpp\n", op.c_str());
    }
  if (!complete)
    return mlir::failure();
  for (const auto &[name, generator] : groups) {
    selection.generators[name] = generator;
    selection.ops.push_back(name);
  }
  if (options.only.empty())
    return selection;
  if (!llvm::is_contained(selection.ops, options.only)) {
    std::fprintf(stderr, "--only %s: no op of this name is tried\n", options.only.c_str());
    return mlir::failure();
  }
  selection.ops = {options.only};
  return selection;
}

} // namespace weft::trials
