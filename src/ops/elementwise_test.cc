// Operators that work element by element: activations, unary mathematics, binary arithmetic,
// comparisons, Where and Clip.
#include <array>
#include <cmath>
#include <limits>

#include "ops/support/broadcast.h"
#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Int64s = std::vector<std::int64_t>;

const std::vector<std::pair<Shape, Shape>> kBroadcasts = {
    {{}, {}},
    {{3}, {}},
    {{}, {2, 3}},
    {{2, 3}, {2, 3}},
    {{2, 3}, {3}},
    {{2, 3}, {2, 1}},
    {{2, 1}, {1, 5}},
    {{4, 1, 3}, {2, 1}},
    {{0, 3}, {3}},
    {{2, 0}, {2, 1}},
    {{2, 3, 4}, {3, 1}},
    {{300}, {1}},
    {{2, 300}, {1, 300}},
    {{1, 2, 1, 3}, {5, 1, 7, 1}},
    {{7, 1, 263}, {7, 2, 1}},
};

/// Every pair of elements, one at a time.
template <class Function>
void expect_naive(const Tensor& a, const Tensor& b, const Tensor& out, Function function) {
  const auto shape = broadcast(std::array{a.shape(), b.shape()});
  ASSERT_TRUE(shape);
  ASSERT_EQ(out.shape(), *shape);
  StridedWalk walk(*shape,
                   {broadcast_strides(a.shape(), *shape), broadcast_strides(b.shape(), *shape)});
  for (std::int64_t i = 0; i < out.size(); ++i, walk.next()) {
    const double want =
        function(element_as_double(a, walk.offset(0)), element_as_double(b, walk.offset(1)));
    ASSERT_NEAR(element_as_double(out, i), want, 1e-5) << i;
  }
}

TEST(BinaryArithmetic, BroadcastsLikeTheNaiveFormula) {
  for (const auto& [a, b] : kBroadcasts) {
    const Tensor x = ramp(a);
    const Tensor y = ramp(b);
    expect_naive(x, y, OpTest("Add").run({x, y}), [](double p, double q) { return p + q; });
    expect_naive(x, y, OpTest("Sub").run({x, y}), [](double p, double q) { return p - q; });
    expect_naive(x, y, OpTest("Less").run({x, y}), [](double p, double q) { return p < q; });
    expect_naive(x, y, OpTest("Max").run({x, y}),
                 [](double p, double q) { return std::fmax(p, q); });
  }
}

TEST(BinaryArithmetic, NarrowTypesGoThroughTheBuffer) {
  for (const auto& [a, b] : kBroadcasts) {
    for (const auto dtype : {DType::kInt8, DType::kFloat16, DType::kFloat64, DType::kUInt16}) {
      OpTest cast("Cast");
      cast.attribute("to", static_cast<std::int64_t>(dtype));
      const Tensor x = cast.run({OpTest("Abs").run({ramp(a)})});
      const Tensor y = cast.run({OpTest("Abs").run({ramp(b)})});
      const Tensor out = OpTest("Mul").run({x, y});
      ASSERT_EQ(out.dtype(), dtype);
      if (dtype != DType::kFloat16)
        expect_naive(x, y, out, [](double p, double q) { return p * q; });
    }
  }
}

TEST(BinaryArithmetic, IntegersWrapAndNeverTrap) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  const Tensor x = Tensor::from_vector(Int64s{kLeast, 7, -7});
  EXPECT_EQ(elements_as_int64(OpTest("Div").run({x, Tensor::scalar<std::int64_t>(-1)})),
            (Int64s{kLeast, -7, 7}));
  EXPECT_EQ(elements_as_int64(OpTest("Div").run({x, Tensor::scalar<std::int64_t>(0)})),
            (Int64s{0, 0, 0}));
  EXPECT_EQ(elements_as_int64(OpTest("Mod").run({x, Tensor::scalar<std::int64_t>(-1)})),
            (Int64s{0, 0, 0}));
  EXPECT_EQ(elements_as_int64(OpTest("Mod").run({x, Tensor::scalar<std::int64_t>(3)}))[2], 2);
  EXPECT_EQ(elements_as_int64(OpTest("Neg").run({x}))[0], kLeast);
  EXPECT_EQ(elements_as_int64(OpTest("Abs").run({x}))[0], kLeast);
}

TEST(BinaryArithmetic, RefusesShapesAndTypesThatDoNotFit) {
  EXPECT_FALSE(OpTest("Add").try_run({ramp({2}), ramp({3})}));
  EXPECT_FALSE(OpTest("Add").try_run({ramp({2}), Tensor::scalar<std::int64_t>(1)}));
  EXPECT_FALSE(OpTest("Add").try_infer(
      {OpTest::typed(DType::kFloat32, {2}), OpTest::typed(DType::kInt64, {2})}));
  EXPECT_FALSE(OpTest("PRelu").try_run({ramp({2}), ramp({3, 2})}));
}

TEST(BinaryArithmetic, VariadicOperatorsFoldFromTheLeft) {
  const Tensor a = ramp({2, 1});
  const Tensor b = ramp({3});
  const Tensor c = ramp({});
  EXPECT_EQ(doubles(OpTest("Sum").run({a, b, c})),
            doubles(OpTest("Add").run({OpTest("Add").run({a, b}), c})));
  EXPECT_EQ(doubles(OpTest("Mean").run({a})), doubles(a));
  EXPECT_FLOAT_EQ(static_cast<float>(doubles(OpTest("Mean").run({a, b, c}))[0]), -2.0f);
}

