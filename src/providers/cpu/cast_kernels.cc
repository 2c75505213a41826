// Cast between float32 and the two 16-bit floats.
#include <algorithm>
#include <array>

#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

/// Below this many elements a cast stays on one thread.
constexpr std::int64_t kLeastElements = 1 << 14;

template <class From, class To>
void cast_range(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end) {
  const auto source = from.data<From>().subspan(static_cast<std::size_t>(begin),
                                                static_cast<std::size_t>(end - begin));
  std::ranges::transform(source, to.mutable_data<To>().begin() + begin,
                         [](From value) { return static_cast<To>(value); });
}

using CastRange = void (*)(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end);

CastRange cast_between(DType from, DType to) {
  if (from == DType::kFloat16 && to == DType::kFloat32) return cast_range<Float16, float>;
  if (from == DType::kBFloat16 && to == DType::kFloat32) return cast_range<BFloat16, float>;
  if (from == DType::kFloat32 && to == DType::kFloat16) return cast_range<float, Float16>;
  if (from == DType::kFloat32 && to == DType::kBFloat16) return cast_range<float, BFloat16>;
  return nullptr;
}

Result<std::optional<Kernel>> select_cast(const SelectContext& context) {
  const ValueType& from = context.inputs[0]->type;
  const ValueType& to = context.outputs[0]->type;
  const auto shape = to.shape ? constant_shape(*to.shape) : std::nullopt;
  const CastRange cast = cast_between(from.dtype, to.dtype);
  if (cast == nullptr || !shape || from.kind != ValueType::Kind::kTensor)
    return std::optional<Kernel>();
  Kernel kernel;
  kernel.name = "cast";
  kernel.run = [cast, size = element_count(*shape)](const KernelArgs& args) {
    split(args.threads, size, kLeastElements, [&](std::int64_t begin, std::int64_t end, int) {
      cast(*args.inputs[0], *args.outputs[0], begin, end);
    });
  };
  return std::optional(std::move(kernel));
}

constexpr std::array<SelectorEntry, 1> kEntries = {{{"Cast", select_cast}}};

}  // namespace

std::span<const SelectorEntry> cast_selectors() { return kEntries; }

}  // namespace trivet::cpu
