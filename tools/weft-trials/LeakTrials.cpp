//===- LeakTrials.cpp - What a document's loss knows of another -------------===//
//
// A small model on a random mesh, whose samples hold several documents of which one alone has targets and
// tokens of its own. The gradient of the loss with respect to the embeddings of all other tokens is then
// exactly zero, in the interpreted global and local programs and in what the executable does to the
// embeddings; that of its own tokens is not.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/LeakTrials.h"

#include "compiler/Pipeline.h"
#include "compiler/model/BuildPrograms.h"
#include "dialects/nn/NnDialect.h"
#include "tools/weft-trials/MeshCases.h"
#include "tools/weft-trials/PackedSamples.h"
#include "tools/weft-trials/Random.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <cmath>

using namespace mlir;

namespace weft::trials {
namespace {

constexpr const char *kEmbedding = "model.embed_tokens.weight";

/// The largest number in the rows of tokens [begin, end).
double largestOf(const Tensor &table, int64_t begin, int64_t end) {
  const int64_t width = table.shape.back();
  double largest = 0;
  for (int64_t i = begin * width; i < end * width; ++i)
    largest = std::max(largest, std::abs(table.reals[static_cast<size_t>(i)]));
  return largest;
}

void checkTable(Report &report, const std::string &level, const std::string &text, const Tensor &table) {
  const int64_t vocabulary = table.shape.front(), half = vocabulary / 2;
  report.compare(level, largestOf(table, half, vocabulary), 0,
                 absl::StrCat("the loss of one document has a gradient at the tokens of others: ", text));
  if (largestOf(table, 0, half) == 0)
    report.fail(absl::StrCat(level, ": the loss has no gradient at its own tokens: ", text));
}

const Tensor *gradientIn(const Trajectory &trajectory) {
  for (const auto &[name, tensor] : trajectory.gradients)
    if (absl::StartsWith(name, absl::StrCat("gradient/", kEmbedding)))
      return &tensor;
  return nullptr;
}

/// Attentions that no longer see documents.
void forgetSegments(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto attention = dyn_cast<nn::AttentionOp>(op)) {
      attention.getQuerySegmentsMutable().clear();
      attention.getKeySegmentsMutable().clear();
    }
  });
}

/// A mesh with this method, or without context; documents packed, embeddings of their own, updates that are
/// the gradient's alone.
MeshCase drawLeakCase(uint64_t seed, std::optional<ContextMethod> method) {
  for (uint64_t attempt = seed;; attempt += 7919) {
    MeshCase item = drawMeshCase(attempt);
    Config &config = item.config;
    const bool hasContext = config.parallel.context.size > 1;
    if (config.model.tieWordEmbeddings || hasContext != method.has_value() ||
        (method && config.parallel.context.method != *method))
      continue;
    config.data.packing = Packing::BestFit;
    config.optimizer.kind = OptimizerKind::Sgd;
    config.optimizer.weightDecay = 0;
    config.optimizer.clipGradNorm = 0;
    return item;
  }
}

} // namespace

std::string leakKind(uint64_t seed) {
  constexpr const char *kinds[] = {"leak", "leak, gather", "leak, all_to_all", "leak, ring"};
  return kinds[seed % 4];
}

absl::Status runLeakCase(MLIRContext &context, uint64_t seed, bool forgets, Report &report) {
  constexpr std::optional<ContextMethod> methods[] = {std::nullopt, ContextMethod::Gather,
                                                      ContextMethod::AllToAll, ContextMethod::Ring};
  const MeshCase item = drawLeakCase(seed, methods[seed % 4]);
  OwningOpRef<ModuleOp> module = buildPrograms(&context, item.config), global, local;
  if (!module)
    return absl::InternalError("cannot be built");
  if (forgets)
    forgetSegments(*module);
  PhaseOptions phases;
  phases.observe = [&](StringRef phase, ModuleOp after) {
    if (phase == "update")
      global = after.clone();
    if (phase == (item.config.parallel.pipeline.size > 1 ? "schedule" : "partition"))
      local = after.clone();
  };
  if (failed(runPhases(*module, item.config, phases)))
    return absl::InternalError(absl::StrCat("cannot be compiled: ", item.text));
  FailureOr<Start> start = drawStart(*global, 1, seed);
  if (failed(start))
    return absl::InternalError("has no start");
  drawDocuments(*start, seed);
  if (!isolateDocument(*start, item.config.model.vocabSize, seed))
    return absl::OkStatus(); // documents of one token each: nothing has a loss
  for (auto [level, program] : {std::pair("global", &global), std::pair("local", &local)}) {
    FailureOr<Trajectory> ran = interpretSteps(**program, *start);
    const Tensor *gradient = succeeded(ran) ? gradientIn(*ran) : nullptr;
    if (!gradient)
      return absl::InternalError(absl::StrCat("no gradient of the embeddings in the ", level, " program"));
    checkTable(report, level, item.text, *gradient);
  }
  absl::StatusOr<Trajectory> ran = executeSteps(*module, *start, false);
  if (!ran.ok())
    return ran.status();
  checkTable(report, "executed", item.text, ran->updates.at(absl::StrCat("update of ", kEmbedding)));
  return absl::OkStatus();
}

} // namespace weft::trials
