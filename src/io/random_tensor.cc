#include "io/random_tensor.h"

#include <cmath>
#include <numbers>
#include <string>

#include "tensor/half.h"

namespace trivet {
namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014): every seed starts a good sequence.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In (0, 1].
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

  /// Box and Muller's transform; one of its two values is enough here.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

template <class T, class Draw>
void fill(Tensor& tensor, Draw draw) {
  for (T& value : tensor.mutable_data<T>()) value = static_cast<T>(draw());
}

}  // namespace

Result<Tensor> random_tensor(DType dtype, Shape shape, std::uint64_t seed) {
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype, std::move(shape)));
  Random random(seed);
  const auto normal = [&] { return static_cast<float>(random.normal()); };
  const auto small = [&] { return static_cast<int>(random.next() >> 62); };
  switch (dtype) {
    case DType::kFloat32: fill<float>(out, normal); return out;
    case DType::kFloat64: fill<double>(out, [&] { return random.normal(); }); return out;
    case DType::kFloat16: fill<Float16>(out, normal); return out;
    case DType::kBFloat16: fill<BFloat16>(out, normal); return out;
    case DType::kBool: fill<bool>(out, [&] { return random.next() >> 63 != 0; }); return out;
    case DType::kInt8: fill<std::int8_t>(out, small); return out;
    case DType::kInt16: fill<std::int16_t>(out, small); return out;
    case DType::kInt32: fill<std::int32_t>(out, small); return out;
    case DType::kInt64: fill<std::int64_t>(out, small); return out;
    case DType::kUInt8: fill<std::uint8_t>(out, small); return out;
    case DType::kUInt16: fill<std::uint16_t>(out, small); return out;
    case DType::kUInt32: fill<std::uint32_t>(out, small); return out;
    case DType::kUInt64: fill<std::uint64_t>(out, small); return out;
    case DType::kString:
      fill<std::string>(out, [&] { return std::to_string(small()); });
      return out;
    default:
      return unsupported("cannot make up values of type ", dtype_name(dtype),
                         "; give them with --input");
  }
}

}  // namespace trivet
