//===- Main.cpp - The tests under one instruction set ---------------------===//
//
// A process runs one instruction set. WEFT_TEST_INSTRUCTION_SET names it (the highest of this machine by
// default); where the machine does not run it, the program leaves with 77, which ctest counts as skipped.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/Cpu.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  std::vector<weft::cpu::InstructionSet> sets = weft::cpu::supportedInstructionSets();
  const char *wanted = std::getenv("WEFT_TEST_INSTRUCTION_SET");
  for (auto set = sets.rbegin(); set != sets.rend(); ++set)
    if (!wanted || weft::cpu::name(*set) == wanted) {
      absl::Status status = weft::cpu::useInstructionSet(*set);
      if (!status.ok()) {
        std::fprintf(stderr, "%s\n", status.ToString().c_str());
        return 1;
      }
      return RUN_ALL_TESTS();
    }
  std::fprintf(stderr, "this machine does not run %s\n", wanted ? wanted : "any instruction set of weft");
  return 77;
}
