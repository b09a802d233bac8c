#include "runtime/train/ValueDump.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleParts.h"

#include "absl/strings/str_cat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(NamedValues, AreInProgramOrderAndEachNameIsItsOwn) {
  const Executable executable = testing::sampleExecutable();
  std::vector<std::string> names;
  for (const NamedValue &value : namedValues({executable}, ProgramHandle{0}))
    names.push_back(value.name);
  const std::string forward = executable.locations[1], update = executable.locations[2];
  const std::string multiply = executable.kernels[0].call.name, add = executable.kernels[1].call.name;
  EXPECT_THAT(names, ::testing::ElementsAre(
                         forward + "/" + multiply + "/microbatch.0", forward + "/" + add + "/microbatch.0",
                         forward + "/" + multiply + "/microbatch.1", forward + "/" + add + "/microbatch.1",
                         update + "/" + multiply, update + "/" + add));
}

TEST(NamedValues, TheSecondOfANameIsNumbered) {
  Executable executable = testing::sampleExecutable();
  executable.locations.assign(executable.locations.size(), "here");
  executable.programs[0].commands[2].kernel = 0;
  std::vector<NamedValue> values = namedValues({executable}, ProgramHandle{0});
  EXPECT_EQ(values[1].name, values[0].name + "#2");
  EXPECT_EQ(values[1].run, 0u);
  EXPECT_EQ(values[1].command, 2u);
}

TEST(NamedValues, WhatNoLayerAskedForIsNamedAfterItsAction) {
  Executable executable = testing::sampleExecutable();
  executable.locations.assign(executable.locations.size(), "");
  std::vector<NamedValue> values = namedValues({executable}, ProgramHandle{0});
  EXPECT_EQ(values.front().name, "forward_backward/" + executable.kernels[0].call.name + "/microbatch.0");
  EXPECT_EQ(values.back().name, "update/" + executable.kernels[1].call.name);
}

/// One device would have computed what the parts compute; what one part uses of another comes later.
TEST(NamedValues, OfSeveralPartsAreInAnOrderInWhichTheyCanBeComputed) {
  std::vector<std::string> names;
  for (const NamedValue &value : namedValues(testing::sampleParts(), ProgramHandle{0}))
    names.push_back(absl::StrCat(value.name, " of ", value.part));
  EXPECT_THAT(names, ::testing::ElementsAre("exchange/all_gather of 0", "layer/add of 0", "layer/add@1 of 1",
                                            "exchange/all_reduce of 0", "exchange/all_reduce@1 of 1",
                                            "layer/add#2 of 0", "layer/add#2@1 of 1"));
}

TEST(NamedValues, OfSeveralPartsEachHasItsOwnOfWhatNoLayerAskedFor) {
  std::vector<Executable> parts = testing::sampleParts();
  for (Executable &part : parts)
    part.locations.assign(part.locations.size(), "");
  std::vector<std::string> names;
  for (const NamedValue &value : namedValues(parts, ProgramHandle{0}))
    names.push_back(value.name);
  EXPECT_THAT(names, ::testing::ElementsAre("0F/all_gather@0", "0F/add@0", "1F/add@1",
                                            "update.exchange/all_reduce@0", "update.exchange/all_reduce@1",
                                            "update/add@0", "update/add@1"));
}

} // namespace
} // namespace weft
