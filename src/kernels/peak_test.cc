// The loops that measure peaks do the work that they are credited with.
#include <numeric>

#include "kernels/kernels_for_test.h"

namespace trivet::kernels {
namespace {

class Peak : public KernelTest {
 protected:
  static constexpr std::int64_t kRounds = 7;

  /// Runs the loop on small whole numbers, which all types hold exactly, and expects that the lanes
  /// of each sum grew by rounds · Σ a·b together. `encode_a` and `encode_b` make elements of them.
  template <class A, class B, class Sum>
  void expect_products(const PeakLoop<A, B, Sum>& loop, A (*encode_a)(std::int64_t),
                       B (*encode_b)(std::int64_t)) {
    ASSERT_NE(loop.run, nullptr);
    const auto lanes = static_cast<std::size_t>(table().lanes);
    const std::size_t elements = lanes * (sizeof(Sum) / sizeof(A));
    std::vector<A> a;
    std::vector<B> b;
    std::int64_t products = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      const std::int64_t x = integer(0, 9);
      const std::int64_t y = integer(-9, 9);
      a.push_back(encode_a(x));
      b.push_back(encode_b(y));
      products += x * y;
    }
    std::vector<Sum> sums(static_cast<std::size_t>(loop.vectors) * lanes);
    std::iota(sums.begin(), sums.end(), Sum{1});
    const std::vector<Sum> before = sums;
    loop.run(kRounds, a.data(), b.data(), sums.data());
    for (std::size_t v = 0; v < sums.size(); v += lanes) {
      double grown = 0;
      for (std::size_t i = v; i < v + lanes; ++i) grown += static_cast<double>(sums[i] - before[i]);
      EXPECT_EQ(grown, static_cast<double>(kRounds * products)) << "sum " << v / lanes;
    }
    EXPECT_EQ(loop.operations(table().lanes),
              2.0 * static_cast<double>(elements) * static_cast<double>(loop.vectors));
  }
};

std::uint8_t to_u8(std::int64_t x) { return static_cast<std::uint8_t>(x); }
std::int8_t to_s8(std::int64_t x) { return static_cast<std::int8_t>(x); }
float to_float(std::int64_t x) { return static_cast<float>(x); }
/// The upper half of a float32; exact for small whole numbers.
std::uint16_t to_bf16(std::int64_t x) {
  const float f = to_float(x);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, sizeof(bits));
  return static_cast<std::uint16_t>(bits >> 16);
}

TEST_P(Peak, FmaMultipliesLaneByLane) {
  const auto& loop = table().peaks.fma;
  expect_products(loop, to_float, to_float);
  const auto lanes = static_cast<std::size_t>(table().lanes);
  std::vector<float> a(lanes), b(lanes), sums(static_cast<std::size_t>(loop.vectors) * lanes, 1);
  std::iota(a.begin(), a.end(), 0.0F);
  std::iota(b.begin(), b.end(), 3.0F);
  loop.run(kRounds, a.data(), b.data(), sums.data());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], 1 + kRounds * a[i % lanes] * b[i % lanes]) << i;
  }
}

TEST_P(Peak, Int8WithoutADotProductInstruction) {
  expect_products(table().peaks.int8, to_u8, to_s8);
}

TEST_P(Peak, Int8Dot) {
  if (!isa_has(table().isa, IsaExtension::kInt8Dot)) GTEST_SKIP() << "not on this processor";
  expect_products(table().peaks.int8_dot, to_u8, to_s8);
}

TEST_P(Peak, Bf16Dot) {
  if (!isa_has(table().isa, IsaExtension::kBf16Dot)) GTEST_SKIP() << "not on this processor";
  expect_products(table().peaks.bf16_dot, to_bf16, to_bf16);
}

TEST_P(Peak, ReadSumsEveryWord) {
  GuardedFloats data(kPeakBlockBytes / 4 * 3);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(data.size()));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(integer(0, 0xffffffff));
  std::memcpy(data.data(), words.data(), words.size() * 4);
  const auto sum = std::accumulate(words.begin(), words.end(), std::uint32_t{0});
  EXPECT_EQ(table().peaks.read(data.data(), data.size() * 4, 1), sum);
  EXPECT_EQ(table().peaks.read(data.data(), data.size() * 4, 5), sum * 5);
}

TEST_P(Peak, CopyCopies) {
  GuardedFloats from(kPeakBlockBytes / 4 * 3);
  GuardedFloats to(from.size());
  randomize(from);
  table().peaks.copy(from.data(), to.data(), from.size() * 4, 2);
  EXPECT_TRUE(to.same_bits(from));
  EXPECT_TRUE(to.intact());
}

INSTANTIATE_TEST_SUITE_P(Isa, Peak, all_tables(), table_name);

}  // namespace
}  // namespace trivet::kernels
