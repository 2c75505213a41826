#include "kernels/kernels_for_test.h"

namespace trivet::kernels {
namespace {

class GemmTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Tables, GemmTest, all_tables(), table_name);

/// All operands of one product, and its result by a plain loop in double precision.
struct Problem {
  std::int64_t m, n, k;
  std::int64_t a_stride, c_stride;
  GuardedFloats a, b, column_bias, residual, c;
  bool with_column_bias = false, with_residual = false;
  Epilogue epilogue;

  Problem(std::int64_t m_, std::int64_t n_, std::int64_t k_, std::int64_t pad)
      : m(m_),
        n(n_),
        k(k_),
        a_stride(k_ + pad),
        c_stride(n_ + pad),
        a((m - 1) * a_stride + k),
        b(k * n),
        column_bias(n),
        residual((m - 1) * c_stride + n),
        c((m - 1) * c_stride + n) {}

  [[nodiscard]] Epilogue full_epilogue() const {
    Epilogue e = epilogue;
    if (with_column_bias) e.column_bias = column_bias.data();
    if (with_residual) e.residual = residual.data();
    e.residual_stride = c_stride;
    return e;
  }
  [[nodiscard]] GemmArgs args(const GuardedFloats& packed, GuardedFloats& output) const {
    return {.m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .a_stride = a_stride,
            .b = packed.data(),
            .c = output.data(),
            .c_stride = c_stride,
            .epilogue = full_epilogue()};
  }
  /// The exact value, and a bound of the error of float sums.
  [[nodiscard]] std::pair<double, double> exact(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    double size = 1;
    for (std::int64_t l = 0; l < k; ++l) {
      const double product = static_cast<double>(a[i * a_stride + l]) * b[l * n + j];
      sum += product;
      size += std::abs(product);
    }
    sum *= epilogue.alpha;
    if (with_column_bias) sum += column_bias[j];
    if (with_residual) sum += residual[i * c_stride + j];
    return {exact_unary(epilogue.activation, sum), 1e-6 * size * (std::abs(epilogue.alpha) + 1)};
  }
  void expect_close(const GuardedFloats& output) const {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const auto [value, error] = exact(i, j);
        ASSERT_NEAR(output[i * c_stride + j], value, error)
            << "at " << i << ", " << j << " of " << m << "x" << n << "x" << k;
      }
    }
    ASSERT_TRUE(output.intact());
  }
};

constexpr Activation kActivations[] = {
    {Unary::kIdentity},  {Unary::kRelu}, {Unary::kClip, -0.5F, 1.0F},
    {Unary::kHardSwish}, {Unary::kGelu}, {Unary::kHardSigmoid, 0.2F, 0.5F},
    {Unary::kSigmoid},   {Unary::kSilu}, {Unary::kTanh}};

TEST_P(GemmTest, MatchesPlainLoop) {
  for (int round = 0; round < 150; ++round) {
    const std::int64_t k = integer(0, 4) == 0 ? integer(0, 2) : size_near(table().tile_k / 2);
    Problem p(size_near(table().tile_m), size_near(table().panel_n), k, integer(0, 3));
    p.with_column_bias = coin();
    p.with_residual = coin();
    p.epilogue.alpha = coin() ? 1.0F : -0.75F;
    p.epilogue.activation = kActivations[integer(0, std::size(kActivations) - 1)];
    for (GuardedFloats* x : {&p.a, &p.b, &p.column_bias, &p.residual}) randomize(*x);

    const std::int64_t panels = table().panel_count(p.n);
    GuardedFloats packed(table().packed_b_size(p.k, p.n));
    table().pack_b(p.b.data(), p.n, p.k, p.n, 0, panels, packed.data());
    table().gemm(p.args(packed, p.c), 0, p.m, 0, panels);
    ASSERT_NO_FATAL_FAILURE(p.expect_close(p.c));
    ASSERT_TRUE(packed.intact());

    // Split anywhere, single rows among it: the same bits.
    GuardedFloats split(p.c.size());
    const std::int64_t row = integer(0, p.m);
    const std::int64_t row_after = std::min(p.m, row + 1);
    const std::int64_t panel = integer(0, panels);
    for (const auto& [begin, end] : {std::pair{0L, row}, {row, row_after}, {row_after, p.m}}) {
      table().gemm(p.args(packed, split), begin, end, 0, panel);
      table().gemm(p.args(packed, split), begin, end, panel, panels);
    }
    ASSERT_TRUE(split.same_bits(p.c)) << p.m << "x" << p.n << "x" << p.k;
  }
}

