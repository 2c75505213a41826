#include "measure/parity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trivet {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor floats(const std::vector<float>& values) { return Tensor::from_vector(values); }
Tensor scores(std::int64_t rows, const std::vector<float>& values) {
  return Tensor::from_values<float>({rows, static_cast<std::int64_t>(values.size()) / rows},
                                    values);
}

TEST(Parity, EqualTensorsPass) {
  const OutputParity parity = compare("y", floats({1, 2, 3}), floats({1, 2, 3}), {});
  EXPECT_TRUE(parity.passed());
  EXPECT_EQ(parity.max_abs_diff, 0);
  EXPECT_DOUBLE_EQ(parity.min_cosine, 1);
  EXPECT_EQ(parity.elements, 3u);
}

TEST(Parity, WorkedDifferences) {
  const OutputParity parity = compare("y", floats({1, 2.5f, -4}), floats({1, 2, -5}), {});
  EXPECT_DOUBLE_EQ(parity.max_abs_diff, 1.0);
  EXPECT_DOUBLE_EQ(parity.max_rel_diff, 0.2);
  EXPECT_DOUBLE_EQ(parity.mean_abs_diff, 0.5);
  EXPECT_EQ(parity.violations, 2u);
  const double cosine = (1 + 5 + 20) / (std::sqrt(1 + 6.25 + 16) * std::sqrt(1 + 4 + 25.0));
  EXPECT_NEAR(parity.min_cosine, cosine, 1e-12);
}

TEST(Parity, TheDefaultFollowsTheLargestMagnitude) {
  // 1e-4 of 100 is 0.01: near zero, that much is rounding of the large terms.
  EXPECT_TRUE(compare("y", floats({0.009f, 100}), floats({0, 100}), {}).passed());
  EXPECT_FALSE(compare("y", floats({0.011f, 100}), floats({0, 100}), {}).passed());
  EXPECT_FALSE(compare("y", floats({0.009f, 1}), floats({0, 1}), {}).passed());
}

TEST(Parity, GivenTolerancesAreThoseOfNumpy) {
  const Tolerance tolerance{.atol = 0.5, .rtol = 0.25};
  EXPECT_TRUE(compare("y", floats({5.5f}), floats({4}), tolerance).passed());  // 0.5 + 0.25·4
  EXPECT_FALSE(compare("y", floats({5.6f}), floats({4}), tolerance).passed());
}

TEST(Parity, IntegersMustBeEqual) {
  const auto of = [](std::int64_t x) { return Tensor::from_vector<std::int64_t>({x}); };
  EXPECT_FALSE(compare("y", of(100001), of(100000), {}).passed());
  EXPECT_TRUE(compare("y", of(101), of(100), {.atol = 1, .rtol = 0}).passed());
}

TEST(Parity, NonFiniteValuesGiveNoDifference) {
  const OutputParity same = compare("y", floats({kNan, kInf, 1}), floats({kNan, kInf, 1}), {});
  EXPECT_EQ(same.nonfinite_elements, 2u);
  EXPECT_EQ(same.max_abs_diff, 0);
  const OutputParity all = compare("y", floats({kNan, kInf}), floats({kNan, kInf}), {});
  EXPECT_TRUE(all.passed());
  EXPECT_TRUE(std::isnan(all.max_abs_diff) && std::isnan(all.min_cosine));
  OutputParity other = compare("y", floats({kNan, 1}), floats({2, 1}), {});
  EXPECT_TRUE(std::isnan(other.max_abs_diff) && std::isnan(other.mean_abs_diff));
  compare_into(other, floats({1, 1}), floats({1, 1}), {});
  EXPECT_TRUE(std::isnan(other.max_abs_diff) && std::isnan(other.min_cosine));
}

TEST(Parity, NonFiniteValuesMustMatch) {
  EXPECT_TRUE(compare("y", floats({kNan, kInf, 1}), floats({kNan, kInf, 1}), {}).passed());
  const OutputParity parity =
      compare("y", floats({kNan, kInf, 1, kInf}), floats({1, -kInf, kNan, kInf}), {});
  EXPECT_EQ(parity.nonfinite_mismatches, 3u);
  EXPECT_FALSE(parity.passed());
  EXPECT_TRUE(std::isnan(parity.max_abs_diff));
}

TEST(Parity, ShapesAndTypesThatDifferFail) {
  EXPECT_EQ(compare("y", floats({1, 2}), floats({1}), {}).mismatch, "shape 2 against 1");
  EXPECT_EQ(compare("y", Tensor::from_vector<std::int32_t>({1}), floats({1}), {}).mismatch,
            "type int32 against float32");
  EXPECT_TRUE(compare("y", Tensor::from_vector<double>({1}), floats({1}), {}).passed());
}

TEST(Parity, Strings) {
  const auto of = [](std::string x) { return Tensor::from_vector<std::string>({std::move(x)}); };
  EXPECT_TRUE(compare("y", of("a"), of("a"), {}).passed());
  EXPECT_FALSE(compare("y", of("a"), of("b"), {}).passed());
}

TEST(Parity, ComplexNumbersByTheirParts) {
  const auto of = [](const std::vector<float>& parts) {
    return Tensor::view(DType::kComplex64, {2}, parts.data(), nullptr);
  };
  const std::vector<float> a = {1, 2, 3, 4};
  const std::vector<float> b = {1, 2, 3, 5};
  EXPECT_TRUE(compare("y", of(a), of(a), {}).passed());
  EXPECT_DOUBLE_EQ(compare("y", of(b), of(a), {}).max_abs_diff, 1.0);
  EXPECT_FALSE(compare("y", of(a), floats({1, 2}), {}).passed());
}

TEST(Parity, BestClassesAreCounted) {
  const OutputParity parity =
      compare("y", scores(3, {1, 2, 5, 4, 9, 8}), scores(3, {1, 2, 3, 4, 9, 8}), {});
  EXPECT_EQ(parity.top1_rows, 3u);
  EXPECT_EQ(parity.top1_agreements, 2u);
}

TEST(Parity, EmptyTensors) { EXPECT_TRUE(compare("y", floats({}), floats({}), {}).passed()); }

TEST(ParityReport, MatchesOutputsByNameWhateverTheirOrder) {
  const std::vector<std::string> actual = {"a", "b"};
  const std::vector<std::string> expected = {"b", "a"};
  auto report = ParityReport::create(actual, expected, {});
  ASSERT_TRUE(report);
  report->add(std::vector<Tensor>{floats({1}), floats({2})},
              std::vector<Tensor>{floats({2}), floats({1})});
  EXPECT_TRUE(report->passed());
  report->add(std::vector<Tensor>{floats({1}), floats({2})},
              std::vector<Tensor>{floats({2}), floats({3})});
  EXPECT_FALSE(report->passed());
  EXPECT_EQ(report->first_failure(), 1u);
  EXPECT_EQ(report->inputs(), 2u);
  EXPECT_DOUBLE_EQ(report->max_abs_diff(), 2.0);
  EXPECT_FALSE(report->top1_agreement());
}

TEST(ParityReport, MatchesByPlaceWhenAllNamesDiffer) {
  const std::vector<std::string> a = {"x"};
  const std::vector<std::string> b = {"y"};
  const std::vector<std::string> two = {"x", "y"};
  EXPECT_TRUE(ParityReport::create(a, b, {}));
  EXPECT_FALSE(ParityReport::create(a, two, {}));
  EXPECT_TRUE(ParityReport::create(two, a, {}));  // an output more than what is expected
  EXPECT_FALSE(ParityReport::create({}, {}, {}));
}

}  // namespace
}  // namespace trivet
