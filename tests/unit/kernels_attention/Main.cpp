//===- Main.cpp - The tests under one instruction set ---------------------===//
//
// A process runs one instruction set: the highest of this machine, or the lower one that
// WEFT_TEST_INSTRUCTION_SET names. Where that is not a lower one that the machine runs, the program leaves
// with 77, which ctest counts as skipped.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/Cpu.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  std::vector<weft::cpu::InstructionSet> sets = weft::cpu::supportedInstructionSets();
  const char *wanted = std::getenv("WEFT_TEST_INSTRUCTION_SET");
  auto chosen = sets.empty() ? sets.end() : sets.end() - 1;
  if (wanted)
    chosen = std::find_if(sets.begin(), chosen, [&](auto set) { return weft::cpu::name(set) == wanted; });
  // The search above ends at the highest set, which the run without the variable covers.
  if (chosen == sets.end() || (wanted && chosen + 1 == sets.end())) {
    std::fprintf(stderr, "skipped: not a lower instruction set that this machine runs\n");
    return 77;
  }
  absl::Status status = weft::cpu::useInstructionSet(*chosen);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return RUN_ALL_TESTS();
}
