// Cast and BitCast, the operators that make tensors, quantisation and dropout.
#include <cmath>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Int64s = std::vector<std::int64_t>;

Tensor cast_to(DType dtype, const Tensor& x) {
  OpTest op("Cast", 25);
  op.attribute("to", static_cast<std::int64_t>(dtype));
  return op.run({x});
}

TEST(Cast, EveryTypeHoldsSmallNumbers) {
  const Tensor x = Tensor::from_vector(std::vector<float>{0, 1, 1, 0, 1});
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dtype == DType::kComplex64 || dtype == DType::kComplex128) continue;
    const auto back = doubles(cast_to(DType::kFloat32, cast_to(dtype, x)));
    const double zero = dtype == DType::kFloat8E8M0 ? std::ldexp(1.0, -127) : 0;  // has no zero
    EXPECT_EQ(back, (std::vector<double>{zero, 1, 1, zero, 1})) << dtype_name(dtype);
  }
}

TEST(Cast, OutOfRangeIsDefined) {
  const Tensor x = Tensor::from_vector(std::vector<float>{1e30f, -1e30f, NAN, 300.7f});
  EXPECT_EQ(elements_as_int64(cast_to(DType::kInt32, x)),
            (Int64s{INT32_MIN, INT32_MIN, INT32_MIN, 300}));
  EXPECT_EQ(elements_as_int64(cast_to(DType::kUInt8, x))[3], 44);
  EXPECT_EQ(doubles(cast_to(DType::kFloat8E4M3FN, x))[0], 448);
}

TEST(Cast, Strings) {
  const Tensor numbers = Tensor::from_vector(std::vector<float>{1.0f, 0.1f, 1e-7f, -INFINITY});
  const Tensor text = cast_to(DType::kString, numbers);
  EXPECT_EQ(text.data<std::string>()[0], "1.0");
  EXPECT_EQ(text.data<std::string>()[1], "0.1");
  EXPECT_EQ(doubles(cast_to(DType::kFloat32, text)), doubles(numbers));
  OpTest op("Cast");
  op.attribute("to", std::int64_t{1});
  EXPECT_FALSE(op.try_run({Tensor::scalar<std::string>("Hello World!")}));
  op.attribute("to", std::int64_t{99});
  EXPECT_FALSE(op.try_infer({OpTest::typed(DType::kFloat32, {1})}));
}

TEST(BitCast, KeepsBitsAndChecksWidths) {
  OpTest op("BitCast", 26);
  op.attribute("to", static_cast<std::int64_t>(DType::kInt32));
  EXPECT_EQ(elements_as_int64(op.run({Tensor::scalar(1.0f)}))[0], 0x3f800000);
  EXPECT_FALSE(op.try_run({Tensor::scalar<std::int64_t>(1)}));
}

TEST(ConstantOfShape, TakesSymbolicShapes) {
  const Dim n = Dim::symbol("N");
  const auto out = OpTest("ConstantOfShape").infer({OpTest::symbolic({n, 2})});
  EXPECT_EQ(*out.type.shape, (SymbolicShape{n, 2}));
  EXPECT_FALSE(OpTest("ConstantOfShape").try_run({Tensor::from_vector(Int64s{-1})}));
  EXPECT_EQ(OpTest("ConstantOfShape").run({Tensor::from_vector(Int64s{})}).rank(), 0);
}

TEST(Range, CountsBothWays) {
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t delta) {
    return OpTest("Range").try_run(
        {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)});
  };
  EXPECT_EQ(elements_as_int64(range(0, 5, 2)->front()), (Int64s{0, 2, 4}));
  EXPECT_EQ(elements_as_int64(range(3, 0, -1)->front()), (Int64s{3, 2, 1}));
  EXPECT_EQ(range(3, 0, 1)->front().size(), 0);
  EXPECT_FALSE(range(0, 5, 0));
  EXPECT_FALSE(range(INT64_MIN, INT64_MAX, 1));
  const Dim n = Dim::symbol("N");
  const auto inferred = OpTest("Range").infer(
      {OpTest::constant(Tensor::scalar<std::int64_t>(0)),
       {ValueType::tensor(DType::kInt64, SymbolicShape{}), {}, SymbolicShape{n}},
       OpTest::constant(Tensor::scalar<std::int64_t>(1))});
  EXPECT_EQ(*inferred.type.shape, (SymbolicShape{n}));
}

TEST(Quantize, RoundTripStaysWithinHalfAStep) {
  const Tensor x = ramp({2, 4, 3});
  const Tensor scale = Tensor::from_vector(std::vector<float>{0.02f, 0.03f, 0.04f, 0.05f});
  const Tensor zero = Tensor::from_vector(std::vector<std::uint8_t>{120, 128, 130, 140});
  const Tensor q = OpTest("QuantizeLinear").run({x, scale, zero});
  const auto back = doubles(OpTest("DequantizeLinear").run({q, scale, zero}));
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], doubles(x)[i], 0.0251);
}

TEST(Quantize, BlocksWithARemainder) {
  OpTest op("QuantizeLinear");
  op.attribute("block_size", std::int64_t{2}).attribute("axis", std::int64_t{0});
  op.attribute("output_dtype", static_cast<std::int64_t>(DType::kInt4));
  const Tensor x = Tensor::from_vector(std::vector<float>{1, 2, 30, -40, 100});
  const Tensor scale = Tensor::from_vector(std::vector<float>{1, 10, 10});
  EXPECT_EQ(elements_as_int64(op.run({x, scale})), (Int64s{1, 2, 3, -4, 7}));
  EXPECT_FALSE(op.try_run({x, Tensor::from_vector(std::vector<float>{1, 10})}));
}

TEST(Dropout, TrainsOnlyWhenTold) {
  const Tensor x = ramp({4, 8});
  OpTest op("Dropout");
  op.outputs(2).attribute("seed", std::int64_t{5});
  EXPECT_EQ(doubles(op.run({x})), doubles(x));
  const auto out = op.try_run({x, Tensor::scalar(0.5f), Tensor::scalar(true)});
  ASSERT_TRUE(out);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double kept = element_as_double((*out)[1], i);
    EXPECT_NEAR(element_as_double((*out)[0], i), kept * 2 * element_as_double(x, i), 1e-6);
  }
}

TEST(IntegerMatmul, ZeroPointsPerRowAndColumn) {
  const Tensor a = Tensor::from_values<std::uint8_t>({2, 2}, {1, 2, 3, 4});
  const Tensor b = Tensor::from_values<std::uint8_t>({2, 1}, {5, 6});
  EXPECT_EQ(elements_as_int64(OpTest("MatMulInteger").run({a, b})), (Int64s{17, 39}));
  const Tensor rows = Tensor::from_vector(std::vector<std::uint8_t>{1, 3});
  EXPECT_EQ(elements_as_int64(OpTest("MatMulInteger").run({a, b, rows})), (Int64s{6, 6}));
  EXPECT_FALSE(
      OpTest("MatMulInteger").try_run({a, Tensor::from_values<std::uint8_t>({1, 2}, {1, 2})}));
}

}  // namespace
}  // namespace trivet::ops
