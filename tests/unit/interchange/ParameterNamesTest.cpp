//===- ParameterNamesTest.cpp - What the name of a tensor says -------------===//
#include "runtime/interchange/ParameterNames.h"

#include "gtest/gtest.h"

namespace weft::interchange {
namespace {
using Shape = std::vector<int64_t>;

TEST(ParameterNames, TransformersJoinsHeadsAndTheirWidth) {
  EXPECT_EQ(huggingFaceShape("model.layers.0.self_attn.q_proj.weight", {4, 8, 32}), (Shape{32, 32}));
  EXPECT_EQ(huggingFaceShape("model.layers.0.self_attn.o_proj.weight", {32, 4, 8}), (Shape{32, 32}));
  EXPECT_EQ(huggingFaceShape("model.layers.0.self_attn.q_proj.bias", {4, 8}), (Shape{32}));
  EXPECT_EQ(huggingFaceShape("model.layers.0.self_attn.q_norm.weight", {4, 8}), (Shape{32}));
  EXPECT_EQ(huggingFaceShape("transformer.h.0.attn.c_attn.weight", {32, 3, 4, 8}), (Shape{32, 96}));
  EXPECT_EQ(huggingFaceShape("transformer.h.0.attn.c_attn.bias", {3, 4, 8}), (Shape{96}));
  EXPECT_EQ(huggingFaceShape("transformer.h.0.attn.c_proj.weight", {4, 8, 32}), (Shape{32, 32}));
  EXPECT_EQ(huggingFaceShape("model.embed_tokens.weight", {257, 32}), (Shape{257, 32}));
  EXPECT_EQ(huggingFaceShape("model.norm.weight", {32}), (Shape{32}));
}

TEST(ParameterNames, StateIsNoParameter) {
  EXPECT_TRUE(isParameter("model.norm.weight"));
  for (const char *name :
       {"optimizer.step", "optimizer.first_moment.model.norm.weight", "loss_scale", "loss_scale.good_steps"})
    EXPECT_FALSE(isParameter(name)) << name;
}

} // namespace
} // namespace weft::interchange
