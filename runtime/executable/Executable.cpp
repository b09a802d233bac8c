#include "runtime/executable/Executable.h"

#include <array>

namespace weft {
namespace {
constexpr std::array<std::string_view, kBaseKinds> kBaseKindNames = {
    "constants", "parameters", "inputs", "step", "slots", "scratch", "workspace", "snapshot"};

struct InitializerRow {
  std::string_view name;
  size_t numbers;
};
constexpr std::array<InitializerRow, kInitializerKinds> kInitializers = {
    {{"zeros", 0}, {"ones", 0}, {"constant", 1}, {"normal", 2}, {"truncated_normal", 4}, {"uniform", 2}}};
} // namespace

std::string_view name(BaseKind kind) { return kBaseKindNames[static_cast<size_t>(kind)]; }
std::string_view name(InitializerKind kind) { return kInitializers[static_cast<size_t>(kind)].name; }
size_t initializerNumbers(InitializerKind kind) { return kInitializers[static_cast<size_t>(kind)].numbers; }

uint64_t MemoryPlan::arenaBytes() const {
  uint64_t total = 0;
  for (const MemoryBase &base : bases)
    total += base.bytes();
  return total;
}

uint64_t MemoryPlan::peakBytes() const {
  uint64_t total = arenaBytes();
  for (const MemoryRow &row : rows)
    total += row.outsideArena ? row.bytes : 0;
  return total;
}

std::vector<uint64_t> MemoryPlan::starts() const {
  std::vector<uint64_t> offsets;
  offsets.reserve(bases.size());
  uint64_t next = 0;
  for (const MemoryBase &base : bases) {
    offsets.push_back(next);
    next += base.bytes();
  }
  for (size_t i = 0; i < bases.size(); ++i)
    if (bases[i].within != kNone)
      offsets[i] = offsets[bases[i].within];
  return offsets;
}

} // namespace weft