TEST(BinaryArithmetic, ArithmeticOfSizesIsSymbolic) {
  const Dim n = Dim::symbol("N");
  const auto half = OpTest("Div").infer({OpTest::symbolic({n * 4, 6}), OpTest::symbolic({2})});
  ASSERT_TRUE(half.elements);
  EXPECT_EQ((*half.elements)[0], n * 2);
  EXPECT_EQ((*half.elements)[1], Dim(3));
  const auto equal = OpTest("Equal").infer({OpTest::symbolic({n, 3}), OpTest::symbolic({-1, 3})});
  ASSERT_TRUE(equal.elements);
  EXPECT_EQ(*equal.elements, (SymbolicShape{0, 1}));
  const auto unsure = OpTest("Equal").infer({OpTest::symbolic({n}), OpTest::symbolic({3})});
  EXPECT_FALSE(unsure.elements);
}

TEST(Where, ChoosesAndBroadcasts) {
  const Tensor condition = Tensor::from_values<bool>({2, 1}, {true, false});
  const Tensor x = Tensor::from_vector(std::vector<std::string>{"a", "b", "c"});
  const Tensor out = OpTest("Where").run({condition, x, Tensor::scalar<std::string>("-")});
  EXPECT_EQ(out.shape(), (Shape{2, 3}));
  EXPECT_EQ(out.data<std::string>()[2], "c");
  EXPECT_EQ(out.data<std::string>()[3], "-");
  const Dim n = Dim::symbol("N");
  const auto chosen =
      OpTest("Where").infer({OpTest::constant(Tensor::from_values<bool>({2}, {true, false})),
                             OpTest::symbolic({n, n}), OpTest::symbolic({7, 8})});
  ASSERT_TRUE(chosen.elements);
  EXPECT_EQ(*chosen.elements, (SymbolicShape{n, 8}));
}

TEST(Clip, BoundsAreAttributesThenInputs) {
  const Tensor x = ramp({2, 5});
  OpTest old("Clip", 6);
  old.attribute("min", -1.0f).attribute("max", 0.25f);
  const Tensor least = Tensor::scalar(-1.0f);
  const Tensor greatest = Tensor::scalar(0.25f);
  EXPECT_EQ(doubles(old.run({x})), doubles(OpTest("Clip", 13).run({x, least, greatest})));
  EXPECT_EQ(doubles(OpTest("Clip", 13).run({x})), doubles(x));
  EXPECT_EQ(doubles(OpTest("Clip", 13).run({x, greatest, least}))[0], -1.0);  // min above max: max
  EXPECT_FALSE(OpTest("Clip", 13).try_run({x, ramp({2})}));
}

TEST(Activations, MatchTheirFormulas) {
  const Tensor x = ramp({3, 7});
  const auto check = [&](OpTest op, auto formula) {
    const auto out = doubles(op.run({x}));
    const auto in = doubles(x);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(out[i], formula(in[i]), 1e-5);
  };
  check(OpTest("Relu"), [](double v) { return std::fmax(v, 0); });
  check(OpTest("Sigmoid"), [](double v) { return 1 / (1 + std::exp(-v)); });
  check(OpTest("Softplus"), [](double v) { return std::log(1 + std::exp(v)); });
  check(OpTest("HardSwish"), [](double v) { return v * std::fmin(std::fmax(v / 6 + 0.5, 0), 1); });
  check(OpTest("Gelu"), [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); });
  check(OpTest("Mish"), [](double v) { return v * std::tanh(std::log(1 + std::exp(v))); });
  EXPECT_EQ(OpTest("Relu").run({ramp({0, 4})}).shape(), (Shape{0, 4}));
  EXPECT_FALSE(OpTest("Sigmoid").try_run({Tensor::scalar<std::int64_t>(1)}));
}

TEST(UnaryMath, RoundsTiesToEvenAndKeepsNaN) {
  const Tensor x = Tensor::from_vector(std::vector<float>{0.5f, 1.5f, -2.5f, NAN, INFINITY});
  const auto rounded = doubles(OpTest("Round").run({x}));
  EXPECT_EQ(rounded[0], 0);
  EXPECT_EQ(rounded[1], 2);
  EXPECT_EQ(rounded[2], -2);
  EXPECT_TRUE(std::isnan(doubles(OpTest("Sign").run({x}))[3]));
  EXPECT_EQ(doubles(OpTest("IsNaN").run({x})), (std::vector<double>{0, 0, 0, 1, 0}));
  EXPECT_EQ(doubles(OpTest("IsInf").run({x})), (std::vector<double>{0, 0, 0, 0, 1}));
}

TEST(BitShift, ByMoreThanTheWidthLeavesNothing) {
  OpTest shift("BitShift");
  shift.attribute("direction", std::string("LEFT"));
  const Tensor x = Tensor::from_vector(std::vector<std::uint8_t>{3, 3, 3});
  const Tensor by = Tensor::from_vector(std::vector<std::uint8_t>{1, 7, 200});
  EXPECT_EQ(elements_as_int64(shift.run({x, by})), (Int64s{6, 128, 0}));
}

}  // namespace
}  // namespace trivet::ops
