// What the tests of the kernels share: the tables that run here, buffers that catch overruns,
// random sizes and values.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "kernels/kernels.h"

namespace trivet::kernels {

/// Runs each test once for every table that this processor can run.
class KernelTest : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  [[nodiscard]] const KernelTable& table() const { return *GetParam(); }

  /// A random integer in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return integer(0, 1) == 1; }

  /// A size near a multiple of `unit`, where tails begin and end, or 1.
  std::int64_t size_near(std::int64_t unit) {
    if (integer(0, 5) == 0) return 1;
    return std::max<std::int64_t>(1, unit * integer(0, 3) + integer(-2, 2));
  }

  /// Fills with numbers in [-1, 1].
  template <class Buffer>
  void randomize(Buffer& buffer, float low = -1, float high = 1) {
    std::uniform_real_distribution<float> distribution(low, high);
    for (float& v : buffer) v = distribution(random_);
  }

 private:
  std::mt19937 random_{20240607};
};

inline std::string table_name(const ::testing::TestParamInfo<const KernelTable*>& info) {
  return std::string(isa_name(info.param->isa));
}

/// Instantiates a fixture for all runnable tables.
inline auto all_tables() {
  const auto tables = runnable_tables();
  return ::testing::ValuesIn(tables.begin(), tables.end());
}

/// Floats that end where an unmapped page begins, so that reading or writing beyond them crashes;
/// what lies before them is checked by `intact`.
class GuardedFloats {
 public:
  explicit GuardedFloats(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = count_ * sizeof(float) + kGuard;
    mapped_ = (bytes + page - 1) / page * page + page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<unsigned char*>(memory);
    unsigned char* end = base_ + mapped_ - page;
    mprotect(end, page, PROT_NONE);
    data_ = reinterpret_cast<float*>(end) - count_;
    std::memset(base_, kPattern, static_cast<std::size_t>(end - base_));
  }
  GuardedFloats(const GuardedFloats& other) : GuardedFloats(other.size()) {
    std::copy(other.begin(), other.end(), begin());
  }
  GuardedFloats& operator=(const GuardedFloats&) = delete;
  ~GuardedFloats() { munmap(base_, mapped_); }

  [[nodiscard]] float* data() { return data_; }
  [[nodiscard]] const float* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(count_); }
  float* begin() { return data_; }
  float* end() { return data_ + count_; }
  [[nodiscard]] const float* begin() const { return data_; }
  [[nodiscard]] const float* end() const { return data_ + count_; }
  float& operator[](std::int64_t i) { return data_[i]; }
  float operator[](std::int64_t i) const { return data_[i]; }

  /// True when nothing was written in front of the first element.
  [[nodiscard]] bool intact() const {
    const auto* end = reinterpret_cast<const unsigned char*>(data_);
    for (const unsigned char* p = base_; p < end; ++p) {
      if (*p != kPattern) return false;
    }
    return true;
  }
  [[nodiscard]] bool same_bits(const GuardedFloats& other) const {
    return count_ == other.count_ && std::memcmp(data_, other.data_, count_ * sizeof(float)) == 0;
  }

 private:
  static constexpr unsigned char kPattern = 0xab;  // as floats, tiny negative numbers
  static constexpr std::size_t kGuard = 256;

  std::size_t count_;
  std::size_t mapped_ = 0;
  unsigned char* base_ = nullptr;
  float* data_ = nullptr;
};

/// The functions in double precision, straight from their definitions.
inline double exact_unary(const Activation& f, double x) {
  const double alpha = f.alpha;
  const double beta = f.beta;
  const auto cut = [](double v, double low, double high) {
    if (std::isnan(v)) return v;
    return std::min(std::max(v, low), high);
  };
  switch (f.function) {
    case Unary::kIdentity: return x;
    case Unary::kRelu: return std::isnan(x) ? x : std::max(x, 0.0);
    case Unary::kClip: return cut(x, alpha, beta);
    case Unary::kLeakyRelu: return x < 0 ? alpha * x : x;
    case Unary::kHardSigmoid: return cut(alpha * x + beta, 0, 1);
    case Unary::kHardSwish: return x * cut(x / 6 + 0.5, 0, 1);
    case Unary::kSigmoid: return 1 / (1 + std::exp(-x));
    case Unary::kTanh: return std::tanh(x);
    case Unary::kSilu: return x / (1 + std::exp(-x));
    case Unary::kGelu: return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case Unary::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Unary::kExp: return std::exp(x);
    case Unary::kErf: return std::erf(x);
    case Unary::kSqrt: return std::sqrt(x);
    case Unary::kNeg: return -x;
    case Unary::kAbs: return std::abs(x);
    case Unary::kReciprocal: return 1 / x;
  }
  return 0;
}

}  // namespace trivet::kernels
