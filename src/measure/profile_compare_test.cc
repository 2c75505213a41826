#include "measure/profile_compare.h"

#include <gtest/gtest.h>

namespace trivet {
namespace {

using Names = std::vector<std::string>;

ProfileStep step(Names names, std::string op, double ms, Names outputs = {}) {
  ProfileStep out;
  out.names = std::move(names);
  out.outputs = std::move(outputs);
  out.op = std::move(op);
  out.time_ms = out.min_ms = ms;
  return out;
}

Profile profile(std::vector<ProfileStep> steps) {
  Profile out;
  out.steps = std::move(steps);
  return out;
}

TEST(CompareProfiles, TheSameNodesTheLargestDifferenceFirst) {
  const auto result = compare_profiles(
      profile({step({"a"}, "Conv", 5), step({"b"}, "Relu", 1), step({"c"}, "Gemm", 2)}),
      profile({step({"c"}, "Gemm", 2), step({"a"}, "Conv", 4), step({"b"}, "Relu", 4)}));
  ASSERT_EQ(result.nodes.size(), 3U);
  EXPECT_EQ(result.nodes[0].names, Names{"b"});
  EXPECT_DOUBLE_EQ(result.nodes[0].difference(), 3);
  EXPECT_EQ(result.nodes[1].names, Names{"a"});
  EXPECT_DOUBLE_EQ(result.nodes[1].difference(), -1);
  EXPECT_EQ(result.nodes[2].names, Names{"c"});
  EXPECT_TRUE(result.only_a.empty() && result.only_b.empty());
  EXPECT_DOUBLE_EQ(result.a_ms, 8);
  EXPECT_DOUBLE_EQ(result.b_ms, 10);
}

TEST(CompareProfiles, AFusedStepStandsBesideWhatItIsOnTheOtherSide) {
  const auto result =
      compare_profiles(profile({step({"conv", "add", "relu"}, "Conv+Add+Relu", 5)}),
                       profile({step({"relu"}, "Relu", 1), step({"conv"}, "Conv", 3),
                                step({"pool"}, "MaxPool", 9)}));
  ASSERT_EQ(result.nodes.size(), 1U);
  EXPECT_EQ(result.nodes[0].names, (Names{"conv", "relu", "add"})) << "what both know first";
  EXPECT_EQ(result.nodes[0].op, "Conv+Add+Relu");
  EXPECT_DOUBLE_EQ(result.nodes[0].a_ms, 5);
  EXPECT_DOUBLE_EQ(result.nodes[0].b_ms, 4);
  ASSERT_EQ(result.only_b.size(), 1U);
  EXPECT_EQ(result.only_b[0].names, Names{"pool"});
  EXPECT_TRUE(result.only_a.empty());
}

TEST(CompareProfiles, FusionsThatOverlapAreOneRow) {
  const auto result = compare_profiles(
      profile({step({"x", "y"}, "Conv+Relu", 1), step({"z", "w"}, "Mul+Add", 2)}),
      profile({step({"x"}, "Conv", 4), step({"y", "z"}, "Relu+Mul", 8), step({"w"}, "Add", 16)}));
  ASSERT_EQ(result.nodes.size(), 1U);
  EXPECT_DOUBLE_EQ(result.nodes[0].a_ms, 3);
  EXPECT_DOUBLE_EQ(result.nodes[0].b_ms, 28);
}

TEST(CompareProfiles, ANodeMayGoByTheNameOfItsOutput) {
  const auto result =
      compare_profiles(profile({step({"conv", "relu"}, "Conv+Relu", 5, {"conv_out", "relu_out"})}),
                       profile({step({"relu_out"}, "Conv", 3)}));
  ASSERT_EQ(result.nodes.size(), 1U);
  EXPECT_DOUBLE_EQ(result.nodes[0].b_ms, 3);
}

TEST(CompareProfiles, StepsWithoutNamesMeetByOperatorOnly) {
  const auto result = compare_profiles(
      profile({step({""}, "Conv+Relu", 2), step({"b"}, "Conv+Clip", 3), step({"c"}, "Gemm", 1)}),
      profile({step({}, "Conv", 4), step({""}, "Softmax", 7)}));
  EXPECT_TRUE(result.nodes.empty());
  EXPECT_EQ(result.only_a.size(), 3U);
  EXPECT_EQ(result.only_b.size(), 2U);
  ASSERT_EQ(result.operators.size(), 3U);
  EXPECT_EQ(result.operators[0].op, "Softmax");
  EXPECT_EQ(result.operators[1].op, "Conv");
  EXPECT_DOUBLE_EQ(result.operators[1].a_ms, 5);
  EXPECT_DOUBLE_EQ(result.operators[1].b_ms, 4);
  EXPECT_EQ(result.operators[2].op, "Gemm");
  EXPECT_DOUBLE_EQ(result.operators[2].b_ms, 0);
}

}  // namespace
}  // namespace trivet
