//===- ExplainFusion.cpp - What --explain fusion prints --------------------===//
//
// What became of the composites; of each region of element-wise ops how often it runs, how many bytes its ops
// would move if each ran alone, and how many they move as one; why neighbors stayed apart; and what is
// computed again.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"

#include "kernels/common/ElementwiseOps.h"
#include "kernels/common/GeneratedKernel.h"
#include "kernels/common/RowPasses.h"
#include "runtime/executable/Parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {
constexpr size_t kRows = 16; ///< of the regions that save most

struct Region {
  const KernelCall *call = nullptr;
  std::string where; ///< of its first run
  int64_t runs = 0, ops = 0, elements = 0, bytesAlone = 0, bytes = 0;
  int64_t saved() const { return runs * (bytesAlone - bytes); }
};

/// Bytes that each op would read and write if it ran by itself.
int64_t bytesAloneOf(const ElementwiseProgram &program, const KernelCall &call) {
  int64_t total = 0;
  const auto operands = static_cast<int32_t>(call.operands.size());
  const std::vector<bool> isOfRows = program.hasReductions() ? repeatedInRows(program) : std::vector<bool>();
  auto bytesOf = [&](int32_t reg) {
    if (reg < operands)
      return call.operands[static_cast<size_t>(reg)].bytes();
    if (reg < program.firstInstruction())
      return int64_t{0};
    TensorType type{program.registerTypes[static_cast<size_t>(reg)], program.shape};
    if (program.hasReductions() && isOfRows[static_cast<size_t>(reg)])
      type.shape.pop_back();
    return type.bytes();
  };
  for (size_t index = 0; index < program.instructions.size(); ++index) {
    total += bytesOf(program.firstInstruction() + static_cast<int32_t>(index));
    for (int32_t source : program.instructions[index].sources)
      total += source < 0 ? 0 : bytesOf(source);
  }
  return total;
}

void measure(Region &region, const KernelCall &call) {
  region.call = &call;
  absl::StatusOr<ElementwiseProgram> program = parseElementwise(call);
  if (!program.ok())
    return;
  region.ops = static_cast<int64_t>(program->instructions.size());
  region.elements = TensorType{DType::I1, program->shape}.elements();
  region.bytesAlone = bytesAloneOf(*program, call);
  for (const auto *types : {&call.operands, &call.results})
    for (const TensorType &type : *types)
      region.bytes += type.bytes();
}

std::string mebibytes(int64_t bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes) / (1 << 20));
}

/// The first op of a region, and how many others lent it their names.
std::string firstOf(const std::string &where) {
  const std::vector<std::string> names = absl::StrSplit(where, " + ");
  return names.size() == 1 ? where : absl::StrCat(names.front(), " and ", names.size() - 1, " more");
}

void addRegions(std::string &text, const Executable &part, const Program &program) {
  std::map<uint32_t, Region> byKernel;
  int64_t runs = 0, generated = 0;
  for (const Command &command : program.commands) {
    if (command.kind != CommandKind::Launch || part.kernels[command.kernel].call.name != "elementwise")
      continue;
    Region &region = byKernel[command.kernel];
    if (++region.runs == 1) {
      measure(region, part.kernels[command.kernel].call);
      region.where = command.location < part.locations.size() ? part.locations[command.location] : "";
    }
    ++runs;
    generated += region.call->has(kSymbolAttribute);
  }
  absl::StrAppendFormat(&text, "%d commands, %d of them element-wise regions, %d of these generated\n",
                        program.commands.size(), runs, generated);
  std::vector<Region> regions;
  int64_t alone = 0, fused = 0;
  for (const auto &[kernel, region] : byKernel) {
    regions.push_back(region);
    alone += region.runs * region.bytesAlone, fused += region.runs * region.bytes;
  }
  if (regions.empty())
    return;
  std::stable_sort(regions.begin(), regions.end(),
                   [](const Region &a, const Region &b) { return a.saved() > b.saved(); });
  absl::StrAppendFormat(&text, "  MiB read and written by their ops alone: %s, as regions: %s\n",
                        mebibytes(alone), mebibytes(fused));
  absl::StrAppend(&text, "  runs  ops   elements  MiB alone  as one  code       first\n");
  for (size_t index = 0; index < std::min(kRows, regions.size()); ++index) {
    const Region &region = regions[index];
    absl::StrAppendFormat(&text, "%6d %4d %10d %10s %7s  %-9s  %s\n", region.runs, region.ops,
                          region.elements, mebibytes(region.bytesAlone), mebibytes(region.bytes),
                          region.call->has(kSymbolAttribute) ? "generated" : "blocks", firstOf(region.where));
  }
  if (regions.size() > kRows)
    absl::StrAppendFormat(&text, "  and %d regions that save less\n", regions.size() - kRows);
}
} // namespace

std::string explainFusion(const Compiled &compiled) {
  std::string text =
      "composites: kernels of the CPU, or their decomposition into element-wise programs and primitives\n";
  for (const auto &[name, count] : compiled.composites)
    absl::StrAppendFormat(&text, "  %-40s %5d kernels  %5d decompositions\n", name, count.kernels,
                          count.decompositions);
  for (size_t part = 0; part < compiled.parts.size(); ++part)
    for (const Program &program : compiled.parts[part].programs) {
      absl::StrAppendFormat(
          &text, "program %s%s: ", program.name,
          compiled.parts.size() == 1 ? "" : absl::StrCat(" of ", partText(compiled.parts, part)));
      addRegions(text, compiled.parts[part], program);
    }
  if (!compiled.apart.empty())
    absl::StrAppend(&text, "values that cross from one region to another, in all programs, and why\n");
  for (const auto &[reason, count] : compiled.apart)
    absl::StrAppendFormat(&text, "%6d  %s\n", count, reason);
  if (compiled.rematerializedLaunches > 0)
    absl::StrAppendFormat(
        &text,
        "values that are computed again instead of kept: %d, by which the peak of values falls "
        "by %s MiB\n",
        compiled.rematerializedLaunches, mebibytes(compiled.rematerializedBytes));
  return text;
}

} // namespace weft
