#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/kernels_for_test.h"

namespace trivet::kernels {
namespace {

class ElementwiseTest : public KernelTest {
 protected:
  /// Numbers of every exponent and both signs, and all special ones.
  static std::vector<float> whole_range() {
    std::vector<float> out;
    for (std::uint32_t i = 0; i < 1U << 18; ++i) {
      out.push_back(std::bit_cast<float>(i * 16411U));  // a step that leaves no exponent out
    }
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kTiny = std::numeric_limits<float>::denorm_min();
    constexpr float kMax = std::numeric_limits<float>::max();
    for (const float v : {0.0F, -0.0F, kInf, -kInf, kTiny, -kTiny, kMax, -kMax, 1.0F, -1.0F}) {
      out.push_back(v);
    }
    // Where the results change most, and where branches meet.
    for (int i = -120000; i <= 120000; ++i) out.push_back(static_cast<float>(i) * 1e-3F);
    return out;
  }

  /// Checks f over the whole range; `tolerance(x, exact)` bounds the error. Expects NaN where the
  /// definition gives one, and the same infinities.
  template <class Tolerance>
  void expect_function(const Activation& f, Tolerance tolerance) {
    const std::vector<float> x = whole_range();
    std::vector<float> y(x.size());
    table().unary(f, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = exact_unary(f, x[i]);
      const auto rounded = static_cast<float>(exact);
      if (std::isnan(rounded)) {
        ASSERT_TRUE(std::isnan(y[i])) << "x = " << x[i];
      } else if (std::isinf(rounded) || std::isinf(y[i])) {
        // A result at the edge of the range may round to infinity or not.
        ASSERT_TRUE(y[i] == rounded ||
                    std::abs(exact) > 0.999999 * std::numeric_limits<float>::max())
            << "x = " << x[i] << ": " << y[i] << " instead of " << exact;
      } else {
        ASSERT_LE(std::abs(y[i] - exact), tolerance(x[i], exact))
            << "x = " << x[i] << ": " << y[i] << " instead of " << exact;
      }
    }
  }

