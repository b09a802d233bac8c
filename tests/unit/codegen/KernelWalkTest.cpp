//===- KernelWalkTest.cpp - Which programs are one kernel -----------------===//
#include "compiler/codegen/KernelWalk.h"

#include "gmock/gmock.h"

namespace weft {
namespace {

using ::testing::ElementsAre;

/// a + b of the given shape and strides.
ElementwiseProgram sum(std::vector<int64_t> shape, std::vector<int64_t> a, std::vector<int64_t> b) {
  ElementwiseProgram program;
  program.shape = std::move(shape);
  program.operandStrides = {std::move(a), std::move(b)};
  program.instructions = {{ElementwiseOp::Add, DType::F32, {0, 1, -1}}};
  program.outputs = {2}, program.outputIsRow = {false};
  program.registerTypes = {DType::F32, DType::F32, DType::F32};
  return program;
}

std::string structure(const ElementwiseProgram &program) { return structureOf(program, walkOf(program)); }

TEST(KernelWalk, DenseOperandsAreOneLine) {
  KernelWalk walk = walkOf(sum({4, 3, 8}, {24, 8, 1}, {24, 8, 1}));
  EXPECT_THAT(walk.sizes, ElementsAre(96));
  EXPECT_THAT(walk.strides[0], ElementsAre(1));
}

TEST(KernelWalk, ADimensionStaysApartWhereAnOperandRepeatsAlongIt) {
  KernelWalk walk = walkOf(sum({4, 3, 8}, {24, 8, 1}, {0, 0, 1}));
  EXPECT_THAT(walk.sizes, ElementsAre(12, 8));
  EXPECT_THAT(walk.strides[0], ElementsAre(8, 1));
  EXPECT_THAT(walk.strides[1], ElementsAre(0, 1));
}

TEST(KernelWalk, SizesOfOneAreNoDimensions) {
  EXPECT_THAT(walkOf(sum({1, 5, 1}, {5, 1, 1}, {0, 1, 0})).sizes, ElementsAre(5));
  KernelWalk scalar = walkOf(sum({}, {}, {}));
  EXPECT_THAT(scalar.sizes, ElementsAre(1));
  EXPECT_TRUE(scalar.isScalar(0));
}

TEST(KernelWalk, LinesOfEveryLengthAreOneStructure) {
  EXPECT_EQ(structure(sum({8}, {1}, {1})), structure(sum({4, 100}, {100, 1}, {100, 1})));
  EXPECT_NE(structure(sum({8}, {1}, {1})), structure(sum({8}, {1}, {0}))) << "one operand is one element";
  EXPECT_NE(structure(sum({4, 8}, {8, 1}, {0, 1})), structure(sum({4, 9}, {9, 1}, {0, 1})))
      << "the code knows how long a row is";
}

TEST(KernelWalk, WhatIsComputedIsPartOfTheStructure) {
  ElementwiseProgram program = sum({8}, {1}, {1}), other = program;
  other.instructions[0].op = ElementwiseOp::Multiply;
  EXPECT_NE(structure(program), structure(other));
  other = program;
  other.registerTypes = {DType::F64, DType::F64, DType::F64};
  EXPECT_NE(structure(program), structure(other));
}

} // namespace
} // namespace weft
