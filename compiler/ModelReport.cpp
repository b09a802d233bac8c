//===- ModelReport.cpp - What a model is, and what a rank holds of it ----------===//
//
// Blocks follow from names: a number is a layer, and what comes behind it a part that each layer has.
//
//===----------------------------------------------------------------------===//
#include "compiler/ModelReport.h"

#include "compiler/Compile.h"
#include "compiler/DiagnosticText.h"
#include "compiler/model/BuildPrograms.h"
#include "dialects/nn/NnDialect.h"
#include "passes/analysis/KernelCalls.h"
#include "runtime/config/Schema.h"
#include "runtime/executable/Parts.h"
#include "runtime/support/FormatCount.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "mlir/IR/Verifier.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace mlir;

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

/// Parameters whose names differ in the number of the layer alone.
struct Block {
  std::string name; ///< with `*` for the number
  int64_t elements = 0;
  std::set<std::string> layers;
};

/// The block of a parameter, and the number of its layer; empty without one.
std::pair<std::string, std::string> blockOf(const std::string &parameter) {
  const std::vector<std::string> parts = absl::StrSplit(parameter, '.');
  const auto isNumber = [](const std::string &part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
  };
  const auto number = std::find_if(parts.begin(), parts.end(), isNumber);
  if (number == parts.end())
    return {absl::StrJoin(parts.begin(), parts.end() - (parts.size() > 1 ? 1 : 0), "."), ""};
  const std::string start = absl::StrJoin(parts.begin(), number, ".");
  const std::string part = number + 1 < parts.end() ? *(number + 1) : "";
  return {absl::StrCat(start, ".*", part.empty() ? "" : ".", part), *number};
}

std::vector<Block> blocksOf(const std::vector<ModelParameter> &parameters) {
  std::vector<Block> blocks;
  for (const ModelParameter &parameter : parameters) {
    const auto [name, layer] = blockOf(parameter.name);
    auto block = std::find_if(blocks.begin(), blocks.end(),
                              [&, &name = name](const Block &each) { return each.name == name; });
    if (block == blocks.end())
      block = blocks.insert(blocks.end(), {name, 0, {}});
    block->elements += parameter.type.elements();
    if (!layer.empty())
      block->layers.insert(layer);
  }
  return blocks;
}

int64_t elementsOf(const std::vector<ModelParameter> &parameters) {
  int64_t elements = 0;
  for (const ModelParameter &parameter : parameters)
    elements += parameter.type.elements();
  return elements;
}

/// The keys of `model` that a family takes.
std::vector<std::string> keysOf(int family, const Key &familyKey) {
  Config config;
  std::get<ChoiceField>(familyKey.fieldIn(&config)).set(&config.model.family, family);
  std::vector<std::string> names;
  for (const Key &key : configSchema()) {
    const absl::string_view section = "model.";
    if (!absl::StartsWith(key.path, section) || &key == &familyKey || key.path == "model.program")
      continue;
    std::string name = key.path.substr(section.size());
    name = name.substr(0, name.find('.'));
    if (isUsed(key, config) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

} // namespace

absl::StatusOr<std::vector<ModelParameter>> modelParameters(const Config &config) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DiagnosticText diagnostics(&context);
  OwningOpRef<ModuleOp> module = buildPrograms(&context, config);
  if (!module || failed(mlir::verify(*module)))
    return diagnostics.error("build: the program is not valid");
  std::vector<ModelParameter> parameters;
  for (nn::ParameterOp parameter : module->getOps<nn::ParameterOp>())
    parameters.push_back(
        {parameter.getSymName().str(), toTensorType(cast<RankedTensorType>(parameter.getType()))});
  return parameters;
}

absl::StatusOr<std::string> modelFunctionText(const Config &config) {
  if (!config.model.program.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("model.program: ", config.model.program,
                     " is the program itself. Works: a run file with model.family"));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DiagnosticText diagnostics(&context);
  OwningOpRef<ModuleOp> module = buildModelFunction(&context, config);
  if (failed(mlir::verify(*module)))
    return diagnostics.error("build: the function is not valid");
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : module->getOps()) {
    op.print(stream, OpPrintingFlags().printNameLocAsPrefix());
    stream << "\n";
  }
  return text;
}

MeshMemory meshMemory(const Compiled &compiled, std::string mesh) {
  const MemoryReport &report = compiled.memory[largestPart(compiled.parts)];
  MeshMemory memory;
  memory.mesh = std::move(mesh);
  memory.ranks = compiled.parts.front().mesh.ranks();
  memory.parameters = report.categoryBytes("parameters");
  memory.gradients = report.gradientBytes;
  memory.optimizer = report.categoryBytes("optimizer");
  memory.all = report.peakBytes;
  return memory;
}