  static constexpr double kLeastSigmoid = 1.7e-38;  // e^-87: it is 0 from there on
  static constexpr double kSmallest = 1.5e-45;      // one unit of a subnormal number
  static double relative(double, double exact) { return 1e-6 * std::abs(exact) + kSmallest; }
};
INSTANTIATE_TEST_SUITE_P(Tables, ElementwiseTest, all_tables(), table_name);

TEST_P(ElementwiseTest, ExpErfTanhSigmoid) {
  for (const Unary f : {Unary::kExp, Unary::kErf, Unary::kTanh}) {
    SCOPED_TRACE(static_cast<int>(f));
    expect_function({f}, relative);
  }
  expect_function({Unary::kSigmoid},
                  [](double, double exact) { return 1e-6 * std::abs(exact) + kLeastSigmoid; });
}

TEST_P(ElementwiseTest, ActivationsThatCombineThem) {
  // silu and gelu cancel nowhere but in 1 + erf; x³ overflows in the definition itself.
  expect_function({Unary::kSilu}, [](double x, double exact) {
    return 1e-6 * std::abs(exact) + std::clamp(std::abs(x), 1.0, 120.0) * kLeastSigmoid;
  });
  const auto bounded = [](double x, double) { return 1e-6 * std::max(std::abs(x), 1.0); };
  expect_function({Unary::kGelu}, [&](double x, double exact) {
    return std::min(bounded(x, exact), 1e-6 * std::abs(x) + kSmallest);
  });
}

TEST_P(ElementwiseTest, GeluTanh) {
  std::vector<float> x;
  for (int i = -20000; i <= 20000; ++i) x.push_back(static_cast<float>(i) * 1e-3F);
  std::vector<float> y(x.size());
  const Activation f{Unary::kGeluTanh};
  table().unary(f, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y[i], exact_unary(f, x[i]), 1e-6 * std::max(1.0F, std::abs(x[i])));
  }
}

TEST_P(ElementwiseTest, PlainFunctions) {
  const auto nearly = [](double, double exact) { return 2e-7 * std::abs(exact) + kSmallest; };
  for (const Activation& f :
       {Activation{Unary::kIdentity}, Activation{Unary::kRelu}, Activation{Unary::kClip, -3, 4},
        Activation{Unary::kClip, 2, 1}, Activation{Unary::kLeakyRelu, 0.01F},
        Activation{Unary::kSqrt}, Activation{Unary::kNeg}, Activation{Unary::kAbs},
        Activation{Unary::kReciprocal}}) {
    SCOPED_TRACE(static_cast<int>(f.function));
    expect_function(f, nearly);
  }
  const auto cancelling = [](double x, double exact) {
    return 2e-7 * std::abs(exact) + 2e-7 * std::clamp(std::abs(x), 1e-37, 3.0);
  };
  expect_function({Unary::kHardSwish}, cancelling);
  expect_function({Unary::kHardSigmoid, 0.2F, 0.5F}, [](double, double) { return 2e-7; });
}

TEST_P(ElementwiseTest, NanStaysNan) {
  std::vector<float> x(19, std::nanf(""));
  std::vector<float> y(x.size());
  for (int f = 0; f < kUnaryCount; ++f) {
    const Activation activation{static_cast<Unary>(f), 0, 1};
    table().unary(activation, x.data(), y.data(), 19);
    for (const float v : y) EXPECT_TRUE(std::isnan(v)) << f;
  }
}

TEST_P(ElementwiseTest, SplitAndPlaceDoNotMatter) {
  constexpr std::int64_t kCount = 77;
  GuardedFloats x(kCount);
  randomize(x, -5, 5);
  for (int f = 0; f < kUnaryCount; ++f) {
    const Activation activation{static_cast<Unary>(f), 0.2F, 0.5F};
    GuardedFloats whole(kCount);
    table().unary(activation, x.data(), whole.data(), kCount);
    for (std::int64_t middle = 0; middle <= kCount; ++middle) {
      GuardedFloats split(x);  // in place
      table().unary(activation, split.data(), split.data(), middle);
      table().unary(activation, split.data() + middle, split.data() + middle, kCount - middle);
      ASSERT_TRUE(split.same_bits(whole)) << f << " split at " << middle;
      ASSERT_TRUE(split.intact());
    }
  }
}

double exact_binary(Binary op, double a, double b) {
  switch (op) {
    case Binary::kAdd: return a + b;
    case Binary::kSub: return a - b;
    case Binary::kMul: return a * b;
    case Binary::kDiv: return a / b;
    case Binary::kMax: return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
    case Binary::kMin: return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  }
  return 0;
}

TEST_P(ElementwiseTest, BinaryIsExactlyRounded) {
  for (std::int64_t count = 0; count < 70; ++count) {
    GuardedFloats a(count);
    GuardedFloats b(count);
    randomize(a);
    randomize(b);
    if (count > 2) a[1] = b[2] = std::nanf("");
    for (int op = 0; op < kBinaryCount; ++op) {
      for (const Scalar scalar : {Scalar::kNone, Scalar::kLeft, Scalar::kRight}) {
        const auto kind = static_cast<Binary>(op);
        GuardedFloats one(1);
        one[0] = 0.375F;
        const float* left = scalar == Scalar::kLeft ? one.data() : a.data();
        const float* right = scalar == Scalar::kRight ? one.data() : b.data();
        GuardedFloats y(count);
        table().binary(kind, scalar, left, right, y.data(), count);
        for (std::int64_t i = 0; i < count; ++i) {
          const auto exact =
              static_cast<float>(exact_binary(kind, left[scalar == Scalar::kLeft ? 0 : i],
                                              right[scalar == Scalar::kRight ? 0 : i]));
          if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(y[i]));
          } else {
            ASSERT_EQ(y[i], exact) << "operation " << op << " at " << i;
          }
        }
        ASSERT_TRUE(y.intact());
      }
    }
  }
}

}  // namespace
}  // namespace trivet::kernels
