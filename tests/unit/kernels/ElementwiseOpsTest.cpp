#include "kernels/common/ElementwiseOps.h"

#include "gtest/gtest.h"

namespace weft {
namespace {

/// y = x + 1 over 2 x 3.
KernelCall addOne() {
  KernelCall call;
  call.name = "elementwise";
  call.operands = {{DType::F32, {2, 3}}};
  call.results = {{DType::F32, {2, 3}}};
  call.setIntegers("shape", {2, 3});
  call.setIntegers("operand_strides", {3, 1});
  call.attributes["constants"].numbers = {1.0};
  call.setIntegers("constant_types", {static_cast<int64_t>(DType::F32)});
  call.setIntegers("program",
                   {static_cast<int64_t>(ElementwiseOp::Add), static_cast<int64_t>(DType::F32), 0, 1, -1});
  call.setIntegers("outputs", {2});
  return call;
}

std::string refusal(const KernelCall &call) {
  auto program = parseElementwise(call);
  if (program.ok())
    return "accepted";
  EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(program.status().message());
}

void setProgram(KernelCall &call, ElementwiseOp op, DType type, std::array<int32_t, 3> sources) {
  std::vector<int64_t> fields;
  appendInstruction(fields, {op, type, sources});
  call.setIntegers("program", fields);
}

TEST(ElementwiseOps, ReadsAProgram) {
  auto program = parseElementwise(addOne());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->firstInstruction(), 2);
  EXPECT_EQ(program->registerTypes, std::vector<DType>(3, DType::F32));
  EXPECT_EQ(program->instructions[0].op, ElementwiseOp::Add);
  EXPECT_EQ(program->operandStrides[0], (std::vector<int64_t>{3, 1}));
}

TEST(ElementwiseOps, EveryOpcodeHasANameAndSources) {
  for (int op = 0; op < kElementwiseOps; ++op) {
    EXPECT_FALSE(name(static_cast<ElementwiseOp>(op)).empty());
    EXPECT_GE(sourceCount(static_cast<ElementwiseOp>(op)), 1);
    EXPECT_LE(sourceCount(static_cast<ElementwiseOp>(op)), 3);
  }
}

TEST(ElementwiseOps, RefusesStridesThatDoNotFit) {
  KernelCall call = addOne();
  call.setIntegers("operand_strides", {3});
  EXPECT_EQ(refusal(call),
            "kernel elementwise: attribute 'operand_strides' holds 1 integers, 2 for each of 1 "
            "operands were expected");
  call.setIntegers("operand_strides", {3, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: operand 0 has the negative stride -1");
  for (std::vector<int64_t> strides :
       std::vector<std::vector<int64_t>>{{4, 1}, {3, 2}, {int64_t{1} << 62, 1}, {0, INT64_MAX}}) {
    call.setIntegers("operand_strides", strides);
    EXPECT_EQ(refusal(call), "kernel elementwise: the strides of operand 0 reach beyond its tensor<2x3xf32>");
  }
  call.operands[0].shape = {0};
  call.setIntegers("operand_strides", {0, 0});
  EXPECT_EQ(refusal(call), "kernel elementwise: the strides of operand 0 reach beyond its tensor<0xf32>");
}

TEST(ElementwiseOps, RefusesInstructionsThatDoNotFit) {
  KernelCall call = addOne();
  call.setIntegers("program", {15, 5, 0, 1});
  EXPECT_EQ(refusal(call),
            "kernel elementwise: attribute 'program' holds 4 integers, which 5 does not divide");
  call.setIntegers("program", {99, 5, 0, 1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0: 99 is not an opcode");
  call.setIntegers("program", {15, 7, 0, 1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (add): 7 is not the number of an element type");
  call.setIntegers("program", {15, 5, 0, 2, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (add): source 1 is register 2, of 2 before it");
  call.setIntegers("program", {15, 5, 0, 1, 1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (add): source 2 is register 1, but it takes 2");
}

TEST(ElementwiseOps, RefusesTypesThatDoNotFit) {
  KernelCall call = addOne();
  setProgram(call, ElementwiseOp::Add, DType::BF16, {0, 1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (add): does not take (f32, f32) to bf16");
  setProgram(call, ElementwiseOp::And, DType::F32, {0, 1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (and): does not take (f32, f32) to f32");
  setProgram(call, ElementwiseOp::Less, DType::F32, {0, 1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (less): does not take (f32, f32) to f32");
  setProgram(call, ElementwiseOp::Select, DType::F32, {0, 1, 1});
  EXPECT_EQ(refusal(call),
            "kernel elementwise: instruction 0 (select): does not take (f32, f32, f32) to f32");
  setProgram(call, ElementwiseOp::Bitcast, DType::I64, {0, -1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (bitcast): does not take (f32) to i64");
  setProgram(call, ElementwiseOp::IsFinite, DType::F32, {0, -1, -1});
  EXPECT_EQ(refusal(call), "kernel elementwise: instruction 0 (is_finite): does not take (f32) to f32");
}

TEST(ElementwiseOps, RefusesConstantsShapesAndOutputsThatDoNotFit) {
  KernelCall call = addOne();
  call.setIntegers("constant_types", {});
  EXPECT_EQ(refusal(call), "kernel elementwise: 1 constants have 0 types");
  call.setIntegers("constant_types", {-3});
  EXPECT_EQ(refusal(call), "kernel elementwise: constant 0: -3 is not the number of an element type");
  call = addOne();
  call.setIntegers("outputs", {});
  EXPECT_EQ(refusal(call), "kernel elementwise: attribute 'outputs' names 0 registers for 1 results");
  call.setIntegers("outputs", {3});
  EXPECT_EQ(refusal(call), "kernel elementwise: result 0 is register 3, of 3");
  call = addOne();
  call.results[0].shape = {6};
  EXPECT_EQ(refusal(call),
            "kernel elementwise: result 0 is tensor<6xf32>, the program stores tensor<2x3xf32>");
  call.setIntegers("shape", {-2, 3});
  EXPECT_EQ(refusal(call), "kernel elementwise: attribute 'shape' holds the negative size -2");
  call.attributes.erase("shape");
  EXPECT_EQ(refusal(call), "kernel elementwise: attribute 'shape' must be a list of integers");
}

} // namespace
} // namespace weft