std::string reportText(const ModelReport &report) {
  const int64_t all = elementsOf(report.parameters);
  std::string text = absl::StrFormat("%s: %s parameters in %d tensors\n", report.family, formatCount(all),
                                     report.parameters.size());
  const std::vector<Block> blocks = blocksOf(report.parameters);
  size_t width = 5;
  for (const Block &block : blocks)
    width = std::max(width, block.name.size());
  const int column = static_cast<int>(width);
  absl::StrAppendFormat(&text, "  %-*s  %7s  %18s  %18s  %6s\n", column, "block", "layers", "parameters",
                        "in all", "share");
  for (const Block &block : blocks) {
    const int64_t layers = std::max<int64_t>(1, static_cast<int64_t>(block.layers.size()));
    absl::StrAppendFormat(&text, "  %-*s  %7s  %18s  %18s  %5.1f%%\n", column, block.name,
                          block.layers.empty() ? "" : absl::StrCat(layers),
                          block.elements % layers == 0 ? formatCount(block.elements / layers) : "uneven",
                          formatCount(block.elements),
                          100.0 * static_cast<double>(block.elements) /
                              static_cast<double>(std::max<int64_t>(all, 1)));
  }
  if (report.flopsPerToken)
    absl::StrAppendFormat(
        &text, "floating-point operations: %.4g per token, forward and backward, in sequences of %d\n",
        *report.flopsPerToken, report.sequenceLength);
  if (report.meshes.empty())
    return text;
  size_t names = 4;
  for (const MeshMemory &mesh : report.meshes)
    names = std::max(names, mesh.mesh.size());
  const int meshColumn = static_cast<int>(names);
  absl::StrAppendFormat(&text, "bytes of the rank that needs most\n  %-*s  %6s  %18s  %18s  %18s  %18s\n",
                        meshColumn, "mesh", "ranks", "parameters", "gradients", "optimizer", "in all");
  for (const MeshMemory &mesh : report.meshes)
    absl::StrAppendFormat(&text, "  %-*s  %6d  %18s  %18s  %18s  %18s\n", meshColumn, mesh.mesh, mesh.ranks,
                          formatCount(mesh.parameters), formatCount(mesh.gradients),
                          formatCount(mesh.optimizer), formatCount(mesh.all));
  return text;
}

static Json listOf(const std::vector<ModelParameter> &parameters) {
  Json list = Json::array();
  for (const ModelParameter &parameter : parameters)
    list.push_back({{"name", parameter.name},
                    {"shape", parameter.type.shape},
                    {"dtype", std::string(name(parameter.type.dtype))},
                    {"block", blockOf(parameter.name).first}});
  return list;
}

std::string parametersJson(const std::vector<ModelParameter> &parameters) {
  return listOf(parameters).dump(1) + "\n";
}

std::string reportJson(const ModelReport &report) {
  Json blocks = Json::array(), meshes = Json::array();
  for (const Block &block : blocksOf(report.parameters))
    blocks.push_back({{"name", block.name}, {"layers", block.layers.size()}, {"parameters", block.elements}});
  for (const MeshMemory &mesh : report.meshes)
    meshes.push_back({{"mesh", mesh.mesh},
                      {"ranks", mesh.ranks},
                      {"parameter_bytes", mesh.parameters},
                      {"gradient_bytes", mesh.gradients},
                      {"optimizer_bytes", mesh.optimizer},
                      {"bytes", mesh.all}});
  return Json{{"family", report.family},
              {"parameter_count", elementsOf(report.parameters)},
              {"sequence_length", report.sequenceLength},
              {"flops_per_token", report.flopsPerToken ? Json(*report.flopsPerToken) : Json()},
              {"blocks", std::move(blocks)},
              {"meshes", std::move(meshes)},
              {"parameters", listOf(report.parameters)}}
             .dump(2) +
         "\n";
}

std::string familiesText() {
  const Key &family = *findKey("model.family");
  std::string text;
  for (size_t i = 0; i < family.choices.size(); ++i)
    absl::StrAppend(&text, family.choices[i].name, ": ", family.choices[i].doc, "\n  ",
                    absl::StrJoin(keysOf(static_cast<int>(i), family), " "), "\n");
  return text;
}

std::string familiesJson() {
  const Key &family = *findKey("model.family");
  Json list = Json::array();
  for (size_t i = 0; i < family.choices.size(); ++i)
    list.push_back({{"family", family.choices[i].name},
                    {"meaning", family.choices[i].doc},
                    {"keys", keysOf(static_cast<int>(i), family)}});
  return list.dump(2) + "\n";
}

} // namespace weft
