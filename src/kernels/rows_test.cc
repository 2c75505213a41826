// Softmax, layer normalisation, reductions and transposition against plain loops.
#include <limits>

#include "kernels/kernels_for_test.h"

namespace trivet::kernels {
namespace {

class RowsTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Tables, RowsTest, all_tables(), table_name);

constexpr float kInf = std::numeric_limits<float>::infinity();

/// ln Σ e^x of a row.
double log_sum_exp(const float* x, std::int64_t columns) {
  double largest = -INFINITY;
  for (std::int64_t i = 0; i < columns; ++i) largest = std::max<double>(largest, x[i]);
  double sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += std::exp(x[i] - largest);
  return largest + std::log(sum);
}

TEST_P(RowsTest, SoftmaxAndItsLogarithm) {
  for (std::int64_t columns = 1; columns < 150; ++columns) {
    const std::int64_t rows = integer(1, 3);
    GuardedFloats x(rows * columns);
    randomize(x, -20, 20);
    if (columns > 3) x[2] = -kInf;  // as attention masks have it
    GuardedFloats y(x.size());
    GuardedFloats log_y(x);
    table().softmax(x.data(), y.data(), rows, columns);
    table().log_softmax(log_y.data(), log_y.data(), rows, columns);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const double log_sum = log_sum_exp(x.data() + i / columns * columns, columns);
      ASSERT_NEAR(y[i], std::exp(x[i] - log_sum), 1e-6);
      if (x[i] == -kInf) {
        ASSERT_EQ(log_y[i], -kInf);
      } else {
        ASSERT_NEAR(log_y[i], x[i] - log_sum, 5e-6);
      }
    }
    ASSERT_TRUE(y.intact() && log_y.intact());
  }
}

TEST_P(RowsTest, SoftmaxOfLargeNumbersAndNan) {
  GuardedFloats x(5);
  for (std::int64_t i = 0; i < 5; ++i) x[i] = 1e30F;
  table().softmax(x.data(), x.data(), 1, 5);
  for (const float v : x) EXPECT_NEAR(v, 0.2F, 1e-6);
  x[3] = std::nanf("");
  table().softmax(x.data(), x.data(), 1, 5);
  for (const float v : x) EXPECT_TRUE(std::isnan(v));
}

TEST_P(RowsTest, LayerNorm) {
  for (std::int64_t columns = 1; columns < 150; ++columns) {
    const std::int64_t rows = integer(1, 3);
    GuardedFloats x(rows * columns);
    GuardedFloats scale(columns);
    GuardedFloats bias(columns);
    randomize(x, 3, 5);
    randomize(scale);
    randomize(bias);
    GuardedFloats y(x.size());
    GuardedFloats mean(rows);
    GuardedFloats inverse_std(rows);
    LayerNormArgs args{.columns = columns,
                       .epsilon = 1e-3F,
                       .x = x.data(),
                       .scale = coin() ? scale.data() : nullptr,
                       .bias = coin() ? bias.data() : nullptr,
                       .y = y.data(),
                       .mean = mean.data(),
                       .inverse_std = inverse_std.data()};
    table().layer_norm(args, 1, rows);
    table().layer_norm(args, 0, 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      double squares = 0;
      for (std::int64_t i = 0; i < columns; ++i) sum += x[r * columns + i];
      const double center = sum / static_cast<double>(columns);
      for (std::int64_t i = 0; i < columns; ++i)
        squares += std::pow(x[r * columns + i] - center, 2);
      const double factor = 1 / std::sqrt(squares / static_cast<double>(columns) + args.epsilon);
      ASSERT_NEAR(mean[r], center, 2e-6);
      ASSERT_NEAR(inverse_std[r], factor, 1e-5 * factor);
      for (std::int64_t i = 0; i < columns; ++i) {
        const double expected =
            (x[r * columns + i] - center) * factor * (args.scale != nullptr ? scale[i] : 1) +
            (args.bias != nullptr ? bias[i] : 0);
        ASSERT_NEAR(y[r * columns + i], expected, 5e-5);
      }
    }
    ASSERT_TRUE(y.intact() && mean.intact() && inverse_std.intact());
  }
}

double reduce_one(const ReduceArgs& args, std::int64_t element) {
  const float* x = args.x + element / args.inner * args.reduce * args.inner + element % args.inner;
  double sum = 0;
  double squares = 0;
  double largest = -INFINITY;
  double smallest = INFINITY;
  for (std::int64_t i = 0; i < args.reduce; ++i) {
    const double value = x[i * args.inner];
    sum += value;
    squares += value * value;
    largest = std::isnan(value) || std::isnan(largest) ? NAN : std::max(largest, value);
    smallest = std::isnan(value) || std::isnan(smallest) ? NAN : std::min(smallest, value);
  }
  switch (args.kind) {
    case Reduce::kSum: return sum;
    case Reduce::kMean: return sum / static_cast<double>(args.reduce);
    case Reduce::kMax: return largest;
    case Reduce::kMin: return smallest;
    case Reduce::kL2: return std::sqrt(squares);
  }
  return 0;
}

TEST_P(RowsTest, Reductions) {
  for (int round = 0; round < 400; ++round) {
    const std::int64_t outer = integer(1, 4);
    const std::int64_t inner = coin() ? 1 : size_near(table().lanes);
    const std::int64_t reduce = integer(0, 5) == 0 ? 0 : size_near(4 * table().lanes);
    GuardedFloats x(outer * reduce * inner);
    randomize(x);
    if (x.size() > 0 && integer(0, 4) == 0) x[integer(0, x.size() - 1)] = std::nanf("");
    GuardedFloats y(outer * inner);
    const ReduceArgs args{.kind = static_cast<Reduce>(integer(0, kReduceCount - 1)),
                          .reduce = reduce,
                          .inner = inner,
                          .x = x.data(),
                          .y = y.data()};
    const std::int64_t middle = integer(0, y.size());
    table().reduce(args, 0, middle);
    table().reduce(args, middle, y.size());
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const double expected = reduce_one(args, i);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(y[i]));
      } else if (std::isinf(expected)) {
        ASSERT_EQ(y[i], static_cast<float>(expected));
      } else {
        ASSERT_NEAR(y[i], expected, 1e-6 * static_cast<double>(reduce + 1));
      }
    }
    ASSERT_TRUE(y.intact());
  }
}

TEST_P(RowsTest, Transpose) {
  for (int round = 0; round < 100; ++round) {
    const std::int64_t rows = size_near(16);
    const std::int64_t columns = size_near(32);
    const std::int64_t x_stride = columns + integer(0, 2);
    const std::int64_t y_stride = rows + integer(0, 2);
    GuardedFloats x((rows - 1) * x_stride + columns);
    randomize(x);
    GuardedFloats y((columns - 1) * y_stride + rows);
    const GuardedFloats before(y);
    table().transpose(x.data(), x_stride, y.data(), y_stride, rows, columns);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t row = i % y_stride;
      const bool gap = row >= rows;
      const float expected = gap ? before[i] : x[row * x_stride + i / y_stride];
      ASSERT_EQ(y[i], expected);
    }
    ASSERT_TRUE(y.intact());
  }
}

}  // namespace
}  // namespace trivet::kernels