TEST_P(GemmTest, OneRowMatchesPlainLoop) {
  for (int round = 0; round < 60; ++round) {
    Problem p(1, table().panel_n * integer(0, 9) + integer(1, table().panel_n),
              size_near(table().tile_k), 0);
    p.with_column_bias = coin();
    p.epilogue.activation = kActivations[integer(0, std::size(kActivations) - 1)];
    for (GuardedFloats* x : {&p.a, &p.b, &p.column_bias}) randomize(*x);
    const std::int64_t panels = table().panel_count(p.n);
    GuardedFloats packed(table().packed_b_size(p.k, p.n));
    table().pack_b(p.b.data(), p.n, p.k, p.n, 0, panels, packed.data());
    table().gemm(p.args(packed, p.c), 0, 1, 0, panels);
    ASSERT_NO_FATAL_FAILURE(p.expect_close(p.c));
  }
}

TEST_P(GemmTest, PacksTransposedAlike) {
  for (int round = 0; round < 40; ++round) {
    const std::int64_t k = size_near(8);
    const std::int64_t n = size_near(table().panel_n);
    GuardedFloats b(k * n);
    GuardedFloats transposed(k * n);
    randomize(b);
    for (std::int64_t l = 0; l < k; ++l) {
      for (std::int64_t j = 0; j < n; ++j) transposed[j * k + l] = b[l * n + j];
    }
    const std::int64_t panels = table().panel_count(n);
    GuardedFloats packed(table().packed_b_size(k, n));
    GuardedFloats packed_transposed(packed.size());
    table().pack_b(b.data(), n, k, n, 0, panels, packed.data());
    const std::int64_t middle = integer(0, panels);
    table().pack_b_transposed(transposed.data(), k, k, n, middle, panels, packed_transposed.data());
    table().pack_b_transposed(transposed.data(), k, k, n, 0, middle, packed_transposed.data());
    ASSERT_TRUE(packed.same_bits(packed_transposed));
  }
}

TEST_P(GemmTest, AddsToItsOwnOutput) {
  Problem p(table().tile_m + 1, table().panel_n + 3, 2 * table().tile_k + 5, 0);
  p.with_residual = true;
  for (GuardedFloats* x : {&p.a, &p.b, &p.residual}) randomize(*x);
  const std::int64_t panels = table().panel_count(p.n);
  GuardedFloats packed(table().packed_b_size(p.k, p.n));
  table().pack_b(p.b.data(), p.n, p.k, p.n, 0, panels, packed.data());
  GuardedFloats c(p.residual);
  GemmArgs args = p.args(packed, c);
  args.epilogue.residual = c.data();
  table().gemm(args, 0, p.m, 0, panels);
  p.expect_close(c);
}

TEST_P(GemmTest, KeepsNanThroughCuts) {
  Problem p(2, 3, 4, 0);
  randomize(p.a);
  randomize(p.b);
  p.a[1] = std::nanf("");
  p.epilogue.activation = {Unary::kClip, 0, 6};
  GuardedFloats packed(table().packed_b_size(p.k, p.n));
  table().pack_b(p.b.data(), p.n, p.k, p.n, 0, 1, packed.data());
  table().gemm(p.args(packed, p.c), 0, 2, 0, 1);
  for (int j = 0; j < 3; ++j) {
    EXPECT_TRUE(std::isnan(p.c[j]));
    EXPECT_FALSE(std::isnan(p.c[3 + j]));
  }
}

TEST_P(GemmTest, EmptyRangesWriteNothing) {
  Problem p(3, 5, 2, 0);
  const GuardedFloats before(p.c);
  GuardedFloats packed(table().packed_b_size(p.k, p.n));
  table().gemm(p.args(packed, p.c), 2, 2, 0, 1);
  table().gemm(p.args(packed, p.c), 0, 3, 1, 1);
  EXPECT_TRUE(p.c.same_bits(before));
}

}  // namespace
}  // namespace trivet::kernels
