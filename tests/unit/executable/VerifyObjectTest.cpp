#include "runtime/executable/Verify.h"
#include "tests/unit/executable/SampleGenerated.h"
#include "tests/unit/executable/SampleParts.h"
#include "tests/unit/object/TestObjects.h"

#include <gtest/gtest.h>

#include <functional>

namespace weft::testing {
namespace {

Executable sample() { return sampleGenerated(objectBytes("kernels")); }

struct Broken {
  const char *name;
  std::function<void(Executable &)> change;
  const char *message;
};

class VerifyObjectRefuses : public ::testing::TestWithParam<Broken> {};

TEST_P(VerifyObjectRefuses, WithItsMessage) {
  Executable executable = sample();
  GetParam().change(executable);
  EXPECT_EQ(verify(executable), absl::InvalidArgumentError(GetParam().message));
}

const Broken kBroken[] = {
    {"NoObject", [](Executable &e) { e.object = {}; },
     "kernel 0 'elementwise': it names the generated function 'weft_multiply_add', and there is no object"},
    {"NoSuchFunction", [](Executable &e) { e.kernels[0].call.setText("symbol", "weft_other"); },
     "kernel 0 'elementwise': the object defines no function 'weft_other' (it defines 2)"},
    {"NoName", [](Executable &e) { e.kernels[0].call.setText("symbol", ""); },
     "kernel 0 'elementwise': the object defines no function '' (it defines 2)"},
    {"AnImportIsNoFunctionOfTheObject",
     [](Executable &e) {
       e.object.bytes = objectBytes("imports");
       e.kernels[0].call.setText("symbol", "memcpy");
     },
     "kernel 0 'elementwise': the object defines no function 'memcpy' (it defines 1)"},
    {"OtherKernel", [](Executable &e) { e.kernels[0].call.name = "copy"; },
     "kernel 0 'copy': it names a generated function, elementwise kernels alone do"},
    {"AboveTheTarget", [](Executable &e) { e.object.target = "x86-64-v4"; },
     "object of generated kernels: it is for x86-64-v4, and instruction set avx2 runs x86-64-v3 at most"},
    {"UnknownTarget", [](Executable &e) { e.object.target = "native"; },
     "object of generated kernels: it is for 'native', which is not known; x86-64-v3 and x86-64-v4 are"},
    {"OtherDevice", [](Executable &e) { e.target.instructionSet = "sm_90"; },
     "object of generated kernels: it is for x86-64-v3, and instruction set sm_90 runs no generated kernels"},
    {"NoBytes", [](Executable &e) { e.object.bytes = ""; },
     "object of generated kernels: these 0 bytes are no ELF file"},
    {"Constructor", [](Executable &e) { e.object.bytes = objectBytes("constructor"); },
     "object of generated kernels: it runs code while it is loaded (DT_INIT_ARRAY: a constructor)"},
};

INSTANTIATE_TEST_SUITE_P(Verify, VerifyObjectRefuses, ::testing::ValuesIn(kBroken),
                         [](const auto &info) { return info.param.name; });

TEST(VerifyObject, TheSampleIsAccepted) { EXPECT_EQ(verify(sample()), absl::OkStatus()); }

TEST(VerifyObject, AnObjectForALowerLevelIsAccepted) {
  for (const char *instructionSet : {"avx512", "avx512_bf16", "amx_bf16"})
    for (const char *target : {"x86-64-v3", "x86-64-v4"}) {
      Executable executable = sample();
      executable.target.instructionSet = instructionSet;
      executable.object.target = target;
      EXPECT_EQ(verify(executable), absl::OkStatus());
    }
}

TEST(VerifyObject, AllPartsHaveTheSame) {
  std::vector<Executable> parts = sampleParts();
  for (Executable &part : parts)
    part.target.instructionSet = "avx2";
  parts[1].object = sample().object;
  EXPECT_EQ(verify(parts),
            absl::InvalidArgumentError(
                "pipeline rank 1 has another object of generated kernels than pipeline rank 0"));
}

} // namespace
} // namespace weft::testing
